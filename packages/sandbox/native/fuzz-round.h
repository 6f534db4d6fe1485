/*
 * What the fuzz targets share: a sentence that must hold, and rounds of their own for where no fuzzer drives them. Numbers
 * are drawn from one fixed seed, so that a run can be repeated.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The entry of libFuzzer and AFL++. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* `about`: what it did not hold for; may be NULL. */
static inline void must_hold(bool holds, const char *sentence, const char *about) {
  if (holds) return;
  fprintf(stderr, "does not hold: %s (`%s`)\n", sentence, about == NULL ? "" : about);
  abort();
}

#ifdef SELF_DRIVEN
static inline uint32_t draw(uint32_t below) {
  static uint64_t state = 88172645463325252ull;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (uint32_t)(state % below);
}

/* WHY a copy of its exact size: the sanitizer then sees one byte too far. */
static inline void run_round(const uint8_t *bytes, size_t size) {
  uint8_t *exact = malloc(size == 0 ? 1 : size);
  memcpy(exact, bytes, size);
  (void)LLVMFuzzerTestOneInput(exact, size);
  free(exact);
}
#endif
