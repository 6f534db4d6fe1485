/*
 * A trapped system call in our own words: what is done, to which one or two paths. Read once from the memory of the
 * program; what is decided and done later is this copy, never that memory again.
 */
#pragma once
#include <sys/types.h>
#include <time.h>
#include "path-text.h"

enum call_kind {
  CALL_OPEN, CALL_UNLINK, CALL_RENAME, CALL_LINK, CALL_SYMLINK, CALL_MKDIR, CALL_MKNOD, CALL_TRUNCATE, CALL_CHMOD, CALL_CHOWN,
  CALL_UTIMES, CALL_SETXATTR, CALL_REMOVEXATTR, CALL_EXECUTE,
};

enum { XATTR_BYTES_MAX = 4096 };

struct named_path {
  bool is_used, follows_last;
  /* The path is the descriptor itself. */
  bool is_descriptor;
  int folder;
  char text[PATH_BYTES_MAX];
};

struct trapped_call {
  enum call_kind kind;
  const char *name;
  uint64_t id;
  pid_t pid;
  int flags;
  mode_t mode;
  uid_t uid;
  gid_t gid;
  int64_t length;
  size_t value_size;
  bool has_times;
  struct timespec times[2];
  struct named_path first, second;
  char attribute[256];
  uint8_t value[XATTR_BYTES_MAX];
};

/* 0, or the error that the call gets at once. */
int read_call(const struct seccomp_notif *notice, struct trapped_call *call);
