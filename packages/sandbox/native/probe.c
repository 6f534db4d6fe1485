/* Tries each thing in a child of its own, so that nothing stays. */
#include "kernel-interface.h"
#include "probe.h"

#include "confine.h"
#include "network.h"
#include "view.h"

#include <errno.h>
#include <linux/filter.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* The errno that a child left as its exit code, 0 where all went well. */
static int outcome_of(pid_t child) {
  int status;
  if (child < 0) return errno;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EFAULT;
}

static int try_namespaces(const struct launch *launch) {
  pid_t child = enter_namespaces();
  if (child == 0) {
    struct catchers catchers;
    struct roots roots;
    bool stands = keep_identity() == NULL && build_network(launch, &catchers) == NULL && build_view(launch, &roots) == NULL;
    _exit(stands ? 0 : errno);
  }
  return outcome_of(child);
}

static int try_notification(void) {
  pid_t child = fork();
  if (child == 0) {
    struct sock_filter allow = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
    struct sock_fprog program = {.len = 1, .filter = &allow};
    unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(errno);
    _exit(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) >= 0 ? 0 : errno);
  }
  return outcome_of(child);
}

void print_facts(const struct launch *launch) {
  static struct launch nothing;
  printf("{\"landlock\":%d,\"namespaces\":%d,\"notification\":%d,\"capture\":%d}\n", landlock_version(),
         try_namespaces(&nothing), try_notification(), launch->catch_port == 0 ? EINVAL : try_namespaces(launch));
}
