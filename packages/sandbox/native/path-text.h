/*
 * Paths as text: joined, compared with grants, written into messages. Pure: no system call, no allocation, every
 * buffer has its size beside it. Trusts no byte of a path.
 */
#pragma once
#include "launch-description.h"

enum { PATH_BYTES_MAX = 4096 };
/* Folder and name joined; a name that starts with `/` stands alone. `false` where it does not fit. */
bool join_path(char *out, size_t size, const char *folder, const char *name);
/* A path cut into its folder and its last name; trailing slashes go. `false` where the last name is none (`.`, `..`, the root). */
bool split_path(const char *path, char *folder, char *name, size_t size);
/* Whether a path is absolute and has no empty, `.` or `..` segment and no trailing slash. */
bool is_plain_path(const char *path);
/* Whether every byte belongs to well-formed UTF-8. */
bool is_utf8(const char *text);
/* Appends text, in which `%s`, `%d` and `%lu` stand for words and numbers; the new length, or `size` where it does not fit. */
size_t append_text(char *out, size_t length, size_t size, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Appends text as the inside of a JSON string; the new length, or `size` where it does not fit. */
size_t append_json(char *out, size_t length, size_t size, const char *text);
/* Those of the operations that some grant covers at this real path; `landlocked`: that the kernel holds too. */
unsigned granted(const struct launch *launch, const char *path, unsigned operations);
unsigned landlocked(const struct launch *launch, const char *path, unsigned operations);
/* Those of the operations that a grant covers anywhere below a folder, itself included. */
unsigned granted_below(const struct launch *launch, const char *path, unsigned operations);
/* Those of the operations that a tree covers: the path and all below it. */
unsigned granted_whole(const struct launch *launch, const char *path, unsigned operations);
/* The number that all of the text is, 0 where it is none or too long to be one. */
unsigned long read_decimal(const char *text, size_t length);
/* The answer of the broker: one line, a JSON string such as "allow 12". `taken`: a descriptor arrived. */
enum answer_kind { ANSWER_NONE, ANSWER_ALLOW, ANSWER_DENY, ANSWER_NARROW, ANSWER_TAKEN };
struct answer { enum answer_kind kind; unsigned long id; };
struct answer parse_answer(const char *line, size_t length);
