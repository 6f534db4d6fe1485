/* Tries each thing in a child of its own, so that nothing stays. */
#include "kernel-interface.h"
#include "probe.h"
#include "confine.h"
#include "network.h"
#include "path-text.h"
#include "view.h"

/* The errno that a child left as its exit code, 0 where all went well. */
static int outcome_of(pid_t child) {
  int status;
  if (child < 0 || waitpid(child, &status, 0) < 0) return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EFAULT;
}

static int try_namespaces(const struct launch *launch) {
  pid_t child = enter_namespaces();
  if (child == 0) {
    int catchers[CATCHERS];
    struct roots roots;
    bool stands = keep_identity() == NULL && unshare(CLONE_NEWNET) == 0 && build_network(launch, catchers) == NULL && build_view(launch, &roots) == NULL;
    _exit(stands ? 0 : errno);
  }
  return outcome_of(child);
}

static int try_notification(void) {
  pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (child == 0) {
    struct sock_filter allow = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
    struct sock_fprog program = {.len = 1, .filter = &allow};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(errno);
    _exit(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, FILTER_FLAGS, &program) >= 0 ? 0 : errno);
  }
  return outcome_of(child);
}

bool print_facts(const struct launch *launch) {
  static struct launch nothing;
  char line[128];
  size_t length = append_text(line, 0, sizeof line, "{\"landlock\":%d,\"namespaces\":%d,\"notification\":%d,\"capture\":%d}\n",
                              landlock_version(), try_namespaces(&nothing), try_notification(),
                              launch->catch_port == 0 ? EINVAL : try_namespaces(launch));
  return write(1, line, length) == (ssize_t)length;
}
