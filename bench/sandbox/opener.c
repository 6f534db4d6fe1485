/*
 * Opens and closes a file many times and prints the nanoseconds of one, in the best batch. `opener FILE COUNT`
 * WHY short batches: one that fits between two turns of other programs shows what an open takes on a busy machine too.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

enum { BATCH = 50 };

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  double best = 1e18;
  for (long batches = atol(argv[2]) / BATCH; batches > 0; batches--) {
    double start = now();
    for (int index = 0; index < BATCH; index++) {
      int fd = open(argv[1], O_RDONLY);
      if (fd < 0) return 1;
      close(fd);
    }
    double each = (now() - start) / BATCH;
    if (each < best) best = each;
  }
  printf("%.0f\n", best);
  return 0;
}
