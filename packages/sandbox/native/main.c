/*
 * The launcher: reads its description, makes the sandbox, and stays outside of it as its supervisor.
 *   launcher --probe DESCRIPTION_FD             (tries the machine out, and the network that is described)
 *   launcher CHANNEL_FD DESCRIPTION_FD KEPT     (KEPT: how many descriptors, from 0, the program keeps)
 * Ends as the program ended; 125 where the sandbox itself failed. Without its broker it ends, and all with it.
 */
#include "kernel-interface.h"
#include "broker-channel.h"
#include "confine.h"
#include "first-process.h"
#include "probe.h"
#include "supervisor.h"
#include "view.h"

enum { EXIT_FAILED = 125, IDLE_MS = 1000 };

/* Those that the program is told too. */
static const uint64_t FORWARDED = SIGNAL_BIT(SIGHUP) | SIGNAL_BIT(SIGINT) | SIGNAL_BIT(SIGQUIT) | SIGNAL_BIT(SIGTERM) |
                                  SIGNAL_BIT(SIGUSR1) | SIGNAL_BIT(SIGUSR2) | SIGNAL_BIT(SIGCONT) | SIGNAL_BIT(SIGTSTP) |
                                  SIGNAL_BIT(SIGWINCH) | SIGNAL_BIT(SIGALRM);

static struct launch launch;
static pid_t first;

/* INVARIANT: every way out of this process leads through here, but for a broker that is gone. */
static void leave_nothing(void) {
  if (first > 0) kill(first, SIGKILL);
  /* WHY waited for: nobody else would where the broker is the first process of a container. */
  if (first > 0) waitpid(first, NULL, 0);
  be_heard();
}

_Noreturn static void end(int code) {
  leave_nothing();
  _exit(code);
}

_Noreturn static void fail(const char *step, int error) {
  tell_failed(step, error);
  end(EXIT_FAILED);
}

