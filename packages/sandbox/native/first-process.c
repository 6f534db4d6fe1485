/* Runs inside all namespaces; nothing foreign runs in this process. */
#include "kernel-interface.h"
#include "first-process.h"
#include "confine.h"
#include "network.h"
#include "path-text.h"
#include "threads.h"
#include "view.h"

enum { EXIT_FAILED = 125 };

union one_descriptor { char room[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; };

int send_with(int way, const void *sent, size_t size, int fd) {
  struct iovec bytes = {.iov_base = (void *)sent, .iov_len = size};
  union one_descriptor control = {0};
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = fd < 0 ? 0 : sizeof control};
  control.align = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(&control.align), &fd, sizeof fd);
  return sendmsg(way, &message, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -1;
}

int send_notice(int way, struct notice notice, int fd) { return send_with(way, &notice, sizeof notice, fd); }

int receive_notice(int way, struct notice *notice, int *fd) {
  struct iovec bytes = {.iov_base = notice, .iov_len = sizeof *notice};
  union one_descriptor control = {0};
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = fd == NULL ? 0 : sizeof control};
  ssize_t length;
  if (fd != NULL) *fd = -1;
  do length = recvmsg(way, &message, MSG_CMSG_CLOEXEC);
  while (length < 0 && errno == EINTR);
  struct cmsghdr *header = fd == NULL || length <= 0 ? NULL : CMSG_FIRSTHDR(&message);
  if (header != NULL && header->cmsg_type == SCM_RIGHTS) memcpy(fd, CMSG_DATA(header), sizeof *fd);
  return (int)length;
}

_Noreturn static void fail(int way, const char *step) {
  struct notice notice = {.word = WORD_FAILED, .number = errno};
  append_text(notice.step, 0, sizeof notice.step, "%s", step);
  (void)send_notice(way, notice, -1);
  _exit(EXIT_FAILED);
}

/* INVARIANT: inside nobody keeps a socket that catches, nor a root: it is closed below, and by the exec. A launcher that is gone takes none. */
static void hand_over(int control, enum word word, int fd) {
  if (fd >= 0 && send_notice(control, (struct notice){.word = word}, fd) != 0) _exit(EXIT_FAILED);
}

/* What pid 1 and the process of the program share until the exec. */
struct beginning {
  const struct launch *launch;
  const struct ways *ways;
  int ruleset, view;
  /* Words that one of them waits for: the view is there; and pid 1 is in the network, without privileges. */
  int stands, is_joined;
  struct thread thread;
};

enum { RUNS = 1, NETWORK_STANDS = 2 };

static void say(int *word, int value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  wake_one(word);
}

static int hear(int *word, int before) {
  int value;
  while ((value = __atomic_load_n(word, __ATOMIC_ACQUIRE)) == before) wait_while(word, before);
  return value;
}

/* INVARIANT: the exec is the last line, and every line before it must have worked. Where trapped, it waits there. */
static void run_program(void *shared) {
  struct beginning *beginning = shared;
  const struct launch *launch = beginning->launch;
  int way = beginning->ways->handover, control = beginning->ways->control;
  if (unshare(CLONE_NEWNET) != 0) fail(control, "namespaces");
  say(&beginning->thread.runs, NETWORK_STANDS);
  for (int number = 1; number < 32; number++) set_disposition(number, SIG_DFL);
  if (launch->owns_terminal && (setsid() < 0 || ioctl(0, TIOCSCTTY, 0) != 0)) fail(way, "terminal");
  hear(&beginning->stands, false);
  if (enter_view(beginning->view) != 0) fail(way, "view");
  if (drop_privileges() != 0) fail(way, "privileges");
  if (chdir(launch->cwd) != 0) fail(way, "cwd");
  if (apply_limits(launch) != 0) fail(way, "limits");
  if (apply_landlock(beginning->ruleset) != 0) fail(way, "landlock");
  int listener = apply_filter(launch);
  if (listener < 0) fail(way, "seccomp");
  if (send_notice(way, (struct notice){.word = WORD_LISTENER}, listener) != 0) fail(way, "listener");
  close(listener);
  hear(&beginning->is_joined, false);
  if (syscall(NUMBER_CLOSE_RANGE, beginning->ways->kept, ~0u, CLOSE_ON_EXEC) != 0) fail(way, "descriptors");
  set_blocked(0);
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
    if (ppoll(polled, 2, NULL, NULL) < 0 && errno != EINTR) _exit(EXIT_FAILED);
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

/* What the program will see, and what Landlock will hold it to. */
static void build_beginning(struct beginning *beginning, struct roots *roots) {
  int control = beginning->ways->control;
  const char *step = keep_identity();
  if (step == NULL) step = build_view(beginning->launch, roots);
  if (step != NULL) fail(control, step);
  beginning->view = roots->view;
  beginning->ruleset = make_ruleset(beginning->launch);
  if (beginning->ruleset < 0) fail(control, "landlock");
  say(&beginning->stands, true);
}

_Noreturn void run_first_process(const struct launch *launch, const struct ways *ways) {
  static const enum word WORDS[CATCHERS] = {[CATCH_STREAMS] = WORD_STREAMS, [CATCH_NAMES] = WORD_NAMES, [CATCH_DATAGRAMS] = WORD_DATAGRAMS};
  static struct beginning beginning;
  int catchers[CATCHERS];
  int control = ways->control;
  struct roots roots;
  beginning.launch = launch;
  beginning.ways = ways;
  set_blocked(~0ull);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || lock_privileges() != 0) fail(control, "privileges");
  /* WHY already: the kernel takes as long for its network as for all the rest. WHY within: nothing is copied. */
  pid_t program = start_within(&beginning.thread, SIGCHLD, run_program, &beginning);
  if (program < 0) fail(control, "fork");
  build_beginning(&beginning, &roots);
  int process = (int)syscall(NUMBER_PIDFD_OPEN, program, 0);
  int error = hear(&beginning.thread.runs, RUNS) != NETWORK_STANDS ? ESRCH : setns(process, CLONE_NEWNET) != 0 ? errno : 0;
  /* The process of the program says itself why it ended. */
  if (error == ESRCH) _exit(EXIT_FAILED);
  if (error != 0) fail(control, "network");
  const char *step = build_network(launch, catchers);
  if (step != NULL) fail(control, step);
  if (drop_privileges() != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) fail(control, "privileges");
  for (int index = 0; index < CATCHERS; index++) hand_over(control, WORDS[index], catchers[index]);
  hand_over(control, WORD_STRAIGHT, roots.straight);
  hand_over(control, WORD_VIEW, roots.view);
  /* INVARIANT: nothing but the way to the launcher stays open here. The process of the program keeps what was its own. */
  int is_closed = syscall(NUMBER_CLOSE_RANGE, control + 1, ~0u, CLOSE_IN_COPY) == 0 && syscall(NUMBER_CLOSE_RANGE, 0, control - 1, 0) == 0;
  if (!is_closed) fail(control, "descriptors");
  say(&beginning.is_joined, true);
  int signals = open_signals(SIGNAL_BIT(SIGCHLD));
  if (signals < 0) fail(control, "signals");
  attend(program, control, signals);
}
