/* Parses the launch description. Every length is compared with what is left before it is used. */
#include "launch-description.h"
#include "path-text.h"
#include <string.h>

static const uint8_t MAGIC[8] = {'S', 'P', 'L', 'N', 'C', 'H', '0', '1'};

static uint64_t read_number(const uint8_t *bytes, size_t size) {
  uint64_t value = 0;
  for (size_t index = size; index > 0; index--) value = value << 8 | bytes[index - 1];
  return value;
}

/* Text with exactly one NUL, at its end. */
static const char *read_text(const uint8_t *bytes, size_t size) {
  if (size == 0 || memchr(bytes, 0, size) != bytes + size - 1) return NULL;
  return (const char *)bytes;
}

/* An absolute path without empty, `.` and `..` segments, and without a trailing slash. */
static const char *read_path(const uint8_t *bytes, size_t size) {
  const char *path = read_text(bytes, size);
  if (path == NULL || path[0] != '/' || size > 4096) return NULL;
  return path[1] == 0 || is_plain_path(path) ? path : NULL;
}

static bool add_text(const char **list, size_t *count, size_t max, const char *text) {
  if (text == NULL || *count >= max) return false;
  list[(*count)++] = text;
  return true;
}

static bool set_text(const char **place, const char *text) {
  if (text == NULL || *place != NULL) return false;
  *place = text;
  return true;
}

static bool add_right(struct launch *launch, const uint8_t *bytes, size_t size) {
  if (size < 8 || launch->right_count >= PATHS_MAX) return false;
  const char *path = read_path(bytes + 8, size - 8);
  if (path == NULL) return false;
  launch->rights[launch->right_count++] = (struct path_right){.rights = read_number(bytes, 8), .path = path};
  return true;
}

static bool add_grant(struct launch *launch, const uint8_t *bytes, size_t size) {
  if (size < 3 || launch->grant_count >= PATHS_MAX) return false;
  if (bytes[0] > OPERATIONS_ALL || (bytes[1] & ~bytes[0]) != 0 || bytes[2] > 1) return false;
  const char *path = read_path(bytes + 3, size - 3);
  if (path == NULL) return false;
  size_t length = path[1] == 0 ? 0 : strlen(path);
  launch->grants[launch->grant_count++] = (struct grant){bytes[0], bytes[1], bytes[2] == 1, path, length};
  return true;
}

static bool add_limit(struct launch *launch, const uint8_t *bytes, size_t size) {
  if (size != 12 || launch->limit_count >= LIMITS_MAX) return false;
  launch->limits[launch->limit_count++] = (struct limit){(uint32_t)read_number(bytes, 4), read_number(bytes + 4, 8)};
  return true;
}

static bool add_words(struct launch *launch, const uint8_t *bytes, size_t size) {
  if (size <= 4 || launch->word_count >= KERNEL_WORDS_MAX) return false;
  launch->words[launch->word_count++] = (struct kernel_words){(uint32_t)read_number(bytes, 4), bytes + 4, size - 4};
  return true;
}

static bool add_cover(struct launch *launch, const uint8_t *bytes, size_t size) {
  const uint8_t *end = size == 0 ? NULL : memchr(bytes, 0, size);
  if (end == NULL || launch->cover_count >= COVERS_MAX) return false;
  size_t first = (size_t)(end - bytes) + 1;
  struct cover cover = {.source = read_path(bytes, first), .path = read_path(bytes + first, size - first)};
  if (cover.source == NULL || cover.path == NULL) return false;
  launch->covers[launch->cover_count++] = cover;
  return true;
}

static bool set_catch(struct launch *launch, const uint8_t *bytes, size_t size) {
  if (launch->catch_port != 0 || size != 2) return false;
  launch->catch_port = (uint16_t)read_number(bytes, 2);
  return launch->catch_port != 0;
}

static bool set_filter(struct launch *launch, const uint8_t *bytes, size_t size) {
  if (launch->filter != NULL || size == 0 || size % 8 != 0 || size / 8 > FILTER_MAX) return false;
  launch->filter = bytes;
  launch->filter_count = size / 8;
  return true;
}

static bool set_terms(struct launch *launch, const uint8_t *bytes, size_t size) {
  if (launch->has_terms || size != 21 || bytes[20] > 1) return false;
  launch->handled_rights = read_number(bytes, 8);
  launch->scopes = read_number(bytes + 8, 8);
  launch->wall_ms = (uint32_t)read_number(bytes + 16, 4);
  launch->owns_terminal = bytes[20] == 1;
  launch->has_terms = true;
  return true;
}

static bool take_record(struct launch *launch, uint8_t tag, const uint8_t *bytes, size_t size) {
  switch (tag) {
    case RECORD_PROGRAM: return set_text(&launch->program, read_path(bytes, size));
    case RECORD_CWD: return set_text(&launch->cwd, read_path(bytes, size));
    case RECORD_ARGUMENT:
      return add_text(launch->arguments, &launch->argument_count, ARGUMENTS_MAX, read_text(bytes, size));
    case RECORD_VARIABLE:
      return add_text(launch->variables, &launch->variable_count, VARIABLES_MAX, read_text(bytes, size));
    case RECORD_WRITABLE: return add_text(launch->writable, &launch->writable_count, PATHS_MAX, read_path(bytes, size));
    case RECORD_MASK: return add_text(launch->masks, &launch->mask_count, PATHS_MAX, read_path(bytes, size));
    case RECORD_RIGHT: return add_right(launch, bytes, size);
    case RECORD_GRANT: return add_grant(launch, bytes, size);
    case RECORD_FILTER: return set_filter(launch, bytes, size);
    case RECORD_LIMIT: return add_limit(launch, bytes, size);
    case RECORD_TERMS: return set_terms(launch, bytes, size);
    case RECORD_KERNEL_WORDS: return add_words(launch, bytes, size);
    case RECORD_COVER: return add_cover(launch, bytes, size);
    case RECORD_CATCH: return set_catch(launch, bytes, size);
    default: return false;
  }
}

/* INVARIANT: a description without a filter, terms or rights to handle is no description: nothing starts unconfined. */
static bool is_whole(struct launch *launch) {
  launch->arguments[launch->argument_count] = launch->variables[launch->variable_count] = NULL;
  return launch->program != NULL && launch->cwd != NULL && launch->argument_count > 0 && launch->filter != NULL &&
         launch->has_terms && launch->handled_rights != 0;
}

bool parse_launch(const uint8_t *bytes, size_t size, struct launch *launch) {
  /* WHY not the lists: they are large, and only what a count reaches is ever read. */
  memset(launch, 0, offsetof(struct launch, arguments));
  if (size > DESCRIPTION_BYTES_MAX || size < sizeof MAGIC || memcmp(bytes, MAGIC, sizeof MAGIC) != 0) return false;
  for (size_t at = sizeof MAGIC; size - at >= 5;) {
    uint8_t tag = bytes[at];
    size_t length = (size_t)read_number(bytes + at + 1, 4);
    at += 5;
    if (tag == RECORD_END) return length == 0 && at == size && is_whole(launch);
    if (length > size - at || !take_record(launch, tag, bytes + at, length)) return false;
    at += length;
  }
  return false;
}