static void read_description(int fd) {
  static uint8_t bytes[DESCRIPTION_BYTES_MAX];
  size_t size = 0;
  for (ssize_t step; size < sizeof bytes && (step = read(fd, bytes + size, sizeof bytes - size)) != 0;) {
    if (step < 0 && errno == EINTR) continue;
    if (step < 0) fail("description", errno);
    size += (size_t)step;
  }
  close(fd);
  if (!parse_launch(bytes, size, &launch)) fail("description", EINVAL);
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Ends as the program did. */
_Noreturn static void end_as(int status) {
  if (!WIFSIGNALED(status)) end(WEXITSTATUS(status));
  leave_nothing();
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  set_disposition(WTERMSIG(status), SIG_DFL);
  set_blocked(0);
  kill(getpid(), WTERMSIG(status));
  _exit(128 + WTERMSIG(status));
}

/* A signal from the terminal has reached the program by itself. */
static void forward_signal(int signals, int control) {
  struct signalfd_siginfo facts;
  if (read(signals, &facts, sizeof facts) != sizeof facts || facts.ssi_code == SI_KERNEL) return;
  (void)send_notice(control, (struct notice){.word = WORD_SIGNAL, .number = (int32_t)facts.ssi_signo}, -1);
}

_Noreturn static void hear_first_process(int control) {
  struct notice notice;
  if (receive_notice(control, &notice, NULL) <= 0) end(EXIT_FAILED);
  if (notice.word == WORD_END) end_as(notice.number);
  fail(notice.step, notice.number);
}

/* What pid 1 has to say until its view stands: sockets for the gateway, then the roots of the view. */
static struct roots take_roots(const struct ways *outside) {
  struct roots roots = {-1, -1};
  while (roots.view < 0) {
    struct notice notice;
    int fd = -1;
    int length = receive_notice(outside->control, &notice, &fd);
    /* It ends without a word where the process of the program has ended, which has said why. */
    if (length <= 0) length = receive_notice(outside->handover, &notice, &fd);
    if (length <= 0 || notice.word == WORD_LISTENER) fail("first_process", EPIPE);
    if (notice.word == WORD_FAILED || fd < 0) fail(notice.step, notice.number);
    if (notice.word == WORD_VIEW) roots.view = fd;
    else if (notice.word == WORD_STRAIGHT) roots.straight = fd;
    else tell_caught(notice.word, fd), close(fd);
  }
  return roots;
}

/* The program is confined, and its exec waits for us. Where it never came so far, pid 1 says why. */
static int take_listener(const struct ways *outside) {
  struct notice notice;
  int listener = -1, length = receive_notice(outside->handover, &notice, &listener);
  if (length <= 0) hear_first_process(outside->control);
  if (notice.word != WORD_LISTENER || listener < 0) fail(notice.step, notice.number);
  return listener;
}

static void hear_program(struct pollfd *polled) {
  struct notice notice;
  if (receive_notice(polled->fd, &notice, NULL) > 0) fail(notice.step, notice.number);
  close(polled->fd);
  polled->fd = -1;
  tell_started(first);
}

/* INVARIANT: it is the launcher's turn except while it waits. */
_Noreturn static void attend(const struct ways *outside, int listener, int channel, int signals) {
  enum { CONTROL, HANDOVER, LISTENER, CHANNEL, SIGNALS, COUNT };
  struct pollfd polled[COUNT] = {{.fd = outside->control}, {.fd = outside->handover}, {.fd = listener}, {.fd = channel}, {.fd = signals}};
  for (int index = 0; index < COUNT; index++) polled[index].events = POLLIN;
  int64_t end_ms = now_ms() + launch.wall_ms;
  for (;;) {
    int64_t left = launch.wall_ms == 0 ? IDLE_MS : end_ms - now_ms();
    if (left <= 0) fail("wall_clock", ETIMEDOUT);
    if (left > IDLE_MS) left = IDLE_MS;
    end_turn();
    struct timespec pause = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
    int found = ppoll(polled, COUNT, &pause, NULL), error = errno;
    take_turn();
    if (found < 0 && error == EINTR) continue;
    if (found < 0) fail("poll", error);
    if (polled[CHANNEL].revents != 0 && !hear_broker(take_answer)) end(EXIT_FAILED);
    bool is_called = (polled[LISTENER].revents & POLLIN) != 0;
    if (is_called ? !serve_notice() : polled[LISTENER].revents != 0) polled[LISTENER].fd = -1;
    if (polled[HANDOVER].revents != 0) hear_program(&polled[HANDOVER]);
    if (polled[SIGNALS].revents != 0) forward_signal(signals, outside->control);
    if (polled[CONTROL].revents != 0) hear_first_process(outside->control);
    check_waiting();
  }
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--probe") == 0) {
    read_description((int)read_decimal(argv[2], strlen(argv[2])));
    return print_facts(&launch) ? 0 : EXIT_FAILED;
  }
  if (argc != 4) return EXIT_FAILED;
  int channel = (int)read_decimal(argv[1], strlen(argv[1])), kept = (int)read_decimal(argv[3], strlen(argv[3]));
  open_channel(channel);
  if (kept < 3 || kept > channel) fail("descriptors", EINVAL);
  fcntl(channel, F_SETFD, FD_CLOEXEC);
  read_description((int)read_decimal(argv[2], strlen(argv[2])));
  int control[2], handover[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0) fail("channels", errno);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, handover) != 0) fail("channels", errno);
  struct ways outside = {.control = control[0], .handover = handover[0]};
  struct ways inside = {.control = control[1], .handover = handover[1], .kept = kept};
  set_disposition(SIGPIPE, SIG_IGN);
  set_blocked(FORWARDED);
  int signals = open_signals(FORWARDED);
  if (signals < 0) fail("signals", errno);
  first = enter_namespaces();
  if (first < 0) fail("namespaces", errno);
  if (first == 0) {
    close(outside.control);
    close(outside.handover);
    close(channel);
    run_first_process(&launch, &inside);
  }
  close(inside.control);
  close(inside.handover);
  umask(077);
  /* WHY first of all: while pid 1 begins, this processor is for what it starts. */
  struct roots roots = take_roots(&outside);
  if (drop_privileges() != 0) fail("privileges", errno);
  /* WHY: the launcher must not keep the program's streams open when the program has closed them. */
  for (int fd = 0; fd < kept; fd++) close(fd);
  int listener = take_listener(&outside);
  open_supervisor(&launch, listener, roots);
  take_turn();
  attend(&outside, listener, channel, signals);
}
