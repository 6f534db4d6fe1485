/* Text work on paths and answers. Fuzzed; see fuzz-parsers.c. */
#include "path-text.h"
#include <stdarg.h>
#include <string.h>

bool join_path(char *out, size_t size, const char *folder, const char *name) {
  size_t name_length = strlen(name);
  size_t folder_length = name[0] == '/' ? 0 : strlen(folder);
  while (folder_length > 0 && folder[folder_length - 1] == '/') folder_length--;
  bool needs_slash = name[0] != '/';
  if (folder_length + needs_slash + name_length >= size) return false;
  memmove(out, folder, folder_length);
  if (needs_slash) out[folder_length] = '/';
  memcpy(out + folder_length + needs_slash, name, name_length + 1);
  return true;
}

bool split_path(const char *path, char *folder, char *name, size_t size) {
  size_t end = strlen(path);
  if (end >= size) return false;
  while (end > 0 && path[end - 1] == '/') end--;
  size_t start = end;
  while (start > 0 && path[start - 1] != '/') start--;
  size_t length = end - start;
  if (length == 0 || length > 255) return false;
  memcpy(name, path + start, length);
  name[length] = 0;
  if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return false;
  if (start == 0) path = ".", start = 1;
  memcpy(folder, path, start);
  folder[start] = 0;
  return true;
}

bool is_plain_path(const char *path) {
  if (path[0] != '/') return false;
  for (const char *segment = path + 1;;) {
    size_t length = 0;
    while (segment[length] != 0 && segment[length] != '/') length++;
    if (length == 0 || (length == 1 && segment[0] == '.')) return false;
    if (length == 2 && segment[0] == '.' && segment[1] == '.') return false;
    if (segment[length] == 0) return true;
    segment += length + 1;
  }
}

/* How many bytes the character at `text` has; 0 where it is none. */
static size_t character_length(const unsigned char *text) {
  if (text[0] < 0x80) return 1;
  size_t length = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
  if (text[0] < 0xc2 || text[0] > 0xf4) return 0;
  for (size_t index = 1; index < length; index++)
    if ((text[index] & 0xc0) != 0x80) return 0;
  bool is_short = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
  return is_short || (text[0] == 0xed && text[1] > 0x9f) || (text[0] == 0xf4 && text[1] > 0x8f) ? 0 : length;
}

bool is_utf8(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  for (size_t length; *at != 0; at += length)
    if ((length = character_length(at)) == 0) return false;
  return true;
}

/* The digits, written before `end`. */
static const char *decimal(char *end, long number) {
  unsigned long left = number < 0 ? -(unsigned long)number : (unsigned long)number;
  *--end = 0;
  do *--end = (char)('0' + left % 10);
  while ((left /= 10) != 0);
  if (number < 0) *--end = '-';
  return end;
}

size_t append_text(char *out, size_t length, size_t size, const char *format, ...) {
  va_list words;
  va_start(words, format);
  for (const char *at = format; *at != 0 && length < size; at++) {
    char digits[24];
    const char *word = digits;
    if (*at != '%') {
      out[length++] = *at;
      continue;
    }
    if (*++at == 's') word = va_arg(words, const char *);
    else if (*at == 'd') word = decimal(digits + sizeof digits, va_arg(words, int));
    else at++, word = decimal(digits + sizeof digits, va_arg(words, long));
    while (*word != 0 && length < size) out[length++] = *word++;
  }
  va_end(words);
  if (length < size) out[length] = 0;
  return length;
}

size_t append_json(char *out, size_t length, size_t size, const char *text) {
  static const char HEX[16][2] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f"};
  for (const unsigned char *at = (const unsigned char *)text; *at != 0; at++) {
    if (length + 7 > size) return size;
    if (*at >= 0x20 && *at != 0x7f && *at != '"' && *at != '\\') out[length++] = (char)*at;
    else length = append_text(out, length, size, "\\u00%s%s", HEX[*at >> 4], HEX[*at & 15]);
  }
  if (length < size) out[length] = 0;
  return length;
}

/* Whether `path` is `folder` or lies below it; the root has length 0. */
static bool is_within(const char *path, const char *folder, size_t length) {
  if (length == 0) return true;
  return strncmp(path, folder, length) == 0 && (path[length] == 0 || path[length] == '/');
}

static bool covers(const struct grant *grant, const char *path) {
  return grant->is_tree ? is_within(path, grant->path, grant->length) : strcmp(path, grant->path) == 0;
}

enum holder { BY_GRANT, BY_TREE, BY_LANDLOCK };

static unsigned held(const struct launch *launch, const char *path, unsigned operations, enum holder by) {
  unsigned found = 0;
  for (const struct grant *grant = launch->grants; grant < launch->grants + launch->grant_count && found != operations; grant++)
    if (covers(grant, path) && (by != BY_TREE || grant->is_tree))
      found |= (by == BY_LANDLOCK ? grant->landlocked : grant->operations) & operations;
  return found;
}

unsigned granted(const struct launch *launch, const char *path, unsigned wanted) { return held(launch, path, wanted, BY_GRANT); }
unsigned granted_whole(const struct launch *launch, const char *path, unsigned wanted) { return held(launch, path, wanted, BY_TREE); }
unsigned landlocked(const struct launch *launch, const char *path, unsigned wanted) { return held(launch, path, wanted, BY_LANDLOCK); }

unsigned granted_below(const struct launch *launch, const char *path, unsigned operations) {
  unsigned found = granted(launch, path, operations);
  size_t length = path[1] == 0 ? 0 : strlen(path);
  for (size_t index = 0; index < launch->grant_count && found != operations; index++)
    if (is_within(launch->grants[index].path, path, length)) found |= launch->grants[index].operations & operations;
  return found;
}

unsigned long read_decimal(const char *text, size_t length) {
  unsigned long number = 0;
  for (size_t at = 0; at < length; at++) {
    if (text[at] < '0' || text[at] > '9' || length > 15) return 0;
    number = number * 10 + (unsigned long)(text[at] - '0');
  }
  return number;
}

struct answer parse_answer(const char *line, size_t length) {
  static const char *const WORDS[] = {
      [ANSWER_ALLOW] = "\"allow ", [ANSWER_DENY] = "\"deny ", [ANSWER_NARROW] = "\"narrow\"", [ANSWER_TAKEN] = "{\"cmd\":\"NODE_HANDLE_ACK\"}"};
  struct answer none = {.kind = ANSWER_NONE};
  for (enum answer_kind kind = ANSWER_ALLOW; kind <= ANSWER_TAKEN; kind++) {
    size_t prefix = strlen(WORDS[kind]);
    if (length < prefix || memcmp(line, WORDS[kind], prefix) != 0) continue;
    if (kind == ANSWER_NARROW || kind == ANSWER_TAKEN) return length == prefix ? (struct answer){.kind = kind} : none;
    unsigned long id = line[length - 1] == '"' ? read_decimal(line + prefix, length - 1 - prefix) : 0;
    return id == 0 ? none : (struct answer){.kind = kind, .id = id};
  }
  return none;
}
