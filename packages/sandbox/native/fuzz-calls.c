/*
 * Fuzz target of what a notification means: a made-up call of a hostile program is read from its memory (trapped-call.c), and
 * said in parts at made-up places (parts.c). The memory of the program is this process's own: some pages with nothing behind
 * them. What must hold: a text is read whole and as it stands there or not at all, nothing is longer than its place, no call
 * passes without a part, what each call destroys, makes and reads is among its parts, and no name gives a right that its object
 * had not, unless that is asked.
 *   cc -g -fsanitize=address,undefined -DSELF_DRIVEN fuzz-calls.c trapped-call.c parts.c path-text.c -o fuzz && ./fuzz 100000
 * With libFuzzer or AFL++ `LLVMFuzzerTestOneInput` is the entry.
 */
#include "kernel-interface.h"
#include "fuzz-round.h"
#include "parts.h"
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, MEMORY_BYTES = 4 * PAGE_BYTES, ARGUMENTS = 6, STALE = 0xaa };

static const int NUMBERS[] = {
    __NR_openat, __NR_unlinkat, __NR_renameat2, __NR_renameat, __NR_linkat, __NR_symlinkat, __NR_mkdirat, __NR_mknodat,
    __NR_truncate, __NR_fchmodat, 452, __NR_fchmod, __NR_fchownat, __NR_fchown, __NR_utimensat, __NR_setxattr, __NR_lsetxattr,
    __NR_fsetxattr, __NR_removexattr, __NR_lremovexattr, __NR_fremovexattr, __NR_execve, __NR_execveat,
#ifdef __x86_64__
    __NR_open, __NR_creat, __NR_unlink, __NR_rmdir, __NR_rename, __NR_link, __NR_symlink, __NR_mkdir, __NR_mknod, __NR_chmod,
    __NR_chown, __NR_lchown, __NR_utimes, __NR_utime,
#endif
    __NR_read, 100000, -1};
enum { NUMBERS_COUNT = sizeof NUMBERS / sizeof NUMBERS[0], TRAPPED_COUNT = NUMBERS_COUNT - 3 };

/* The memory of the program; what lies behind it is not there. */
static uint8_t *memory;

struct input { const uint8_t *at, *end; };
static uint8_t take(struct input *input) { return input->at < input->end ? *input->at++ : 0; }
static uint64_t take_wide(struct input *input, int bytes) {
  uint64_t value = 0;
  while (bytes-- > 0) value = value << 8 | take(input);
  return value;
}

static uint64_t take_argument(struct input *input) {
  static const int FLAGS[] = {O_RDONLY, O_WRONLY, O_RDWR, 3, O_CREAT, O_EXCL, O_TRUNC, O_NOFOLLOW, O_TMPFILE, O_PATH,
                              AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW, AT_SYMLINK_FOLLOW, RENAME_EXCHANGE, RENAME_NOREPLACE,
                              RENAME_WHITEOUT, S_ISUID, S_ISGID, S_IFIFO, S_IFCHR, S_IFBLK, S_IFSOCK, S_IFREG, 0644};
  enum { FLAGS_COUNT = sizeof FLAGS / sizeof FLAGS[0] };
  uint64_t value = 0;
  switch (take(input) % 8) {
    case 0: return take(input);
    /* WHY the bit: no memory of a program is there. Else arm64, which ignores a tag in the highest byte, may find the sanitizer's. */
    case 1: return take_wide(input, 8) | 1ull << 55;
    case 2: return (uint64_t)(int64_t)AT_FDCWD;
    case 3: return 0;
    case 4: return (uint64_t)(uintptr_t)(memory + MEMORY_BYTES - take(input));
    case 5:
      for (int count = take(input) % 4; count >= 0; count--) value |= (uint64_t)(unsigned)FLAGS[take(input) % FLAGS_COUNT];
      return value;
    default: return (uint64_t)(uintptr_t)(memory + take_wide(input, 2) % MEMORY_BYTES);
  }
}

