/*
 * Fuzz target of the path handling that touches the file system: a made-up program's paths, found, judged and reached in a
 * folder of its own that is full of links. What must hold: nothing is found that the kernel's own walk does not find, the
 * real path that is judged is the path of the object that is held, what is reached is that object, and a text that leads
 * straight is a real path.
 *   cc -g -fsanitize=address,undefined -DSELF_DRIVEN fuzz-places.c place.c path-text.c -o fuzz && ./fuzz 20000 FOLDER
 * With libFuzzer or AFL++ `LLVMFuzzerTestOneInput` is the entry; the folder is that of the environment's SALLYPORT_FUZZ_FOLDER.
 */
#include "kernel-interface.h"
#include "fuzz-round.h"
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

static const char *folder;
static int view = -1, straight = -1;

static void make(const char *name, const char *target) {
  char path[PATH_BYTES_MAX];
  if (!join_path(path, sizeof path, folder, name)) abort();
  if (target != NULL) (void)symlink(target, path);
  else if (strchr(name, '.') != NULL) close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  else (void)mkdir(path, 0700);
}

/* A tree where the kernel follows no link, as the view has one. */
static void straighten(void) {
  struct mount_words words = {.set = MOUNT_NO_LINKS};
  /* WHY dumpable again: else what the kernel says of its own descriptors is not for it to read. */
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) abort();
  straight = (int)syscall(NUMBER_OPEN_TREE, AT_FDCWD, "/", TREE_CLONE | O_CLOEXEC | TREE_RECURSIVE);
  if (syscall(NUMBER_MOUNT_SETATTR, straight, "", TREE_RECURSIVE | AT_EMPTY_PATH, &words, sizeof words) != 0) abort();
}

static void furnish(const char *where) {
  static const char *const NAMES[][2] = {{"a", NULL},       {"a/b", NULL},        {"a/f.x", NULL},  {"a/b/g.x", NULL},
                                         {"l", "a"},        {"a/up", ".."},       {"m", "a/f.x"},   {"n", "nowhere"},
                                         {"loop", "loop"},  {"far", "/"},         {"o", "l/b/../f.x"}, {"a/b/p", "../../l"},
                                         {"proc", "/proc"}, {"me", "/proc/self"}};
  folder = where;
  if (chdir(folder) != 0 || (view = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) abort();
  for (size_t index = 0; index < sizeof NAMES / sizeof NAMES[0]; index++) make(NAMES[index][0], NAMES[index][1]);
  straighten();
}

static void judge(const struct named_path *path, struct place *place) {
  char real[PATH_MAX];
  must_hold(place->held >= 0, "what is found is held", path->text);
  must_hold(place->real[0] == '/' && strstr(place->real, "/../") == NULL, "a real path is absolute and has no `..`", path->text);
  if (place->exists && path->follows_last) {
    must_hold(realpath(path->text, real) != NULL && strcmp(real, place->real) == 0, "the kernel finds the same", path->text);
    must_hold(faccessat(AT_FDCWD, path->text, F_OK, 0) == 0, "what exists is there", path->text);
  }
  if (!place->exists) must_hold(access(place->real, F_OK) != 0, "what does not exist is not there", path->text);
  int failed = reach_place(place);
  must_hold(failed == 0 || failed == EACCES, "reaching works or is refused", path->text);
  struct stat facts;
  if (failed == 0 && place->exists)
    must_hold(fstat(place->object, &facts) == 0 && facts.st_ino == place->facts.st_ino, "what is reached is what was found", path->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct named_path path;
  static struct place place;
  if (view < 0) furnish(getenv("SALLYPORT_FUZZ_FOLDER"));
  memset(&path, 0, sizeof path);
  path.is_used = true;
  path.folder = AT_FDCWD;
  path.follows_last = size > 0 && (data[0] & 1) == 0;
  size_t length = size == 0 ? 0 : size - 1 < sizeof path.text - 1 ? size - 1 : sizeof path.text - 1;
  if (length == 0) return 0;
  memcpy(path.text, data + 1, length);
  if (path.text[0] == 0) return 0;
  char text[PATH_BYTES_MAX];
  int failed = find_place(view, getpid(), &path, &place);
  must_hold(failed != EAGAIN, "nothing fails because something elsewhere is renamed", path.text);
  if (absolute_text(getpid(), &path, text) == 0 && is_plain_path(text) && leads_straight(straight, text)) {
    must_hold(failed == 0 || failed == ENOENT, "what leads straight is found, or its folder is missing", text);
    must_hold(failed != 0 || strcmp(text, place.real) == 0, "what leads straight is a real path", text);
  }
  if (failed == 0) judge(&path, &place);
  leave_place(&place);
  return 0;
}

#ifdef SELF_DRIVEN
/* Renames a folder without pause, until the walks are over. */
static pid_t disturb(const char *where) {
  char names[2][PATH_BYTES_MAX];
  if (!join_path(names[0], PATH_BYTES_MAX, where, "r0") || !join_path(names[1], PATH_BYTES_MAX, where, "r1")) abort();
  pid_t child = fork();
  if (child != 0) return child;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || mkdir(names[0], 0700) != 0) abort();
  for (int turn = 0;; turn = !turn) (void)rename(names[turn], names[!turn]);
}

/* `fuzz ROUNDS FOLDER`: walks made of the folder's own names, and of bytes. */
int main(int argc, char **argv) {
  static const char *const WORDS[] = {"a", "b", "f.x", "g.x", "l", "up", "m", "n", "loop", "far", "o", "p", "me", ".", "..", "", "new", "root", "tmp"};
  if (argc != 3) return 2;
  pid_t child = disturb(argv[2]);
  furnish(argv[2]);
  long rounds = atol(argv[1]);
  for (long round = 0; round < rounds; round++) {
    uint8_t bytes[300];
    size_t size = 1;
    bytes[0] = (uint8_t)draw(2);
    for (uint32_t words = 1 + draw(9); words > 0 && size < 280; words--) {
      const char *word = WORDS[draw(sizeof WORDS / sizeof WORDS[0])];
      memcpy(bytes + size, word, strlen(word));
      size += strlen(word);
      if (words > 1 || draw(6) == 0) bytes[size++] = '/';
    }
    if (draw(20) == 0) bytes[1 + draw((uint32_t)size)] = (uint8_t)draw(256);
    run_round(bytes, size);
  }
  kill(child, SIGKILL);
  printf("%ld rounds of walks\n", rounds);
  return 0;
}
#endif
