/*
 * Does an allowed call on behalf of the program, on places that were reached. Never waits: only files, folders and
 * devices of endless bytes are opened, and opened without waiting.
 */
#pragma once
#include "place.h"

/* The descriptor of an open, 0 for any other call, or a negative error. */
int perform(const struct trapped_call *call, const struct place *first, const struct place *second);
