/*
 * Makes every call of the matrix, each in a folder of its own, and prints its name and error number, 0 where it went
 * through. The host has put into each folder: f and g (files), d (an empty folder), s (a link to f), h (a link to
 * nothing), x (a program). `call-program ROOT…`: all calls in each root, whose number stands before them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

static int root_number;
static int here; /* the folder of this call, as a bare place */

static int tell(const char *name, long result) {
  printf("%d %s %d\n", root_number, name, result < 0 ? errno : 0);
  return result >= 0 ? (int)result : -1;
}

/* An open that must also do what it was opened for. */
static long opened(const char *name, int flags, int mode) {
  int fd = openat(AT_FDCWD, name, flags, mode);
  if (fd < 0) return -1;
  char byte = 'n';
  int access = flags & O_ACCMODE;
  if (access != O_RDONLY && write(fd, &byte, 1) != 1) return -1;
  if (access != O_WRONLY && (flags & O_DIRECTORY) == 0 && pread(fd, &byte, 1, 0) < 0) return -1;
  close(fd);
  return 0;
}

static long on_reading_descriptor(long (*act)(int fd)) {
  int fd = open("f", O_RDONLY);
  return fd < 0 ? -1 : act(fd);
}

static long act_fchmod(int fd) { return fchmod(fd, 0640); }
static long act_fchown(int fd) { return fchown(fd, -1, -1); }
static long act_futimens(int fd) { return futimens(fd, NULL); }
static long act_fsetxattr(int fd) { return fsetxattr(fd, "user.n", "v", 1, 0); }

static long started(long (*start)(void)) {
  pid_t child = fork();
  if (child == 0) {
    start();
    _exit(errno);
  }
  int status;
  if (waitpid(child, &status, 0) < 0) return -1;
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : EFAULT;
  return errno == 0 ? 0 : -1;
}

static char *const ARGUMENTS[] = {"x", NULL};
static char *const VARIABLES[] = {NULL};
static long start_execve(void) { return execve("x", ARGUMENTS, VARIABLES); }
static long start_execveat(void) { return syscall(SYS_execveat, here, "x", ARGUMENTS, VARIABLES, 0); }
static long start_through_link(void) { return execve("../execve_link_target", ARGUMENTS, VARIABLES); }

static long removed_attribute(void) {
  if (setxattr("f", "user.n", "v", 1, 0) != 0) return -1;
  return removexattr("f", "user.n");
}

static long truncated_descriptor(void) {
  int fd = open("f", O_WRONLY);
  return fd < 0 ? -1 : ftruncate(fd, 1);
}

static void enter(const char *root, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", root, name);
  if (chdir(path) != 0) {
    printf("%s cannot be entered\n", name);
    exit(1);
  }
  if (here > 0) close(here);
  here = open(".", O_PATH | O_DIRECTORY);
}

