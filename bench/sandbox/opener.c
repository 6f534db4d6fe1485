/* Opens and closes a file many times and prints the nanoseconds of one, the best of ten batches. `opener FILE COUNT` */
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

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  long count = atol(argv[2]) / 10;
  double best = 1e18;
  for (int batch = 0; batch < 10; batch++) {
    double start = now();
    for (long index = 0; index < count; index++) {
      int fd = open(argv[1], O_RDONLY);
      if (fd < 0) return 1;
      close(fd);
    }
    double each = (now() - start) / (double)count;
    if (each < best) best = each;
  }
  printf("%.0f\n", best);
  return 0;
}
