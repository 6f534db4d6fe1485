/*
 * A terminal of its own for a confined program: makes one, starts the launcher on it, and carries bytes, window size and
 * signals between it and the terminal of the person. The program never holds the person's terminal, so it can neither
 * type into it nor read from it later.
 *   terminal-relay LAUNCHER ARGUMENTS…     (streams 0 to 2 are the person's terminal; other descriptors pass to LAUNCHER)
 * Ends as the launcher ended. The person's terminal is put back as it was, whatever happens but SIGKILL.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { EXIT_FAILED = 125, BUFFER_BYTES = 1 << 14 };

static struct termios before;
static bool is_raw = false;

static void restore(void) {
  if (is_raw) (void)tcsetattr(0, TCSANOW, &before);
}

_Noreturn static void end(int code) {
  restore();
  _exit(code);
}

static void copy_size(int from, int to) {
  struct winsize size;
  if (ioctl(from, TIOCGWINSZ, &size) == 0) (void)ioctl(to, TIOCSWINSZ, &size);
}

static int open_pair(int *other) {
  int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  int unlocked = 0;
  if (master < 0 || ioctl(master, TIOCSPTLCK, &unlocked) != 0) return -1;
  *other = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  return *other < 0 ? -1 : master;
}

static void make_raw(int other) {
  if (tcgetattr(0, &before) != 0) return;
  /* The program's terminal starts as the person's was. */
  (void)tcsetattr(other, TCSANOW, &before);
  struct termios raw = before;
  cfmakeraw(&raw);
  is_raw = tcsetattr(0, TCSADRAIN, &raw) == 0;
}

/* Whole, or `false` where nobody reads any more. */
static bool write_all(int fd, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t step = write(fd, bytes, size);
    if (step < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (step <= 0) return false;
    bytes += step;
    size -= (size_t)step;
  }
  return true;
}

/* `false`: this way is over. */
static bool carry(int from, int to) {
  static char bytes[BUFFER_BYTES];
  ssize_t length = read(from, bytes, sizeof bytes);
  if (length < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  return length > 0 && write_all(to, bytes, (size_t)length);
}

/* Whatever the program wrote last. */
static void drain(int master) {
  struct pollfd last = {.fd = master, .events = POLLIN};
  while (poll(&last, 1, 0) > 0 && (last.revents & POLLIN) != 0)
    if (!carry(master, 1)) return;
}

_Noreturn static void end_as(int status, int master) {
  drain(master);
  restore();
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  sigset_t open;
  sigemptyset(&open);
  signal(WTERMSIG(status), SIG_DFL);
  sigprocmask(SIG_SETMASK, &open, NULL);
  raise(WTERMSIG(status));
  _exit(128 + WTERMSIG(status));
}

_Noreturn static void start(char **argv, int other, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent) _exit(EXIT_FAILED);
  for (int fd = 0; fd < 3; fd++)
    if (dup2(other, fd) < 0) _exit(EXIT_FAILED);
  /* WHY a group of its own: what is typed reaches the program through its own terminal only. */
  (void)setpgid(0, 0);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execv(argv[1], argv + 1);
  _exit(EXIT_FAILED);
}

static void hear_signal(int signals, pid_t launcher, int master) {
  struct signalfd_siginfo facts;
  if (read(signals, &facts, sizeof facts) != sizeof facts) return;
  if (facts.ssi_signo == SIGWINCH) {
    copy_size(0, master);
  } else if (facts.ssi_signo == SIGCHLD) {
    int status;
    if (waitpid(launcher, &status, WNOHANG) == launcher) end_as(status, master);
  } else {
    (void)kill(launcher, (int)facts.ssi_signo);
  }
}

int main(int argc, char **argv) {
  if (argc < 2) return EXIT_FAILED;
  int other = -1, master = open_pair(&other);
  if (master < 0) return EXIT_FAILED;
  copy_size(0, master);
  sigset_t heard;
  sigemptyset(&heard);
  static const int HEARD[] = {SIGCHLD, SIGWINCH, SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2};
  for (size_t index = 0; index < sizeof HEARD / sizeof HEARD[0]; index++) sigaddset(&heard, HEARD[index]);
  sigprocmask(SIG_SETMASK, &heard, NULL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTTOU, SIG_IGN);
  int signals = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) return EXIT_FAILED;
  make_raw(other);
  pid_t own = getpid(), launcher = fork();
  if (launcher < 0) end(EXIT_FAILED);
  if (launcher == 0) start(argv, other, own);
  close(other);
  /* WHY: the launcher's channels are its own; held here they would never be seen to end. */
  for (int fd = 3; fd < 64; fd++)
    if (fd != master && fd != signals) close(fd);
  struct pollfd polled[3] = {{.fd = 0, .events = POLLIN}, {.fd = master, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
  for (;;) {
    if (poll(polled, 3, -1) < 0 && errno != EINTR) end(EXIT_FAILED);
    if (polled[0].revents != 0 && !carry(0, master)) {
      /* WHY at once: a program that waits for a person hears no hang-up, and nobody can see it any more. */
      (void)kill(launcher, SIGKILL);
      polled[0].fd = -1;
    }
    if (polled[1].revents != 0 && !carry(master, 1)) polled[1].fd = -1;
    if (polled[2].revents != 0) hear_signal(signals, launcher, master);
  }
}
