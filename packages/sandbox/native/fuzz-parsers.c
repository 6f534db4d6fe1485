/*
 * Fuzz target of everything that reads foreign bytes as text: the launch description, answers, paths. With libFuzzer or
 * AFL++ `LLVMFuzzerTestOneInput` is the entry; with a plain compiler it mutates its own seeds, so many rounds as said.
 *   cc -g -fsanitize=address,undefined -DSELF_DRIVEN fuzz-parsers.c launch-description.c path-text.c -o fuzz && ./fuzz 100000
 */
#include "launch-description.h"
#include "path-text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *sentence) {
  if (holds) return;
  fprintf(stderr, "does not hold: %s\n", sentence);
  abort();
}

static void fuzz_path(const char *path) {
  char folder[PATH_BYTES_MAX], name[PATH_BYTES_MAX], joined[PATH_BYTES_MAX], line[PATH_BYTES_MAX];
  if (split_path(path, folder, name, sizeof folder)) {
    check(strchr(name, '/') == NULL && name[0] != 0, "a last name is one name");
    if (join_path(joined, sizeof joined, folder, name)) check(strlen(joined) < sizeof joined, "a path fits");
  }
  size_t length = append_json(line, 0, sizeof line, path);
  if (length < sizeof line)
    for (size_t index = 0; index < length; index++)
      check((unsigned char)line[index] >= 0x20, "a message holds no control character");
  (void)is_utf8(path);
}

static void fuzz_launch(const uint8_t *data, size_t size, const char *path) {
  static struct launch launch;
  if (!parse_launch(data, size, &launch)) return;
  check(launch.program != NULL && launch.filter != NULL && launch.handled_rights != 0, "a launch is whole");
  for (unsigned operation = 1; operation <= OPERATIONS_ALL; operation <<= 1) {
    unsigned all = granted(&launch, path, OPERATIONS_ALL);
    check((landlocked(&launch, path, operation) & ~all) == 0, "what Landlock holds is granted");
    check((granted_whole(&launch, path, operation) & ~all) == 0, "a tree grants its own root");
    if (path[0] == '/') check((all & ~granted_below(&launch, path, OPERATIONS_ALL)) == 0, "below includes the path");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char text[PATH_BYTES_MAX];
  size_t length = size < sizeof text - 1 ? size : sizeof text - 1;
  memcpy(text, data, length);
  text[length] = 0;
  fuzz_path(text);
  fuzz_launch(data, size, text[0] == '/' ? text : "/a/b");
  struct answer answer = parse_answer((const char *)data, size);
  check(answer.kind != ANSWER_ALLOW || (size > 8 && memcmp(data, "\"allow ", 7) == 0), "only the word allows");
  return 0;
}

#ifdef SELF_DRIVEN
static uint64_t state = 88172645463325252ull;
static uint32_t draw(uint32_t below) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (uint32_t)(state % below);
}

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
    check(LLVMFuzzerTestOneInput(seeds[count], sizes[count]) == 0, "a seed runs");
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
    /* WHY a copy of its exact size: the sanitizer then sees one byte too far. */
    uint8_t *exact = malloc(size == 0 ? 1 : size);
    memcpy(exact, work, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
  }
  printf("%ld rounds from %zu seeds\n", rounds, count);
  return 0;
}
#endif
