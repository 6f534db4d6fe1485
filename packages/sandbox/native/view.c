/* Builds the view. The order matters: clones of writable places are taken before everything turns read-only. */
#include "kernel-interface.h"
#include "view.h"
#include "path-text.h"

static int write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t written = write(fd, text, strlen(text));
  close(fd);
  return written == (ssize_t)strlen(text) ? 0 : -1;
}

/* As they are outside; inside they have no names until they are mapped. */
static uid_t own_uid;
static gid_t own_gid;

pid_t enter_namespaces(void) {
  unsigned long spaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC;
  own_uid = geteuid();
  own_gid = getegid();
  return (pid_t)syscall(SYS_clone, spaces | SIGCHLD, NULL, NULL, NULL, NULL);
}

const char *keep_identity(void) {
  char users[64], groups[64];
  append_text(users, 0, sizeof users, "%lu %lu 1\n", (unsigned long)own_uid, (unsigned long)own_uid);
  append_text(groups, 0, sizeof groups, "%lu %lu 1\n", (unsigned long)own_gid, (unsigned long)own_gid);
  if (write_file("/proc/self/setgroups", "deny") != 0 && errno != ENOENT) return "identity";
  return write_file("/proc/self/gid_map", groups) == 0 && write_file("/proc/self/uid_map", users) == 0 ? NULL : "identity";
}

static int set_mount(const char *path, uint64_t set, uint64_t propagation) {
  struct mount_words words = {.set = set, .propagation = propagation};
  return (int)syscall(NUMBER_MOUNT_SETATTR, AT_FDCWD, path, TREE_RECURSIVE, &words, sizeof words);
}

static int mask(const char *path) {
  struct stat facts;
  if (fstatat(AT_FDCWD, path, &facts, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT || errno == EACCES ? 0 : -1;
  if (S_ISDIR(facts.st_mode))
    return mount("masked", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0,size=4k,nr_inodes=2");
  if (S_ISLNK(facts.st_mode)) return 0;
  return mount("/dev/null", path, NULL, MS_BIND, NULL);
}

int enter_view(int view) { return syscall(__NR_fchdir, view) == 0 ? (int)syscall(__NR_chroot, ".") : -1; }

/*
 * The view is a copy of what was built, put on top of it, and the root of whoever enters it; below lies the straight one.
 * WHY both in the namespace: the kernel takes them apart in one step when that ends.
 * INVARIANT: taken when all is built; whatever is mounted later is not in it. Nobody who runs foreign code has another root.
 */
static int open_roots(struct roots *roots) {
  roots->straight = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  roots->view = (int)syscall(NUMBER_OPEN_TREE, AT_FDCWD, "/", TREE_CLONE | O_CLOEXEC | TREE_RECURSIVE);
  if (roots->straight < 0 || roots->view < 0 || set_mount("/", MOUNT_NO_LINKS, 0) != 0) return -1;
  if (syscall(NUMBER_MOVE_MOUNT, roots->view, "", AT_FDCWD, "/", MOVE_FROM_EMPTY_PATH) != 0) return -1;
  return enter_view(roots->view);
}

const char *build_view(const struct launch *launch, struct roots *roots) {
  static int clones[PATHS_MAX];
  if (set_mount("/", 0, MS_PRIVATE) != 0) return "private_mounts";
  for (size_t index = 0; index < launch->writable_count; index++) {
    const char *path = launch->writable[index];
    clones[index] = (int)syscall(NUMBER_OPEN_TREE, AT_FDCWD, path, TREE_CLONE | O_CLOEXEC | TREE_RECURSIVE);
    if (clones[index] < 0 && errno != ENOENT) return "writable_clone";
  }
  if (set_mount("/", MOUNT_READ_ONLY | MOUNT_NO_SUID, 0) != 0) return "read_only";
  for (size_t index = 0; index < launch->writable_count; index++) {
    if (clones[index] < 0) continue;
    const char *path = launch->writable[index];
    if (syscall(NUMBER_MOVE_MOUNT, clones[index], "", AT_FDCWD, path, MOVE_FROM_EMPTY_PATH) != 0)
      return "writable_place";
    close(clones[index]);
  }
  for (size_t index = 0; index < launch->cover_count; index++)
    if (mount(launch->covers[index].source, launch->covers[index].path, NULL, MS_BIND, NULL) != 0) return "cover";
  for (size_t index = 0; index < launch->mask_count; index++)
    if (mask(launch->masks[index]) != 0) return "mask";
  unsigned long quiet = MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY;
  if (mount("proc", "/proc", "proc", quiet, NULL) != 0) return "proc";
  return open_roots(roots) == 0 ? NULL : "root";
}
