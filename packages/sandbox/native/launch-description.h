/*
 * The launch description: what the launcher is told, once, by the host. A list of records, each a tag, a length and
 * bytes; text carries its own NUL. Parsed in place: nothing is copied and nothing is allocated from a size it names.
 * Trusts the host for what it means, and nobody for its shape: it is fuzzed.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DESCRIPTION_BYTES_MAX = 4 << 20, ARGUMENTS_MAX = 8192, VARIABLES_MAX = 1024, PATHS_MAX = 4096 };
enum { LIMITS_MAX = 16, FILTER_MAX = 4096, KERNEL_WORDS_MAX = 4, COVERS_MAX = 16 };
/* Operations as bits; the order is that of the contract. */
enum operation {
  OPERATION_READ = 1, OPERATION_CREATE = 2, OPERATION_MODIFY = 4, OPERATION_DELETE = 8, OPERATION_EXECUTE = 16,
  OPERATIONS_DESTRUCTIVE = OPERATION_MODIFY | OPERATION_DELETE | OPERATION_EXECUTE,
  OPERATIONS_ALL = (1 << 5) - 1,
};

enum record_tag {
  RECORD_PROGRAM = 1, RECORD_ARGUMENT, RECORD_VARIABLE, RECORD_CWD, RECORD_WRITABLE, RECORD_MASK, RECORD_RIGHT, RECORD_GRANT,
  RECORD_FILTER, RECORD_LIMIT, RECORD_TERMS, RECORD_END, RECORD_KERNEL_WORDS = 20, RECORD_COVER, RECORD_CATCH,
};

/* Landlock rights on a path. */
struct path_right { uint64_t rights; const char *path; };

/* Operations that are allowed without a question. `landlocked`: those the kernel itself holds to the same path. */
struct grant {
  uint8_t operations, landlocked;
  bool is_tree;
  const char *path;
  size_t length;
};

/* Netlink messages of one protocol, as the kernel takes them. */
struct kernel_words { uint32_t protocol; const uint8_t *bytes; size_t size; };

/* A file of the host that the program sees at another path. */
struct cover { const char *source, *path; };
struct limit { uint32_t resource; uint64_t value; };

struct launch {
  const char *program, *cwd;
  /* Where connections are caught; 0: there is no gateway. */
  uint16_t catch_port;
  const uint8_t *filter;
  size_t filter_count;
  uint64_t handled_rights, scopes;
  uint32_t wall_ms;
  /* Its first stream is a terminal of its own, which it leads. */
  bool owns_terminal, has_terms;
  size_t argument_count, variable_count, writable_count, mask_count, right_count;
  size_t grant_count, limit_count, word_count, cover_count;
  /* The lists, from here on; the first two end in NULL. */
  const char *arguments[ARGUMENTS_MAX + 1];
  const char *variables[VARIABLES_MAX + 1];
  const char *writable[PATHS_MAX];
  const char *masks[PATHS_MAX];
  struct path_right rights[PATHS_MAX];
  struct grant grants[PATHS_MAX];
  struct limit limits[LIMITS_MAX];
  struct kernel_words words[KERNEL_WORDS_MAX];
  struct cover covers[COVERS_MAX];
};

/* Whether the bytes are a whole, well-formed description. On `false` the launch must not be used. */
bool parse_launch(const uint8_t *bytes, size_t size, struct launch *launch);