#define CALL(name, expression) \
  enter(root, #name);          \
  tell(#name, (long)(expression))

static void call_all(const char *root) {
  struct stat facts;
  char text[64];
  struct timeval times[2] = {{1, 0}, {2, 0}};
  CALL(stat, stat("f", &facts));
  CALL(access, access("f", R_OK));
  CALL(readlink, readlink("s", text, sizeof text));
  CALL(open_read, opened("f", O_RDONLY, 0));
  CALL(open_read_through_link, opened("s", O_RDONLY, 0));
  CALL(open_read_folder, opened("d", O_RDONLY | O_DIRECTORY, 0));
  CALL(openat_place_read, syscall(SYS_openat, here, "f", O_RDONLY));
  CALL(open_write, opened("f", O_WRONLY, 0));
  CALL(open_write_through_link, opened("s", O_WRONLY, 0));
  CALL(open_append, opened("f", O_WRONLY | O_APPEND, 0));
  CALL(open_truncate, opened("f", O_WRONLY | O_TRUNC, 0));
  CALL(open_read_truncate, opened("f", O_RDONLY | O_TRUNC, 0));
  CALL(open_read_write, opened("f", O_RDWR, 0));
  CALL(open_create_existing, opened("f", O_WRONLY | O_CREAT, 0644));
  CALL(open_create_new, opened("n", O_WRONLY | O_CREAT, 0644));
  CALL(open_create_exclusive, opened("n", O_WRONLY | O_CREAT | O_EXCL, 0644));
  CALL(open_create_append_new, opened("n", O_WRONLY | O_CREAT | O_APPEND, 0644));
  CALL(open_create_truncate_new, opened("n", O_WRONLY | O_CREAT | O_TRUNC, 0644));
  CALL(open_create_read_write_new, opened("n", O_RDWR | O_CREAT, 0644));
  CALL(open_create_behind_link, opened("h", O_WRONLY | O_CREAT, 0644));
  CALL(truncate, truncate("f", 1));
  CALL(ftruncate, truncated_descriptor());
  CALL(unlinkat, unlinkat(here, "f", 0));
  CALL(unlinkat_link, unlinkat(here, "s", 0));
  CALL(unlinkat_folder, unlinkat(here, "d", AT_REMOVEDIR));
  CALL(mkdirat, mkdirat(here, "n", 0755));
  CALL(mknodat_file, mknodat(here, "n", S_IFREG | 0644, 0));
  CALL(mknodat_fifo, mknodat(here, "n", S_IFIFO | 0644, 0));
  CALL(symlinkat, symlinkat("f", here, "n"));
  CALL(renameat_new, renameat(here, "f", here, "n"));
  CALL(renameat_over, renameat(here, "f", here, "g"));
  CALL(renameat_folder, renameat(here, "d", here, "n"));
  CALL(renameat2_no_replace, renameat2(here, "f", here, "n", RENAME_NOREPLACE));
  CALL(renameat2_exchange, renameat2(here, "f", here, "g", RENAME_EXCHANGE));
  CALL(rename_into_folder, renameat(here, "f", here, "d/n"));
  CALL(linkat, linkat(here, "f", here, "n", 0));
  CALL(linkat_into_folder, linkat(here, "f", here, "d/n", 0));
  CALL(fchmodat, syscall(SYS_fchmodat, here, "f", 0640));
  CALL(fchmodat2, syscall(452, here, "f", 0640, 0));
  CALL(fchmod, on_reading_descriptor(act_fchmod));
  CALL(fchownat, fchownat(here, "f", -1, -1, 0));
  CALL(fchownat_link, fchownat(here, "s", -1, -1, AT_SYMLINK_NOFOLLOW));
  CALL(fchown, on_reading_descriptor(act_fchown));
  CALL(utimensat, utimensat(here, "f", NULL, 0));
  CALL(utimensat_link, utimensat(here, "s", NULL, AT_SYMLINK_NOFOLLOW));
  CALL(futimens, on_reading_descriptor(act_futimens));
  CALL(setxattr, setxattr("f", "user.n", "v", 1, 0));
  CALL(lsetxattr, lsetxattr("f", "user.n", "v", 1, 0));
  CALL(fsetxattr, on_reading_descriptor(act_fsetxattr));
  CALL(removexattr, removed_attribute());
  CALL(execve, started(start_execve));
  CALL(execveat, started(start_execveat));
  CALL(execve_link, started(start_through_link));
#ifdef __x86_64__
  CALL(open, syscall(SYS_open, "f", O_RDONLY));
  CALL(creat_new, syscall(SYS_creat, "n", 0644));
  CALL(creat_existing, syscall(SYS_creat, "f", 0644));
  CALL(unlink, syscall(SYS_unlink, "f"));
  CALL(rmdir, syscall(SYS_rmdir, "d"));
  CALL(mkdir, syscall(SYS_mkdir, "n", 0755));
  CALL(mknod, syscall(SYS_mknod, "n", S_IFREG | 0644, 0));
  CALL(symlink, syscall(SYS_symlink, "f", "n"));
  CALL(link, syscall(SYS_link, "f", "n"));
  CALL(rename_new, syscall(SYS_rename, "f", "n"));
  CALL(rename_over, syscall(SYS_rename, "f", "g"));
  CALL(chmod, syscall(SYS_chmod, "f", 0640));
  CALL(chown, syscall(SYS_chown, "f", -1, -1));
  CALL(lchown, syscall(SYS_lchown, "s", -1, -1));
  CALL(utime, syscall(SYS_utime, "f", NULL));
  CALL(utimes, syscall(SYS_utimes, "f", times));
#endif
  (void)times;
}

int main(int argc, char **argv) {
  for (root_number = 0; root_number < argc - 1; root_number++) call_all(argv[root_number + 1]);
  return argc > 1 ? 0 : 1;
}
