/* Finds places. Walks are the kernel's own (openat2), rooted in the view; real paths come from the kernel as well. */
#include "kernel-interface.h"
#include "place.h"

enum { LINKS_MAX = 16, ROUNDS_MAX = 1000 };

static int walk(int base, const char *path, uint64_t flags, uint64_t resolve) {
  struct open_how how = {.flags = flags | O_PATH | O_CLOEXEC, .resolve = resolve | RESOLVE_NO_MAGICLINKS};
  int fd = (int)syscall(NUMBER_OPENAT2, base, path, &how, sizeof how);
  /* WHY again: the kernel gives up on `..` whenever anything on the machine was mounted or renamed meanwhile. */
  for (int round = 0; fd < 0 && errno == EAGAIN && round < ROUNDS_MAX; round++)
    fd = (int)syscall(NUMBER_OPENAT2, base, path, &how, sizeof how);
  return fd;
}

/* The real path of what a link of /proc names. */
static int read_link(const char *link, char *out, size_t size) {
  ssize_t length = readlinkat(AT_FDCWD, link, out, size - 1);
  if (length < 0) return errno;
  if (length >= (ssize_t)size - 1) return ENAMETOOLONG;
  out[length] = 0;
  return out[0] == '/' ? 0 : EACCES;
}

static int real_path(int fd, char *out, size_t size) {
  char link[64];
  append_text(link, 0, sizeof link, "/proc/self/fd/%d", fd);
  return read_link(link, out, size);
}

/* The link that names what the program holds by a descriptor, or its own folder. */
static const char *held_link(pid_t pid, int fd, char *out, size_t size) {
  if (fd == AT_FDCWD) append_text(out, 0, size, "/proc/%d/cwd", pid);
  else append_text(out, 0, size, "/proc/%d/fd/%d", pid, fd);
  return out;
}

int absolute_text(pid_t pid, const struct named_path *path, char *out) {
  char link[64];
  out[0] = 0;
  if (path->is_descriptor || path->text[0] != '/') {
    int failed = read_link(held_link(pid, path->folder, link, sizeof link), out, PATH_BYTES_MAX);
    if (failed != 0) return failed == ENOENT ? EBADF : failed;
  }
  return path->is_descriptor || join_path(out, PATH_BYTES_MAX, out, path->text) ? 0 : ENAMETOOLONG;
}

/* Some milliseconds, as the processor counts them: to ask the kernel would take as long as the look that is spared. */
static uint64_t moment(void) {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc() >> 24;
#else
  uint64_t count, each_second;
  __asm__ volatile("mrs %0, cntvct_el0\nmrs %1, cntfrq_el0" : "=r"(count), "=r"(each_second));
  return count / (each_second >> 7 | 1);
#endif
}

/*
 * Texts that led straight in this moment, while nothing was changed on behalf of the program. INVARIANT: believed only where Landlock
 * decides too; a link that somebody else puts there meets it, and is refused for that moment where it would be asked about.
 */
enum { STRAIGHT_TEXTS = 64, STRAIGHT_BYTES = 240 };
static struct { uint64_t since, changes; char text[STRAIGHT_BYTES]; } straight_texts[STRAIGHT_TEXTS];
static uint64_t changes = 1;

void forget_straight(void) { changes++; }

/* WHY this call: of those that walk a path it does least at the end of it. It says of whatever is there that it is no link. */
bool leads_straight(int straight, const char *text) {
  char link[1];
  uint64_t now = moment();
  size_t length = 0, mixed = 0;
  for (; text[length] != 0; length++) mixed = mixed * 31 + (unsigned char)text[length];
  __typeof__(*straight_texts) *known = &straight_texts[mixed % STRAIGHT_TEXTS];
  if (known->since == now && known->changes == changes && strcmp(known->text, text) == 0) return true;
  if (readlinkat(straight, text + 1, link, sizeof link) >= 0 || (errno != EINVAL && errno != ENOENT)) return false;
  if (length < STRAIGHT_BYTES) known->since = now, known->changes = changes, memcpy(known->text, text, length + 1);
  return true;
}

static bool is_own_entry(const char *text) {
  return strncmp(text, "/proc/self", 10) == 0 || strncmp(text, "/proc/thread-self", 17) == 0;
}

