/* What a call means, as the specification says it. */
#include "kernel-interface.h"
#include "parts.h"

const char *operation_word(unsigned operation) {
  static const char *const WORDS[] = {"read", "create", "modify", "delete", "execute"};
  return WORDS[__builtin_ctz(operation & OPERATIONS_ALL)];
}

static void need_if(struct parts *parts, unsigned operation, const struct place *place, const struct place *gained_at) {
  for (size_t index = 0; index < parts->count; index++)
    if (parts->list[index].operation == operation && parts->list[index].place == place) return;
  parts->destroys |= (operation & OPERATIONS_DESTRUCTIVE) != 0 && !S_ISCHR(place->facts.st_mode);
  if (parts->count < PARTS_MAX) parts->list[parts->count++] = (struct part){operation, place, gained_at};
}

static void need(struct parts *parts, unsigned operation, const struct place *place) {
  need_if(parts, operation, place, NULL);
}

static int open_parts(const struct trapped_call *call, const struct place *place, struct parts *parts) {
  int flags = call->flags, mode = flags & O_ACCMODE;
  /* WHY: a file without a name has no target; programs then make a named one. */
  if ((flags & O_TMPFILE) == O_TMPFILE) return EOPNOTSUPP;
  if ((flags & O_CREAT) != 0 && (call->mode & (S_ISUID | S_ISGID)) != 0) return EPERM;
  if (!place->exists) {
    if ((flags & O_CREAT) == 0) return ENOENT;
    need(parts, OPERATION_CREATE, place);
    if (mode != O_WRONLY) need(parts, OPERATION_READ, place);
    return 0;
  }
  if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) return EEXIST;
  if (S_ISLNK(place->facts.st_mode)) return ELOOP;
  if (mode != O_WRONLY) need(parts, OPERATION_READ, place);
  if (mode != O_RDONLY || (flags & O_TRUNC) != 0) need(parts, OPERATION_MODIFY, place);
  return 0;
}

/*
 * Rights that an object would gain by its new name are needed at the old one too. For a folder this means all below:
 * whatever a rule gives anywhere below the new name must be given for the whole old one. What no rule gives there an
 * approval may, of which only the broker knows: that part is needed if it passes at the new name.
 */
static void need_gained(const struct launch *launch, unsigned operations, const struct place *from,
                        const struct place *to, struct parts *parts) {
  bool is_folder = S_ISDIR(from->facts.st_mode);
  unsigned gained = is_folder ? granted_below(launch, to->real, operations) : granted(launch, to->real, operations);
  unsigned had = is_folder ? granted_whole(launch, from->real, operations) : granted(launch, from->real, operations);
  for (unsigned operation = 1; operation <= OPERATIONS_ALL; operation <<= 1)
    if ((operations & ~had & operation) != 0) need_if(parts, operation, from, (gained & operation) != 0 ? NULL : to);
}

static int rename_parts(const struct launch *launch, const struct trapped_call *call, const struct place *from,
                        const struct place *to, struct parts *parts) {
  if (!from->exists) return ENOENT;
  if ((call->flags & RENAME_WHITEOUT) != 0) return EPERM;
  if (to->exists && (call->flags & RENAME_NOREPLACE) != 0) return EEXIST;
  unsigned gains = OPERATION_READ | OPERATION_EXECUTE;
  need(parts, OPERATION_DELETE, from);
  need(parts, to->exists ? OPERATION_MODIFY : OPERATION_CREATE, to);
  /* WHY: a folder brings along what is in it, also where it takes the place of another one. */
  if (S_ISDIR(from->facts.st_mode)) need(parts, OPERATION_CREATE, to);
  need_gained(launch, gains, from, to, parts);
  if ((call->flags & RENAME_EXCHANGE) == 0) return 0;
  if (!to->exists) return ENOENT;
  need(parts, OPERATION_DELETE, to);
  need(parts, OPERATION_MODIFY, from);
  if (S_ISDIR(to->facts.st_mode)) need(parts, OPERATION_CREATE, from);
  need_gained(launch, gains, to, from, parts);
  return 0;
}

static int link_parts(const struct launch *launch, const struct place *from, const struct place *to, struct parts *parts) {
  if (!from->exists) return ENOENT;
  if (to->exists) return EEXIST;
  need(parts, OPERATION_READ, from);
  need(parts, OPERATION_CREATE, to);
  need_gained(launch, OPERATION_READ | OPERATION_EXECUTE | OPERATION_MODIFY, from, to, parts);
  return 0;
}

static int one_part(unsigned operation, const struct place *place, struct parts *parts) {
  if (place->exists) need(parts, operation, place);
  return place->exists ? 0 : ENOENT;
}

int parts_of(const struct launch *launch, const struct trapped_call *call, const struct place *first,
             const struct place *second, struct parts *parts) {
  parts->count = 0;
  parts->destroys = false;
  switch (call->kind) {
    case CALL_OPEN: return open_parts(call, first, parts);
    case CALL_RENAME: return rename_parts(launch, call, first, second, parts);
    case CALL_LINK: return link_parts(launch, first, second, parts);
    case CALL_SYMLINK:
    case CALL_MKDIR:
      if (first->exists) return EEXIST;
      need(parts, OPERATION_CREATE, first);
      return 0;
    case CALL_MKNOD:
      if (first->exists) return EEXIST;
      if (!S_ISREG(call->mode) && !S_ISFIFO(call->mode) && (call->mode & S_IFMT) != 0) return EPERM;
      if ((call->mode & (S_ISUID | S_ISGID)) != 0) return EPERM;
      need(parts, OPERATION_CREATE, first);
      return 0;
    case CALL_UNLINK: return one_part(OPERATION_DELETE, first, parts);
    case CALL_EXECUTE: return one_part(OPERATION_EXECUTE, first, parts);
    case CALL_CHMOD:
      /* WHY: a program that runs as its owner for everybody would carry the boundary's user out of the boundary. */
      if ((call->mode & S_ISUID) != 0 || ((call->mode & S_ISGID) != 0 && !S_ISDIR(first->facts.st_mode))) return EPERM;
      __attribute__((fallthrough));
    default: return one_part(OPERATION_MODIFY, first, parts);
  }
}
