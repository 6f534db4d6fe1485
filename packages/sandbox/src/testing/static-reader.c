/* A program without libraries: prints a file, twice opened, by bare system calls. `static-reader PATH` */
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char bytes[256];
  for (int round = 0; round < 2; round++) {
    int fd = argc == 2 ? (int)syscall(SYS_openat, AT_FDCWD, argv[1], O_RDONLY) : -1;
    ssize_t length = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    if (length < 0 || write(1, bytes, (size_t)length) != length) return 1;
    close(fd);
  }
  return 0;
}
