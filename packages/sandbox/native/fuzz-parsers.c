/*
 * Fuzz target of everything that reads foreign bytes as text: the launch description, answers, paths. With libFuzzer or
 * AFL++ `LLVMFuzzerTestOneInput` is the entry; with a plain compiler it mutates its own seeds, so many rounds as said.
 *   cc -g -fsanitize=address,undefined -DSELF_DRIVEN fuzz-parsers.c launch-description.c path-text.c -o fuzz && ./fuzz 100000
 */
#include "fuzz-round.h"
#include "launch-description.h"
#include "path-text.h"

static void fuzz_path(const char *path) {
  char folder[PATH_BYTES_MAX], name[PATH_BYTES_MAX], joined[PATH_BYTES_MAX], line[PATH_BYTES_MAX];
  if (split_path(path, folder, name, sizeof folder)) {
    must_hold(strchr(name, '/') == NULL && name[0] != 0, "a last name is one name", NULL);
    if (join_path(joined, sizeof joined, folder, name)) must_hold(strlen(joined) < sizeof joined, "a path fits", NULL);
  }
  size_t length = append_json(line, 0, sizeof line, path);
  if (length < sizeof line)
    for (size_t index = 0; index < length; index++)
      must_hold((unsigned char)line[index] >= 0x20, "a message holds no control character", NULL);
  (void)is_utf8(path);
}

static void fuzz_grants(const struct launch *launch, const char *path) {
  unsigned all = granted(launch, path, OPERATIONS_ALL);
  for (unsigned operation = 1; operation <= OPERATIONS_ALL; operation <<= 1) {
    must_hold((landlocked(launch, path, operation) & ~all) == 0, "what Landlock holds is granted", path);
    must_hold((granted_whole(launch, path, operation) & ~all) == 0, "a tree grants its own root", path);
  }
  if (path[0] == '/') must_hold((all & ~granted_below(launch, path, OPERATIONS_ALL)) == 0, "below includes the path", path);
}

static void fuzz_launch(const uint8_t *data, size_t size) {
  static struct launch launch;
  if (!parse_launch(data, size, &launch)) return;
  must_hold(launch.program != NULL && launch.filter != NULL && launch.handled_rights != 0, "a launch is whole", NULL);
  fuzz_grants(&launch, "/a/b");
  fuzz_grants(&launch, launch.program);
  for (size_t index = 0; index < launch.grant_count && index < 16; index++) {
    const struct grant *grant = &launch.grants[index];
    fuzz_grants(&launch, grant->path);
    must_hold(granted(&launch, grant->path, grant->operations) == grant->operations, "a grant covers its own path", grant->path);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char text[PATH_BYTES_MAX];
  size_t length = size < sizeof text - 1 ? size : sizeof text - 1;
  memcpy(text, data, length);
  text[length] = 0;
  fuzz_path(text);
  fuzz_launch(data, size);
  struct answer answer = parse_answer((const char *)data, size);
  must_hold(answer.kind != ANSWER_ALLOW || (size > 8 && memcmp(data, "\"allow ", 7) == 0), "only the word allows", NULL);
  return 0;
}

#ifdef SELF_DRIVEN
/* `fuzz ROUNDS [SEED_FILE…]` */
int main(int argc, char **argv) {
  static uint8_t seeds[64][1 << 16], work[(1 << 16) + 64];
  size_t sizes[64], count = 0;
  static const char *const TEXTS[] = {"\"allow 12\"", "\"deny 7\"", "\"narrow\"", "/a/../b//c/.", "\xf0\x9f\x98\x80/\xc3"};
  for (; count < 5; count++) memcpy(seeds[count], TEXTS[count], sizes[count] = strlen(TEXTS[count]));
  for (int index = 2; index < argc && count < 64; index++) {
    FILE *file = fopen(argv[index], "rb");
    if (file == NULL) return 2;
    sizes[count] = fread(seeds[count], 1, sizeof seeds[0], file);
    fclose(file);
    must_hold(LLVMFuzzerTestOneInput(seeds[count], sizes[count]) == 0, "a seed runs", NULL);
    count++;
  }
  long rounds = argc > 1 ? atol(argv[1]) : 0;
  for (long round = 0; round < rounds; round++) {
    size_t seed = draw((uint32_t)count), size = sizes[seed];
    memcpy(work, seeds[seed], size);
    for (uint32_t change = draw(6); change > 0 && size > 0; change--) {
      uint32_t at = draw((uint32_t)size);
      switch (draw(4)) {
        case 0: work[at] = (uint8_t)draw(256); break;
        case 1: work[at] ^= (uint8_t)(1u << draw(8)); break;
        case 2: size = at; break;
        default: memmove(work + at, work + draw((uint32_t)size), draw((uint32_t)(size - at)) % 32 % (size - at)); break;
      }
    }
    run_round(work, size);
  }
  printf("%ld rounds from %zu seeds\n", rounds, count);
  return 0;
}
#endif
