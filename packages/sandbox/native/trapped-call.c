/* Decodes a notification. Nothing the program says is used as a size before it was compared with ours. */
#include "kernel-interface.h"
#include "trapped-call.h"

enum { NONE = -1, STEP_BYTES = 512 };

/* Where the arguments of each call stand. `follow`: 1 follows the last link, 0 does not, 2 and 3 as the flags say. */
struct call_shape {
  int number;
  enum call_kind kind;
  const char *name;
  int8_t folder, path, folder2, path2, flags, mode, follow;
  int fixed_flags;
};

enum { FOLLOW_NEVER, FOLLOW_ALWAYS, FOLLOW_UNLESS_FLAG, FOLLOW_IF_FLAG };

static const struct call_shape SHAPES[] = {
    {__NR_openat, CALL_OPEN, "openat", 0, 1, NONE, NONE, 2, 3, FOLLOW_ALWAYS, 0},
    {__NR_unlinkat, CALL_UNLINK, "unlinkat", 0, 1, NONE, NONE, 2, NONE, FOLLOW_NEVER, 0},
    {__NR_renameat2, CALL_RENAME, "renameat2", 0, 1, 2, 3, 4, NONE, FOLLOW_NEVER, 0},
    {__NR_renameat, CALL_RENAME, "renameat", 0, 1, 2, 3, NONE, NONE, FOLLOW_NEVER, 0},
    {__NR_linkat, CALL_LINK, "linkat", 0, 1, 2, 3, 4, NONE, FOLLOW_IF_FLAG, 0},
    {__NR_symlinkat, CALL_SYMLINK, "symlinkat", 1, 2, NONE, NONE, NONE, NONE, FOLLOW_NEVER, 0},
    {__NR_mkdirat, CALL_MKDIR, "mkdirat", 0, 1, NONE, NONE, NONE, 2, FOLLOW_NEVER, 0},
    {__NR_mknodat, CALL_MKNOD, "mknodat", 0, 1, NONE, NONE, NONE, 2, FOLLOW_NEVER, 0},
    {__NR_truncate, CALL_TRUNCATE, "truncate", NONE, 0, NONE, NONE, NONE, NONE, FOLLOW_ALWAYS, 0},
    {__NR_fchmodat, CALL_CHMOD, "fchmodat", 0, 1, NONE, NONE, NONE, 2, FOLLOW_ALWAYS, 0},
    {452, CALL_CHMOD, "fchmodat2", 0, 1, NONE, NONE, 3, 2, FOLLOW_UNLESS_FLAG, 0},
    {__NR_fchmod, CALL_CHMOD, "fchmod", 0, NONE, NONE, NONE, NONE, 1, FOLLOW_ALWAYS, 0},
    {__NR_fchownat, CALL_CHOWN, "fchownat", 0, 1, NONE, NONE, 4, NONE, FOLLOW_UNLESS_FLAG, 0},
    {__NR_fchown, CALL_CHOWN, "fchown", 0, NONE, NONE, NONE, NONE, NONE, FOLLOW_ALWAYS, 0},
    {__NR_utimensat, CALL_UTIMES, "utimensat", 0, 1, NONE, NONE, 3, NONE, FOLLOW_UNLESS_FLAG, 0},
    {__NR_setxattr, CALL_SETXATTR, "setxattr", NONE, 0, NONE, NONE, 4, NONE, FOLLOW_ALWAYS, 0},
    {__NR_lsetxattr, CALL_SETXATTR, "lsetxattr", NONE, 0, NONE, NONE, 4, NONE, FOLLOW_NEVER, 0},
    {__NR_fsetxattr, CALL_SETXATTR, "fsetxattr", 0, NONE, NONE, NONE, 4, NONE, FOLLOW_ALWAYS, 0},
    {__NR_removexattr, CALL_REMOVEXATTR, "removexattr", NONE, 0, NONE, NONE, NONE, NONE, FOLLOW_ALWAYS, 0},
    {__NR_lremovexattr, CALL_REMOVEXATTR, "lremovexattr", NONE, 0, NONE, NONE, NONE, NONE, FOLLOW_NEVER, 0},
    {__NR_fremovexattr, CALL_REMOVEXATTR, "fremovexattr", 0, NONE, NONE, NONE, NONE, NONE, FOLLOW_ALWAYS, 0},
    {__NR_execve, CALL_EXECUTE, "execve", NONE, 0, NONE, NONE, NONE, NONE, FOLLOW_ALWAYS, 0},
    {__NR_execveat, CALL_EXECUTE, "execveat", 0, 1, NONE, NONE, 4, NONE, FOLLOW_UNLESS_FLAG, 0},
#ifdef __x86_64__
    {__NR_open, CALL_OPEN, "open", NONE, 0, NONE, NONE, 1, 2, FOLLOW_ALWAYS, 0},
    {__NR_creat, CALL_OPEN, "creat", NONE, 0, NONE, NONE, NONE, 1, FOLLOW_ALWAYS, O_CREAT | O_WRONLY | O_TRUNC},
    {__NR_unlink, CALL_UNLINK, "unlink", NONE, 0, NONE, NONE, NONE, NONE, FOLLOW_NEVER, 0},
    {__NR_rmdir, CALL_UNLINK, "rmdir", NONE, 0, NONE, NONE, NONE, NONE, FOLLOW_NEVER, AT_REMOVEDIR},
    {__NR_rename, CALL_RENAME, "rename", NONE, 0, NONE, 1, NONE, NONE, FOLLOW_NEVER, 0},
    {__NR_link, CALL_LINK, "link", NONE, 0, NONE, 1, NONE, NONE, FOLLOW_NEVER, 0},
    {__NR_symlink, CALL_SYMLINK, "symlink", NONE, 1, NONE, NONE, NONE, NONE, FOLLOW_NEVER, 0},
    {__NR_mkdir, CALL_MKDIR, "mkdir", NONE, 0, NONE, NONE, NONE, 1, FOLLOW_NEVER, 0},
    {__NR_mknod, CALL_MKNOD, "mknod", NONE, 0, NONE, NONE, NONE, 1, FOLLOW_NEVER, 0},
    {__NR_chmod, CALL_CHMOD, "chmod", NONE, 0, NONE, NONE, NONE, 1, FOLLOW_ALWAYS, 0},
    {__NR_chown, CALL_CHOWN, "chown", NONE, 0, NONE, NONE, NONE, NONE, FOLLOW_ALWAYS, 0},
    {__NR_lchown, CALL_CHOWN, "lchown", NONE, 0, NONE, NONE, NONE, NONE, FOLLOW_NEVER, 0},
    {__NR_utimes, CALL_UTIMES, "utimes", NONE, 0, NONE, NONE, NONE, NONE, FOLLOW_ALWAYS, 0},
    {__NR_utime, CALL_UTIMES, "utime", NONE, 0, NONE, NONE, NONE, NONE, FOLLOW_ALWAYS, 0},
#endif
};

