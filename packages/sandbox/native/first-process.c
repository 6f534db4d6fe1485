/* Runs inside all namespaces; nothing foreign runs in this process. */
#include "kernel-interface.h"
#include "first-process.h"

#include "confine.h"
#include "network.h"
#include "view.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { EXIT_FAILED = 125 };

union one_descriptor {
  char room[CMSG_SPACE(sizeof(int))];
  struct cmsghdr align;
};

int send_with(int way, const void *sent, size_t size, int fd) {
  struct iovec bytes = {.iov_base = (void *)sent, .iov_len = size};
  union one_descriptor control = {0};
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
  if (fd >= 0) {
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  return sendmsg(way, &message, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -1;
}

int send_notice(int way, struct notice notice, int fd) { return send_with(way, &notice, sizeof notice, fd); }

int receive_notice(int way, struct notice *notice, int *fd) {
  struct iovec bytes = {.iov_base = notice, .iov_len = sizeof *notice};
  union one_descriptor control = {0};
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
  if (fd != NULL) {
    *fd = -1;
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
  }
  ssize_t length;
  do length = recvmsg(way, &message, MSG_CMSG_CLOEXEC);
  while (length < 0 && errno == EINTR);
  struct cmsghdr *header = fd == NULL || length <= 0 ? NULL : CMSG_FIRSTHDR(&message);
  if (header != NULL && header->cmsg_type == SCM_RIGHTS) memcpy(fd, CMSG_DATA(header), sizeof *fd);
  return (int)length;
}

_Noreturn static void fail(int way, const char *step) {
  struct notice notice = {.word = WORD_FAILED, .number = errno};
  strncpy(notice.step, step, sizeof notice.step - 1);
  (void)send_notice(way, notice, -1);
  _exit(EXIT_FAILED);
}

/* INVARIANT: inside nobody keeps a socket that catches. */
static void hand_over(int control, enum word word, int fd) {
  if (fd < 0) return;
  if (send_notice(control, (struct notice){.word = word}, fd) != 0) _exit(EXIT_FAILED);
  close(fd);
}

/* INVARIANT: the exec is the last line, and every line before it must have worked. Where trapped, it waits there. */
_Noreturn static void run_program(const struct launch *launch, const struct ways *ways, int ruleset) {
  int way = ways->handover;
  sigset_t none;
  sigemptyset(&none);
  for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
  if (launch->owns_terminal && (setsid() < 0 || ioctl(0, TIOCSCTTY, 0) != 0)) fail(way, "terminal");
  if (chdir(launch->cwd) != 0) fail(way, "cwd");
  if (syscall(NUMBER_CLOSE_RANGE, ways->kept, ~0u, 4u /* close on exec */) != 0) fail(way, "descriptors");
  if (apply_limits(launch) != 0) fail(way, "limits");
  if (apply_landlock(ruleset) != 0) fail(way, "landlock");
  int listener = apply_filter(launch);
  if (listener < 0) fail(way, "seccomp");
  if (send_notice(way, (struct notice){.word = WORD_LISTENER}, listener) != 0) fail(way, "listener");
  close(listener);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execve(launch->program, (char *const *)launch->arguments, (char *const *)launch->variables);
  fail(way, "exec");
}

/* Reaps whoever ended. The status of the program, or -1 while it runs. */
static int reap(pid_t program) {
  int status;
  for (pid_t gone; (gone = waitpid(-1, &status, WNOHANG)) > 0;)
    if (gone == program) return status;
  return -1;
}

_Noreturn static void attend(pid_t program, int control, int signals) {
  struct pollfd polled[2] = {{.fd = control, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
  for (;;) {
    if (poll(polled, 2, -1) < 0 && errno != EINTR) _exit(EXIT_FAILED);
    if (polled[0].revents != 0) {
      struct notice notice;
      if (receive_notice(control, &notice, NULL) <= 0) _exit(EXIT_FAILED);
      if (notice.word == WORD_SIGNAL && notice.number > 0) kill(program, notice.number);
    }
    if (polled[1].revents != 0) {
      struct signalfd_siginfo facts;
      if (read(signals, &facts, sizeof facts) < 0 && errno != EINTR) _exit(EXIT_FAILED);
    }
    int status = reap(program);
    if (status < 0) continue;
    /* INVARIANT: when the launcher ends, nothing of the program runs any more. */
    kill(-1, SIGKILL);
    (void)send_notice(control, (struct notice){.word = WORD_END, .number = status}, -1);
    _exit(0);
  }
}

struct surroundings {
  const struct launch *launch;
  struct roots roots;
  int ruleset, error;
  const char *step;
};

static void *build_surroundings(void *built) {
  struct surroundings *around = built;
  around->step = keep_identity();
  if (around->step == NULL) around->step = build_view(around->launch, &around->roots);
  if (around->step == NULL && (around->ruleset = make_ruleset(around->launch)) < 0) around->step = "landlock";
  around->error = errno;
  return NULL;
}

_Noreturn void run_first_process(const struct launch *launch, const struct ways *ways) {
  int control = ways->control;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) fail(control, "parent");
  struct surroundings around = {.launch = launch};
  struct catchers catchers;
  pthread_t builder;
  /* WHY a thread: the kernel takes as long for a network as for all the rest. It has ended before anything foreign begins. */
  if ((errno = pthread_create(&builder, NULL, build_surroundings, &around)) != 0) fail(control, "threads");
  const char *step = build_network(launch, &catchers);
  if (step != NULL) fail(control, step);
  if ((errno = pthread_join(builder, NULL)) != 0) fail(control, "threads");
  errno = around.error;
  if (around.step != NULL) fail(control, around.step);
  hand_over(control, WORD_STREAMS, catchers.streams);
  hand_over(control, WORD_NAMES, catchers.names);
  hand_over(control, WORD_DATAGRAMS, catchers.datagrams);
  /* INVARIANT: were the launcher gone before it could take this process with it, this would not be taken. */
  if (send_notice(control, (struct notice){.word = WORD_STRAIGHT}, around.roots.straight) != 0) _exit(EXIT_FAILED);
  if (send_notice(control, (struct notice){.word = WORD_VIEW}, around.roots.view) != 0) _exit(EXIT_FAILED);
  sigset_t all, child;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  if (drop_privileges() != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) fail(control, "privileges");
  /* WHY vfork: nothing is copied. This process goes on when the program has taken its own memory. */
  pid_t program = vfork();
  if (program < 0) fail(control, "fork");
  if (program == 0) run_program(launch, ways, around.ruleset);
  close(ways->handover);
  for (int fd = 0; fd < ways->kept; fd++) close(fd);
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  int signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) fail(control, "signals");
  attend(program, control, signals);
}
