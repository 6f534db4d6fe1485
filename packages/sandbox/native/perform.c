/* Acts by descriptors of the outside view. Runs without capabilities: the owner's rights are all there is. */
#include "kernel-interface.h"
#include "perform.h"

/* The mask of the program; 077 where it cannot be read. */
static mode_t mask_of(pid_t pid) {
  char path[64], text[512];
  append_text(path, 0, sizeof path, "/proc/%d/status", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 077;
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  text[length < 0 ? 0 : length] = 0;
  static const char WORD[] = "\nUmask:\t0";
  const char *line = text;
  while (*line != 0 && strncmp(line, WORD, sizeof WORD - 1) != 0) line++;
  if (*line == 0) return 077;
  mode_t mask = 0;
  for (line += sizeof WORD - 1; *line >= '0' && *line <= '7'; line++) mask = mask << 3 | (mode_t)(*line - '0');
  return *line == '\n' ? mask & 0777 : 077;
}

static int answer(int result) { return result < 0 ? -errno : 0; }

/* Until the next one is asked for: acts take turns. */
static const char *link_of(int fd) {
  static char link[64];
  append_text(link, 0, sizeof link, "/proc/self/fd/%d", fd);
  return link;
}

static int open_place(const struct trapped_call *call, const struct place *place) {
  int kept = call->flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC);
  int flags = kept | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, fd;
  if (place->exists) {
    /* Null, zero, full, random and urandom: nothing waits there. */
    dev_t device = S_ISCHR(place->facts.st_mode) ? place->facts.st_rdev : 0;
    bool is_endless = device >> 4 == 0x10 && (0x3a8 >> (device & 15) & 1) != 0;
    if (!S_ISREG(place->facts.st_mode) && !S_ISDIR(place->facts.st_mode) && !is_endless) return -EACCES;
    /* INVARIANT: what is only read is opened in the view: from a folder outside of it a way leads on to all that the view covers. */
    fd = open(link_of((flags & (O_ACCMODE | O_TRUNC)) == O_RDONLY ? place->held : place->object), flags);
  } else {
    umask(mask_of(call->pid));
    fd = openat(place->folder, place->name, flags | O_CREAT | O_EXCL | O_NOFOLLOW, call->mode & 01777);
    umask(077);
    /* Something appeared meanwhile: that was not decided on. */
    if (fd < 0 && errno == EEXIST) return -EACCES;
  }
  if (fd < 0) return errno == EWOULDBLOCK ? -EACCES : -errno;
  if ((call->flags & O_NONBLOCK) == 0 && fcntl(fd, F_SETFL, call->flags & (O_APPEND | O_DIRECT | O_NOATIME)) != 0) {
    int failed = errno;
    close(fd);
    return -failed;
  }
  return fd;
}

static int make_place(const struct trapped_call *call, const struct place *place) {
  umask(mask_of(call->pid));
  int result = answer(call->kind == CALL_MKDIR ? mkdirat(place->folder, place->name, call->mode & 01777)
                                               : mknodat(place->folder, place->name, call->mode & (S_IFMT | 0777), 0));
  umask(077);
  return result;
}

static int truncate_place(const struct trapped_call *call, const struct place *place) {
  if (!S_ISREG(place->facts.st_mode)) return S_ISDIR(place->facts.st_mode) ? -EISDIR : -EINVAL;
  int fd = open(link_of(place->object), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return -errno;
  int result = answer(ftruncate(fd, call->length));
  close(fd);
  return result;
}

static int change_facts(const struct trapped_call *call, const struct place *place) {
  const char *link = link_of(place->object);
  bool is_link = S_ISLNK(place->facts.st_mode);
  const struct timespec *times = call->has_times ? call->times : NULL;
  switch (call->kind) {
    case CALL_CHMOD: return is_link ? -EOPNOTSUPP : answer(fchmodat(AT_FDCWD, link, call->mode & 03777, 0));
    case CALL_CHOWN: return answer(fchownat(place->object, "", call->uid, call->gid, AT_EMPTY_PATH));
    case CALL_UTIMES:
      return is_link ? answer(utimensat(place->folder, place->name, times, AT_SYMLINK_NOFOLLOW))
                     : answer(utimensat(AT_FDCWD, link, times, 0));
    case CALL_SETXATTR:
      return is_link ? -EPERM : answer(setxattr(link, call->attribute, call->value, call->value_size, call->flags));
    default: return is_link ? -EPERM : answer(removexattr(link, call->attribute));
  }
}

static int rename_place(const struct trapped_call *call, const struct place *first, const struct place *second) {
  /* INVARIANT: a rename that was decided as a creation replaces nothing. */
  unsigned flags = (unsigned)call->flags | (second->exists ? 0u : RENAME_NOREPLACE);
  return answer(renameat2(first->folder, first->name, second->folder, second->name, flags));
}

int perform(const struct trapped_call *call, const struct place *first, const struct place *second) {
  switch (call->kind) {
    case CALL_OPEN: return open_place(call, first);
    case CALL_UNLINK: return answer(unlinkat(first->folder, first->name, call->flags & AT_REMOVEDIR));
    case CALL_RENAME: return rename_place(call, first, second);
    case CALL_LINK: return answer(linkat(AT_FDCWD, link_of(first->object), second->folder, second->name, AT_SYMLINK_FOLLOW));
    case CALL_SYMLINK: return answer(symlinkat(call->second.text, first->folder, first->name));
    case CALL_MKDIR:
    case CALL_MKNOD: return make_place(call, first);
    case CALL_TRUNCATE: return truncate_place(call, first);
    case CALL_EXECUTE: return -EACCES;
    default: return change_facts(call, first);
  }
}