static bool read_memory(pid_t pid, uint64_t address, void *out, size_t size) {
  struct iovec local = {.iov_base = out, .iov_len = size};
  struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* Text up to its NUL, never over the end of a page: what lies behind the text may not be there. */
static int read_string(pid_t pid, uint64_t address, char *out, size_t size) {
  size_t length = 0;
  while (length < size) {
    size_t step = STEP_BYTES - (address + length) % STEP_BYTES;
    if (step > size - length) step = size - length;
    if (!read_memory(pid, address + length, out + length, step)) return EFAULT;
    if (memchr(out + length, 0, step) != NULL) return 0;
    length += step;
  }
  return ENAMETOOLONG;
}

static int read_name(const struct seccomp_notif *notice, struct named_path *path, int folder, int text) {
  path->is_used = true;
  path->folder = folder == NONE ? AT_FDCWD : (int)notice->data.args[folder];
  if (text == NONE || notice->data.args[text] == 0) {
    path->is_descriptor = true;
    return text == NONE || notice->data.nr == __NR_utimensat ? 0 : EFAULT;
  }
  return read_string(notice->pid, notice->data.args[text], path->text, sizeof path->text);
}

/* An empty text means the descriptor where the call says so, and nothing elsewhere. */
static int settle_empty(struct named_path *path, int flags) {
  if (!path->is_used || path->is_descriptor || path->text[0] != 0) return 0;
  if ((flags & AT_EMPTY_PATH) == 0) return ENOENT;
  path->is_descriptor = true;
  return 0;
}

static int read_times(struct trapped_call *call, uint64_t address, int number) {
  call->has_times = address != 0;
  if (address == 0) return 0;
  if (number == __NR_utimensat) return read_memory(call->pid, address, call->times, sizeof call->times) ? 0 : EFAULT;
  int64_t words[4] = {0};
#ifdef __x86_64__
  if (!read_memory(call->pid, address, words, number == __NR_utime ? 16 : 32)) return EFAULT;
  if (number == __NR_utime) words[2] = words[1], words[1] = 0;
#endif
  if ((uint64_t)words[1] > 999999 || (uint64_t)words[3] > 999999) return EINVAL;
  call->times[0] = (struct timespec){.tv_sec = words[0], .tv_nsec = words[1] * 1000};
  call->times[1] = (struct timespec){.tv_sec = words[2], .tv_nsec = words[3] * 1000};
  return 0;
}

static int read_attribute(const struct seccomp_notif *notice, struct trapped_call *call) {
  int failed = read_string(call->pid, notice->data.args[1], call->attribute, sizeof call->attribute);
  if (failed != 0) return failed == ENAMETOOLONG ? ERANGE : failed;
  if (call->kind == CALL_REMOVEXATTR) return 0;
  if (notice->data.args[3] > XATTR_BYTES_MAX) return E2BIG;
  call->value_size = (size_t)notice->data.args[3];
  if (call->value_size == 0) return 0;
  return read_memory(call->pid, notice->data.args[2], call->value, call->value_size) ? 0 : EFAULT;
}

static int read_extras(const struct seccomp_notif *notice, struct trapped_call *call, int number) {
  const __u64 *args = notice->data.args;
  switch (call->kind) {
    case CALL_TRUNCATE:
      call->length = (int64_t)args[1];
      return call->length < 0 ? EINVAL : 0;
    case CALL_CHOWN: {
      int first = number == __NR_fchownat ? 2 : 1;
      call->uid = (uid_t)args[first];
      call->gid = (gid_t)args[first + 1];
      return 0;
    }
    case CALL_UTIMES: return read_times(call, number == __NR_utimensat ? args[2] : args[1], number);
    case CALL_SETXATTR:
    case CALL_REMOVEXATTR: return read_attribute(notice, call);
    case CALL_SYMLINK:
      /* What the link will say stands in the second text; it is no path of this call. */
      return read_string(call->pid, args[0], call->second.text, sizeof call->second.text);
    default: return 0;
  }
}

int read_call(const struct seccomp_notif *notice, struct trapped_call *call) {
  const struct call_shape *shape = NULL;
  for (size_t index = 0; index < sizeof SHAPES / sizeof SHAPES[0] && shape == NULL; index++)
    if (SHAPES[index].number == notice->data.nr) shape = &SHAPES[index];
  if (shape == NULL) return ENOSYS;
  /* WHY not all of it: the texts are large and are written before they are read. */
  memset(call, 0, offsetof(struct trapped_call, first));
  memset(&call->first, 0, offsetof(struct named_path, text) + 1);
  memset(&call->second, 0, offsetof(struct named_path, text) + 1);
  call->kind = shape->kind;
  call->name = shape->name;
  call->pid = (pid_t)notice->pid;
  call->id = notice->id;
  call->flags = shape->flags == NONE ? shape->fixed_flags : (int)notice->data.args[shape->flags];
  call->mode = shape->mode == NONE ? 0 : (mode_t)notice->data.args[shape->mode];
  int failed = read_name(notice, &call->first, shape->folder, shape->path);
  if (failed == 0 && shape->path2 != NONE) failed = read_name(notice, &call->second, shape->folder2, shape->path2);
  if (failed == 0 && call->second.is_used) failed = settle_empty(&call->second, 0);
  bool has_at_flags = call->kind != CALL_OPEN && call->kind != CALL_RENAME && call->kind != CALL_SETXATTR;
  if (failed == 0) failed = settle_empty(&call->first, has_at_flags ? call->flags : 0);
  if (failed == 0) failed = read_extras(notice, call, notice->data.nr);
  bool no_follow = (call->flags & AT_SYMLINK_NOFOLLOW) != 0, follow = (call->flags & AT_SYMLINK_FOLLOW) != 0;
  call->first.follows_last = shape->follow == FOLLOW_ALWAYS || (shape->follow == FOLLOW_UNLESS_FLAG && !no_follow) ||
                             (shape->follow == FOLLOW_IF_FLAG && follow);
  if (call->kind == CALL_OPEN && ((call->flags & O_NOFOLLOW) != 0 || (call->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)))
    call->first.follows_last = false;
  return failed;
}
