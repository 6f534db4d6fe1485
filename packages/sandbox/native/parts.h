/*
 * The parts of a call: which operation is needed at which place. All must pass. Pure, but for the places it is given.
 */
#pragma once
#include "place.h"

enum { PARTS_MAX = 10 };

struct part {
  unsigned operation;
  const struct place *place;
  /* Needed only where it passes there: a right that the object would gain by its new name. NULL: always needed. */
  const struct place *gained_at;
};

struct parts {
  struct part list[PARTS_MAX];
  size_t count;
  /* Something may be lost by it; a device has nothing to lose. */
  bool destroys;
};

/* 0, or the error that the call gets whatever is allowed. */
int parts_of(const struct launch *launch, const struct trapped_call *call, const struct place *first,
             const struct place *second, struct parts *parts);
/* The word of an operation in messages. */
const char *operation_word(unsigned operation);
