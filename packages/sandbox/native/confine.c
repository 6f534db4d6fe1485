/* Applies the confinement to the calling process. Fails closed: whoever calls must end where a step does. */
#include "kernel-interface.h"
#include "confine.h"

/* WHY not by bounds: each capability would take a call of its own. */
int lock_privileges(void) {
  int never = SECBIT_NOROOT | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_CAP_AMBIENT_RAISE;
  return prctl(PR_SET_SECUREBITS, never | never << 1 | SECBIT_KEEP_CAPS_LOCKED, 0, 0, 0);
}

int drop_privileges(void) {
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) return -1;
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  struct __user_cap_data_struct none[2] = {{0}, {0}};
  if (syscall(SYS_capset, &header, none) != 0) return -1;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int apply_limits(const struct launch *launch) {
  for (const struct limit *limit = launch->limits; limit < launch->limits + launch->limit_count; limit++) {
    struct rlimit now;
    if (getrlimit((int)limit->resource, &now) != 0) return -1;
    /* A limit is only ever lowered. */
    if (limit->value < now.rlim_max) now.rlim_max = limit->value;
    now.rlim_cur = now.rlim_max;
    if (setrlimit((int)limit->resource, &now) != 0) return -1;
  }
  return 0;
}

int landlock_version(void) {
  long version = syscall(NUMBER_LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION_FLAG);
  return version < 0 ? 0 : (int)version;
}

static int add_path_right(int ruleset, const struct path_right *right) {
  int fd = open(right->path, O_PATH | O_CLOEXEC);
  /* WHY: what is not there cannot be given; the trap asks when it appears. */
  if (fd < 0) return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -1;
  struct landlock_path_words words = {.rights = right->rights, .parent_fd = fd};
  int result = (int)syscall(NUMBER_LANDLOCK_ADD_RULE, ruleset, LANDLOCK_PATH_BENEATH, &words, 0);
  /* Of what is for folders only, a file gets nothing. */
  words.rights &= LANDLOCK_FILE_RIGHTS;
  if (result != 0 && errno == EINVAL)
    result = words.rights == 0 ? 0 : (int)syscall(NUMBER_LANDLOCK_ADD_RULE, ruleset, LANDLOCK_PATH_BENEATH, &words, 0);
  close(fd);
  return result;
}

int make_ruleset(const struct launch *launch) {
  struct landlock_ruleset_words words = {.handled_fs = launch->handled_rights, .scoped = launch->scopes};
  int ruleset = (int)syscall(NUMBER_LANDLOCK_CREATE_RULESET, &words, sizeof words, 0);
  for (size_t index = 0; index < launch->right_count && ruleset >= 0; index++)
    if (add_path_right(ruleset, &launch->rights[index]) != 0) return -1;
  return ruleset;
}

int apply_landlock(int ruleset) { return (int)syscall(NUMBER_LANDLOCK_RESTRICT_SELF, ruleset, 0); }

int apply_filter(const struct launch *launch) {
  struct sock_fprog program = {.len = (unsigned short)launch->filter_count, .filter = (void *)launch->filter};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, FILTER_FLAGS, &program);
}