static bool is_memory(uint64_t address) {
  return address >= (uintptr_t)memory && address < (uintptr_t)memory + MEMORY_BYTES;
}

/* A text of the call is the text at that address, with its end; or there is none. */
static void check_text(const char *text, size_t size, uint64_t address) {
  must_hold(memchr(text, 0, size) != NULL, "a text has its end", NULL);
  must_hold(is_memory(address), "a text was read from where there is memory", NULL);
  must_hold(strcmp(text, (const char *)(uintptr_t)address) == 0, "a text is what stands there", text);
}

/* What reading the text there must come to: its end is near, far, or there is none before the memory ends. */
static int expected_text(uint64_t address, size_t size) {
  if (!is_memory(address)) return EFAULT;
  size_t left = (uintptr_t)memory + MEMORY_BYTES - address;
  if (memchr((void *)(uintptr_t)address, 0, left < size ? left : size) != NULL) return 0;
  return left < size ? EFAULT : ENAMETOOLONG;
}

static bool is_path_call(int number) { return number == __NR_truncate || number == __NR_setxattr || number == __NR_execve; }

/* The object behind a descriptor is meant only by calls that take nothing else, or that say so. */
static bool may_be_descriptor(int number, const struct trapped_call *call, const __u64 *args) {
  static const int ALWAYS[] = {__NR_fchmod, __NR_fchown, __NR_fsetxattr, __NR_fremovexattr};
  for (size_t index = 0; index < sizeof ALWAYS / sizeof ALWAYS[0]; index++)
    if (number == ALWAYS[index]) return true;
  if (number == __NR_utimensat && args[1] == 0) return true;
  return (call->flags & AT_EMPTY_PATH) != 0 && call->kind != CALL_OPEN && call->kind != CALL_RENAME && is_memory(args[1]);
}