/* What is found: the object is held. */
static int take_object(int fd, struct place *place) {
  place->held = fd;
  place->exists = true;
  if (fstatat(fd, "", &place->facts, AT_EMPTY_PATH) != 0) return errno;
  int failed = real_path(fd, place->real, sizeof place->real);
  if (failed != 0) return failed;
  /* WHY: the kernel marks the path of a removed object with a suffix that a name may have too. */
  return place->facts.st_nlink == 0 ? ENOENT : 0;
}

/* Nothing is there: its folder is held. A link that leads to nothing gives the next text to try, as EAGAIN. */
static int take_folder(int view, char *text, bool follows, struct place *place) {
  char folder[PATH_BYTES_MAX], target[PATH_BYTES_MAX], real[PATH_BYTES_MAX];
  if (!split_path(text, folder, place->name, sizeof folder)) return ENOENT;
  int fd = walk(view, folder, O_DIRECTORY, RESOLVE_IN_ROOT);
  if (fd < 0) return errno;
  int failed = real_path(fd, real, sizeof real);
  ssize_t length = follows && failed == 0 ? readlinkat(fd, place->name, target, sizeof target - 1) : -1;
  if (length >= 0) {
    close(fd);
    target[length] = 0;
    return join_path(text, PATH_BYTES_MAX, real, target) ? EAGAIN : ENAMETOOLONG;
  }
  place->held = fd;
  place->exists = false;
  if (failed == 0 && fstatat(fd, "", &place->facts, AT_EMPTY_PATH) != 0) failed = errno;
  if (failed == 0 && place->facts.st_nlink == 0) failed = ENOENT;
  if (failed != 0) return failed;
  return join_path(place->real, sizeof place->real, real, place->name) ? 0 : ENAMETOOLONG;
}

/* WHY: the text of a descriptor may lead elsewhere by now, or name an object that never had a path. */
static bool is_what_descriptor_holds(pid_t pid, int fd, const struct place *place) {
  char link[64];
  struct stat held;
  if (fstatat(AT_FDCWD, held_link(pid, fd, link, sizeof link), &held, 0) != 0) return false;
  return place->exists && held.st_dev == place->facts.st_dev && held.st_ino == place->facts.st_ino;
}

static int find_by_text(int view, pid_t pid, const struct named_path *path, struct place *place) {
  char *text = place->real;
  int failed = absolute_text(pid, path, text);
  if (failed != 0) return failed;
  for (int round = 0; round < LINKS_MAX; round++) {
    if (is_own_entry(text)) return LEADS_TO_ITSELF;
    int fd = walk(view, text, path->follows_last ? 0 : O_NOFOLLOW, RESOLVE_IN_ROOT);
    if (fd >= 0) return take_object(fd, place);
    if (errno == ELOOP) return LEADS_TO_ITSELF;
    if (errno != ENOENT) return errno;
    failed = take_folder(view, text, path->follows_last, place);
    if (failed != EAGAIN) return failed;
  }
  return ELOOP;
}

int find_place(int view, pid_t pid, const struct named_path *path, struct place *place) {
  place->held = place->folder = place->object = -1;
  int failed = find_by_text(view, pid, path, place);
  if (!path->is_descriptor || failed == EBADF) return failed;
  return failed == 0 && is_what_descriptor_holds(pid, path->folder, place) ? 0 : EACCES;
}

static bool is_same(int left, int right) {
  struct stat a, b;
  bool are_there = fstatat(left, "", &a, AT_EMPTY_PATH) == 0 && fstatat(right, "", &b, AT_EMPTY_PATH) == 0;
  return are_there && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int reach_place(struct place *place) {
  char folder[PATH_BYTES_MAX];
  if (strcmp(place->real, "/") == 0) memcpy(folder, "/", 2), memcpy(place->name, ".", 2);
  else if (!split_path(place->real, folder, place->name, sizeof folder)) return EACCES;
  place->folder = walk(AT_FDCWD, folder, O_DIRECTORY, RESOLVE_NO_SYMLINKS);
  if (place->folder < 0) return EACCES;
  /* INVARIANT: what is acted on is what was decided on, whatever was moved, linked or mounted meanwhile. */
  if (!place->exists) return is_same(place->folder, place->held) ? 0 : EACCES;
  place->object = walk(place->folder, place->name, O_NOFOLLOW, RESOLVE_NO_SYMLINKS);
  if (place->object < 0) return EACCES;
  return is_same(place->object, place->held) ? 0 : EACCES;
}

void leave_place(struct place *place) {
  if (place->held >= 0) close(place->held);
  if (place->folder >= 0) close(place->folder);
  if (place->object >= 0) close(place->object);
  place->held = place->folder = place->object = -1;
}
