/* Bytes and text, as the headers declare them; compilers call some of these by themselves. */
#include "kernel-interface.h"

/* INVARIANT: in every loop that copies, fills or counts. Else a compiler takes it for the call that it is the body of. */
#define STEP(at, size) at += (size), ({ __asm__ volatile(""); })

/* Upwards: also right where `to` lies below `from` and they overlap. */
void *memcpy(void *to, const void *from, size_t size) {
  size_t at = 0;
  for (; size - at >= 8; STEP(at, 8)) __builtin_memcpy((char *)to + at, (const char *)from + at, 8);
  for (; at < size; STEP(at, 1)) ((char *)to)[at] = ((const char *)from)[at];
  return to;
}

void *memmove(void *to, const void *from, size_t size) {
  if ((uintptr_t)to <= (uintptr_t)from) return memcpy(to, from, size);
  for (; size > 0; STEP(size, -1)) ((char *)to)[size - 1] = ((const char *)from)[size - 1];
  return to;
}

void *memset(void *to, int byte, size_t size) {
  uint64_t word = (unsigned char)byte * 0x0101010101010101ull;
  size_t at = 0;
  for (; size - at >= 8; STEP(at, 8)) __builtin_memcpy((char *)to + at, &word, 8);
  for (; at < size; STEP(at, 1)) ((char *)to)[at] = (char)byte;
  return to;
}

int memcmp(const void *left, const void *right, size_t size) {
  const unsigned char *one = left, *other = right;
  while (size > 0 && *one == *other) one++, other++, size--;
  return size == 0 ? 0 : *one - *other;
}

void *memchr(const void *bytes, int byte, size_t size) {
  const unsigned char *at = bytes;
  while (size > 0 && *at != (unsigned char)byte) at++, size--;
  return size == 0 ? NULL : (void *)at;
}

size_t strlen(const char *text) {
  size_t length = 0;
  for (; text[length] != 0; STEP(length, 1)) continue;
  return length;
}

int strncmp(const char *left, const char *right, size_t size) {
  while (size > 0 && *left == *right && *left != 0) left++, right++, size--;
  return size == 0 ? 0 : (unsigned char)*left - (unsigned char)*right;
}

int strcmp(const char *left, const char *right) { return strncmp(left, right, SIZE_MAX); }