static void check_call(const struct seccomp_notif *notice, const struct trapped_call *call) {
  const __u64 *args = notice->data.args;
  int number = notice->data.nr;
  must_hold(call->name != NULL && call->pid == getpid() && call->id == notice->id, "a call is known by its name", NULL);
  must_hold(call->first.is_used, "a call is about something", call->name);
  must_hold(call->first.is_descriptor || call->first.text[0] != 0, "an empty text is a descriptor, or nothing", call->name);
  must_hold(!call->second.is_used || call->second.is_descriptor || call->second.text[0] != 0, "nor is a second one", call->name);
  must_hold(!call->first.is_descriptor || may_be_descriptor(number, call, args), "nothing else means a descriptor", call->name);
  must_hold(!call->second.is_descriptor, "a new name is a name", call->name);
  must_hold(call->value_size <= XATTR_BYTES_MAX, "a value fits", call->name);
  must_hold(call->kind != CALL_TRUNCATE || call->length >= 0, "no length is below zero", call->name);
  bool is_new = (call->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
  if (call->kind == CALL_OPEN && (is_new || (call->flags & O_NOFOLLOW) != 0))
    must_hold(!call->first.follows_last, "what must be new, or no link, is not followed", call->name);
  if (call->kind == CALL_UNLINK || call->kind == CALL_RENAME || call->kind == CALL_MKDIR || call->kind == CALL_SYMLINK)
    must_hold(!call->first.follows_last, "a name itself is not followed", call->name);
  if (is_path_call(number)) check_text(call->first.text, sizeof call->first.text, args[0]);
  if ((number == __NR_openat || number == __NR_renameat2) && !call->first.is_descriptor) {
    must_hold(call->first.folder == (int)args[0], "a path starts where the call says", call->name);
    check_text(call->first.text, sizeof call->first.text, args[1]);
  }
  if (number == __NR_renameat2 && !call->second.is_descriptor) check_text(call->second.text, sizeof call->second.text, args[3]);
  if (call->kind == CALL_SYMLINK) check_text(call->second.text, sizeof call->second.text, args[0]);
  if (call->kind == CALL_SETXATTR || call->kind == CALL_REMOVEXATTR) {
    check_text(call->attribute, sizeof call->attribute, args[1]);
    if (call->value_size > 0)
      must_hold(is_memory(args[2]) && memcmp(call->value, (void *)(uintptr_t)args[2], call->value_size) == 0, "a value is what stands there", call->name);
  }
}

static bool read_made_up(struct input *input, struct trapped_call *call) {
  struct seccomp_notif notice = {.id = 7, .pid = (uint32_t)getpid()};
  size_t which = take(input) % NUMBERS_COUNT;
  notice.data.nr = NUMBERS[which];
  for (int index = 0; index < ARGUMENTS; index++) notice.data.args[index] = take_argument(input);
  size_t length = (size_t)(input->end - input->at);
  memset(memory, 'a', MEMORY_BYTES);
  memcpy(memory, input->at, length < MEMORY_BYTES ? length : MEMORY_BYTES);
  if (length < PAGE_BYTES) memory[PAGE_BYTES - 1] = 0;
  /* A text may end just where the memory does. */
  if (length % 2 == 0) memory[MEMORY_BYTES - 1] = 0;
  /* WHY: what another call left there must not be taken for this one's. */
  memset(call, STALE, sizeof *call);
  int failed = read_call(&notice, call);
  if (which >= TRAPPED_COUNT) {
    must_hold(failed == ENOSYS, "a call that nobody knows is refused", NULL);
    return false;
  }
  if (is_path_call(notice.data.nr)) {
    int expected = expected_text(notice.data.args[0], PATH_BYTES_MAX);
    must_hold(expected == 0 || failed == expected, "a text without an end is refused, as the kernel does", call->name);
    if (expected == 0 && notice.data.nr == __NR_execve && memory[0] != 0)
      must_hold(failed == 0 || failed == ENOENT, "a text that ends where the memory does is read", call->name);
  }
  if (failed == 0) check_call(&notice, call);
  else must_hold(failed > 0 && failed < 4096, "a refusal is an error of the kernel's", call->name);
  return failed == 0;
}

static bool has_part(const struct parts *parts, unsigned operation, const struct place *place, bool only_always) {
  for (size_t index = 0; index < parts->count; index++)
    if (parts->list[index].operation == operation && parts->list[index].place == place && (!only_always || parts->list[index].gained_at == NULL)) return true;
  return false;
}

/* No right is gained by a new name without a question at the old one. */
static void check_gains(const struct launch *launch, unsigned operations, const struct place *from, const struct place *to, const struct parts *parts) {
  bool is_folder = S_ISDIR(from->facts.st_mode);
  for (unsigned operation = 1; operation <= OPERATIONS_ALL; operation <<= 1) {
    if ((operations & operation) == 0) continue;
    bool had = (is_folder ? granted_whole(launch, from->real, operation) : granted(launch, from->real, operation)) != 0;
    bool gains = (is_folder ? granted_below(launch, to->real, operation) : granted(launch, to->real, operation)) != 0;
    must_hold(had || has_part(parts, operation, from, gains), "no name gives a right that is not asked", operation_word(operation));
  }
}

static void check_pair(const struct launch *launch, const struct trapped_call *call, const struct place *first, const struct place *second, const struct parts *parts) {
  unsigned gains = OPERATION_READ | OPERATION_EXECUTE | (call->kind == CALL_LINK ? OPERATION_MODIFY : 0);
  bool exchanges = call->kind == CALL_RENAME && (call->flags & RENAME_EXCHANGE) != 0;
  must_hold(first->exists, "what is not there has no second name", NULL);
  must_hold(has_part(parts, call->kind == CALL_LINK ? OPERATION_READ : OPERATION_DELETE, first, true), "the old name is asked about", NULL);
  must_hold(has_part(parts, second->exists ? OPERATION_MODIFY : OPERATION_CREATE, second, true), "so is the new one", NULL);
  must_hold(call->kind != CALL_LINK || !second->exists, "a link replaces nothing", NULL);
  if (call->kind == CALL_RENAME && S_ISDIR(first->facts.st_mode))
    must_hold(has_part(parts, OPERATION_CREATE, second, true), "a folder brings along what is in it", NULL);
  check_gains(launch, gains, first, second, parts);
  if (!exchanges) return;
  must_hold(has_part(parts, OPERATION_DELETE, second, true) && has_part(parts, OPERATION_MODIFY, first, true), "an exchange is two renames", NULL);
  if (S_ISDIR(second->facts.st_mode)) must_hold(has_part(parts, OPERATION_CREATE, first, true), "and brings along both ways", NULL);
  check_gains(launch, gains, second, first, parts);
}

static void check_single(const struct trapped_call *call, const struct place *place, const struct parts *parts) {
  bool makes = call->kind == CALL_SYMLINK || call->kind == CALL_MKDIR || call->kind == CALL_MKNOD;
  bool reads = (call->flags & O_ACCMODE) != O_WRONLY, writes = (call->flags & O_ACCMODE) != O_RDONLY || (call->flags & O_TRUNC) != 0;
  bool sets_owner = (call->mode & S_ISUID) != 0 || ((call->mode & S_ISGID) != 0 && !(call->kind == CALL_CHMOD && S_ISDIR(place->facts.st_mode)));
  bool is_given_mode = call->kind == CALL_MKNOD || call->kind == CALL_CHMOD || (call->kind == CALL_OPEN && (call->flags & O_CREAT) != 0);
  must_hold(!is_given_mode || !sets_owner, "nothing runs as its owner", call->name);
  must_hold(!makes || !place->exists, "what is there is not made", call->name);
  must_hold(place->exists || has_part(parts, OPERATION_CREATE, place, true), "what is not there is made, or nothing", call->name);
  if (call->kind == CALL_OPEN && place->exists) {
    must_hold(!reads || has_part(parts, OPERATION_READ, place, true), "an open that reads is a read", call->name);
    must_hold(!writes || has_part(parts, OPERATION_MODIFY, place, true), "an open that writes is a modification", call->name);
    must_hold((call->flags & O_TMPFILE) != O_TMPFILE && !S_ISLNK(place->facts.st_mode), "nothing without a name, and no link", call->name);
  } else if (call->kind == CALL_UNLINK || call->kind == CALL_EXECUTE) {
    must_hold(has_part(parts, call->kind == CALL_UNLINK ? OPERATION_DELETE : OPERATION_EXECUTE, place, true), "what it does is its part", call->name);
  } else if (call->kind != CALL_OPEN && !makes) {
    must_hold(has_part(parts, OPERATION_MODIFY, place, true), "all else modifies", call->name);
  }
}

static void make_place(struct input *input, struct place *place) {
  static const char *const PATHS[] = {"/r", "/r/a", "/w", "/w/a", "/x/a", "/all", "/all/a", "/one", "/none", "/", "/rw"};
  static const mode_t MODES[] = {S_IFREG, S_IFDIR, S_IFLNK, S_IFCHR, S_IFIFO, S_IFDIR};
  memset(place, 0, sizeof *place);
  strcpy(place->real, PATHS[take(input) % (sizeof PATHS / sizeof PATHS[0])]);
  uint8_t kind = take(input);
  place->exists = kind % 4 != 0;
  /* Of what is not there too: another call may have left them, and nothing may follow from them. */
  place->facts.st_mode = MODES[kind / 4 % (sizeof MODES / sizeof MODES[0])];
}

static void make_launch(struct launch *launch) {
  static const struct grant GRANTS[] = {
      {OPERATION_READ, OPERATION_READ, true, "/r", 2}, {OPERATION_CREATE | OPERATION_MODIFY, 0, true, "/w", 2},
      {OPERATION_EXECUTE, 0, true, "/x", 2},           {OPERATIONS_ALL, OPERATIONS_ALL, true, "/all", 4},
      {OPERATION_READ | OPERATION_DELETE, 0, false, "/one", 4}};
  launch->grant_count = sizeof GRANTS / sizeof GRANTS[0];
  memcpy(launch->grants, GRANTS, sizeof GRANTS);
}

static void judge_made_up(struct input *places, const struct trapped_call *call) {
  static struct launch launch;
  static struct place first, second;
  if (launch.grant_count == 0) make_launch(&launch);
  make_place(places, &first);
  make_place(places, &second);
  struct parts *parts = malloc(sizeof *parts);
  memset(parts, STALE, sizeof *parts);
  int failed = parts_of(&launch, call, &first, &second, parts);
  must_hold(failed >= 0 && failed < 4096, "a refusal is an error of the kernel's", call->name);
  if (failed == 0) {
    bool destroys = false;
    must_hold(parts->count > 0 && parts->count <= PARTS_MAX, "no call passes without a part", call->name);
    for (size_t index = 0; index < parts->count; index++) {
      const struct part *part = &parts->list[index];
      must_hold(__builtin_popcount(part->operation) == 1 && (part->operation & ~OPERATIONS_ALL) == 0, "a part is one operation", call->name);
      must_hold(part->place == &first || (call->second.is_used && part->place == &second), "a part is at a place of the call", call->name);
      must_hold(part->gained_at == NULL || part->gained_at == (part->place == &first ? &second : &first), "rights are gained at the other name", call->name);
      destroys |= (part->operation & OPERATIONS_DESTRUCTIVE) != 0 && !S_ISCHR(part->place->facts.st_mode);
    }
    must_hold(parts->destroys == destroys, "what destroys is known as such", call->name);
    if (call->kind == CALL_RENAME || call->kind == CALL_LINK) check_pair(&launch, call, &first, &second, parts);
    else check_single(call, &first, parts);
  }
  free(parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (memory == NULL) {
    memory = mmap(NULL, MEMORY_BYTES + PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + MEMORY_BYTES, PAGE_BYTES, PROT_NONE) != 0) abort();
  }
  struct trapped_call *call = malloc(sizeof *call);
  struct input input = {.at = data, .end = data + size}, places = {.at = data, .end = data + (size < 4 ? size : 4)};
  input.at = places.end;
  if (read_made_up(&input, call)) judge_made_up(&places, call);
  free(call);
  return 0;
}

#ifdef SELF_DRIVEN
/* `fuzz ROUNDS`: calls with arguments of every kind, and memory full of short and long texts. */
int main(int argc, char **argv) {
  static uint8_t bytes[64 + MEMORY_BYTES];
  long rounds = argc > 1 ? atol(argv[1]) : 0;
  for (long round = 0; round < rounds; round++) {
    size_t head = 5 + draw(60), size = head + draw(draw(4) == 0 ? MEMORY_BYTES : 200);
    for (size_t index = 0; index < size; index++) bytes[index] = (uint8_t)draw(256);
    if (draw(2) == 0)
      for (size_t index = head; index < size; index++) bytes[index] = draw(40) == 0 ? 0 : (uint8_t)('a' + draw(26));
    if (draw(2) == 0) {
      /* An exchange of two names: the call with the most parts. */
      static const uint8_t EXCHANGE[] = {2, 2, 6, 0, 0, 2, 6, 0, 0, 5, 0, 13, 3, 'a', 0};
      memcpy(bytes + 4, EXCHANGE, sizeof EXCHANGE);
    }
    run_round(bytes, size);
  }
  printf("%ld rounds of calls\n", rounds);
  return 0;
}
#endif
