/*
 * Tries ways out of the sandbox by bare system calls. `attack-program NAME [ARGUMENT…]` prints the error number of each
 * try, 0 where it went through; `killed` where the kernel ended whoever tried.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/msdos_fs.h>
#include <linux/sched.h>
#include <linux/securebits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static void tell(const char *name, long result) { printf("%s %d\n", name, result < 0 ? errno : 0); }

static void try_calls(void) {
  char memory[256] = {0};
  tell("io_uring", syscall(425, 1, memory));
  tell("ptrace", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
  struct iovec local = {memory, 8}, remote = {memory, 8};
  tell("process_vm_readv", process_vm_readv(1, &local, 1, &remote, 1, 0));
  tell("keyctl", syscall(SYS_keyctl, 0, -3, 0));
  tell("add_key", syscall(SYS_add_key, "user", "n", "v", 1, -3));
  tell("bpf", syscall(SYS_bpf, 0, memory, sizeof memory));
  tell("userfaultfd", syscall(SYS_userfaultfd, 0));
  tell("perf_event_open", syscall(SYS_perf_event_open, memory, 0, -1, -1, 0));
  tell("pidfd_getfd", syscall(438, 0, 0, 0));
  tell("unshare", unshare(CLONE_NEWUSER));
  tell("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
  struct clone_args words = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  tell("clone3", syscall(435, &words, sizeof words));
  tell("setns", setns(0, 0));
  tell("mount", mount("none", "/", NULL, MS_REMOUNT | MS_BIND, NULL));
  tell("umount", umount2("/proc", MNT_DETACH));
  tell("chroot", chroot("/"));
  tell("pivot_root", syscall(SYS_pivot_root, "/", "/"));
  tell("open_tree", syscall(428, AT_FDCWD, "/", 1));
  tell("open_by_handle_at", syscall(SYS_open_by_handle_at, AT_FDCWD, memory, 0));
  uint64_t how[3] = {O_RDONLY, 0, 0};
  tell("openat2", syscall(437, AT_FDCWD, "/etc/shadow", how, sizeof how));
  tell("tiocsti", ioctl(0, TIOCSTI, "x"));
  tell("tiocsti_high_bits", syscall(SYS_ioctl, 0, 0x100000000ul | TIOCSTI, "x"));
  tell("tioclinux", ioctl(0, TIOCLINUX, "\x02"));
  int attributes = 0x10, file = open("/usr", O_RDONLY);
  tell("set_flags", ioctl(file, 0x40086602, &attributes));
  tell("kexec", syscall(SYS_kexec_load, 0, 0, NULL, 0));
  tell("init_module", syscall(SYS_init_module, memory, 0, ""));
#ifdef __x86_64__
  tell("x32_open", syscall(0x40000000 | SYS_open, "/etc/shadow", O_RDONLY));
#endif
}

static void try_sockets(void) {
  int pair[2];
  tell("unix", socket(AF_UNIX, SOCK_STREAM, 0));
  tell("vsock", socket(40, SOCK_STREAM, 0));
  tell("packet", socket(AF_PACKET, SOCK_RAW, 0));
  tell("netlink", socket(AF_NETLINK, SOCK_RAW, 0));
  tell("alg", socket(38, SOCK_SEQPACKET, 0));
  tell("mptcp", socket(AF_INET, SOCK_STREAM, 262));
  tell("raw", socket(AF_INET, SOCK_RAW, IPPROTO_TCP));
  tell("unix_high_bits", syscall(SYS_socket, 0x100000000ul | AF_UNIX, SOCK_STREAM, 0));
  tell("pair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  tell("tcp", socket(AF_INET, SOCK_STREAM, 0));
}

/* One end of a pair of its own, and the address of somebody else's socket. */
static void try_datagrams(const char *path) {
  static const int TYPES[] = {SOCK_DGRAM, SOCK_RAW, SOCK_STREAM, SOCK_SEQPACKET};
  static const char *const NAMES[] = {"datagrams", "raw", "stream", "packets"};
  struct sockaddr_un service = {.sun_family = AF_UNIX};
  strncpy(service.sun_path, path, sizeof service.sun_path - 1);
  for (int index = 0; index < 4; index++) {
    int pair[2] = {-1, -1};
    int made = socketpair(AF_UNIX, TYPES[index] | SOCK_CLOEXEC, 0, pair);
    if (made == 0 && sendto(pair[0], "out", 3, 0, (void *)&service, sizeof service) != 3) made = -1;
    if (made == 0 && connect(pair[0], (void *)&service, sizeof service) != 0) made = -1;
    tell(NAMES[index], made);
  }
}

/* What changes a file, or a whole tree, by a descriptor that only reads. */
static void try_file_controls(const char *path) {
  static const struct { const char *name; unsigned long number; } CONTROLS[] = {
      {"set_flags", FS_IOC_SETFLAGS}, {"set_flags_short", FS_IOC32_SETFLAGS}, {"set_extended", FS_IOC_FSSETXATTR},
      {"set_version", FS_IOC_SETVERSION}, {"set_version_ext4", _IOW('f', 4, long)}, {"set_attributes_fat", FAT_IOCTL_SET_ATTRIBUTES},
      {"verity", FS_IOC_ENABLE_VERITY}, {"encryption", FS_IOC_SET_ENCRYPTION_POLICY}, {"snapshot", BTRFS_IOC_SNAP_CREATE},
      {"snapshot_2", BTRFS_IOC_SNAP_CREATE_V2}, {"subvolume", BTRFS_IOC_SUBVOL_CREATE}, {"subvolume_2", BTRFS_IOC_SUBVOL_CREATE_V2},
      {"destroy", BTRFS_IOC_SNAP_DESTROY}, {"destroy_2", BTRFS_IOC_SNAP_DESTROY_V2}, {"turn", BTRFS_IOC_SUBVOL_SETFLAGS},
      {"received", BTRFS_IOC_SET_RECEIVED_SUBVOL}, {"reflink", _IOW('o', 4, char[24])}};
  static char room[8192];
  int fd = open(path, O_RDONLY);
  tell("opened", fd);
  for (size_t index = 0; index < sizeof CONTROLS / sizeof CONTROLS[0]; index++)
    tell(CONTROLS[index].name, ioctl(fd, CONTROLS[index].number, room));
}

/* A port of the host's own loopback. */
static void try_ways_out(int port) {
  struct sockaddr_in host = {.sin_family = AF_INET, .sin_port = htons(port)};
  inet_pton(AF_INET, "127.0.0.1", &host.sin_addr);
  struct sockaddr_in far = host;
  inet_pton(AF_INET, "1.1.1.1", &far.sin_addr);
  tell("connect", connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&host, sizeof host));
  tell("connect_far", connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&far, sizeof far));
  tell("fast_open", sendto(socket(AF_INET, SOCK_STREAM, 0), "x", 1, MSG_FASTOPEN, (void *)&host, sizeof host));
  tell("udp_far", sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (void *)&far, sizeof far));
}

/* The 32-bit entry of the kernel, from within a program of 64 bits; where there is none, nothing is printed. */
static void try_old_entry(void) {
#ifdef __x86_64__
  pid_t child = fork();
  if (child == 0) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  printf("int80 %s\n", WIFSIGNALED(status) ? "killed" : "0");
#endif
}

/* The number as it stands in its register, all of it. */
static long open_by(long number, const char *path) {
  long result;
#ifdef __x86_64__
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"((long)AT_FDCWD), "S"(path), "d"(0l) : "rcx", "r11", "memory");
#else
  register long x0 __asm__("x0") = AT_FDCWD, x2 __asm__("x2") = 0, x8 __asm__("x8") = number;
  register const char *x1 __asm__("x1") = path;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x8) : "memory");
  result = x0;
#endif
  errno = result < 0 ? -result : 0;
  return result;
}

/* A number with high bits set, and addresses with a tag in their highest byte, which arm64 lets programs have. */
static void try_disguised(const char *harmless, const char *secret) {
  unsigned long tag = 1ul << 57;
  prctl(55 /* tagged addresses are taken */, 1, 0, 0, 0);
  tell("plain_harmless", open_by(SYS_openat, harmless));
  tell("plain_secret", open_by(SYS_openat, secret));
  tell("high_bits_secret", open_by(1l << 32 | SYS_openat, secret));
  tell("tagged_harmless", open_by(SYS_openat, (const char *)((unsigned long)harmless | tag)));
  tell("tagged_secret", open_by(SYS_openat, (const char *)((unsigned long)secret | tag)));
}

/* A program that has no name, made in memory. */
static void try_memory_program(const char *source) {
  int from = open(source, O_RDONLY), memory = memfd_create("m", 0);
  char block[65536];
  for (ssize_t length; (length = read(from, block, sizeof block)) > 0;) write(memory, block, length);
  char *const arguments[] = {"m", NULL};
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    syscall(SYS_execveat, memory, "", arguments, NULL, AT_EMPTY_PATH);
    _exit(errno);
  }
  int status;
  waitpid(child, &status, 0);
  printf("memory_program %d\n", WEXITSTATUS(status));
}

static void try_set_user_id(void) {
  tell("create_set_user_id", open("made", O_CREAT | O_WRONLY, 04755));
  int file = open("plain", O_CREAT | O_RDWR, 0755);
  tell("fchmod_set_user_id", fchmod(file, 04755));
  tell("chmod_set_user_id", chmod("plain", 04755));
  tell("nameless_file", open(".", O_TMPFILE | O_RDWR, 0600));
  tell("mknod_device", mknod("device", S_IFCHR | 0600, 0x103));
}

/* One thread writes the path while the other opens it: what is judged and what is opened must be one. */
static char shared_path[256];
static const char *harmless, *secret;
static volatile int is_over;

/* What a program would need to rise: outside, by root. It runs as its owner, and with every capability. */
static void arm(const char *program) {
  struct vfs_cap_data all = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE};
  for (int half = 0; half < 2; half++) all.data[half].permitted = half == 0 ? ~0u : (1u << 9) - 1;
  tell("chmod", chmod(program, 06755));
  tell("capabilities", setxattr(program, "security.capability", &all, sizeof all, 0));
}

/* What this process can do: all sets of capabilities, as the kernel tells them. */
static void tell_privileges(void) {
  char line[256];
  FILE *status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    char name[32], value[32];
    if (sscanf(line, "%31[A-Za-z]:\t%31s", name, value) == 2 && strncmp(name, "Cap", 3) == 0 && strcmp(name, "CapBnd") != 0)
      printf("%s %s\n", name, strspn(value, "0") == strlen(value) ? "none" : value);
  }
  printf("user %s\n", geteuid() == getuid() ? "own" : "another");
}

static void try_privileges(const char *armed) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct all[2] = {{~0u, ~0u, ~0u}, {511, 511, 511}}, inherited[2] = {{0, 0, ~0u}, {0, 0, 511}};
  tell("capset", syscall(SYS_capset, &header, all));
  tell("inheritable", syscall(SYS_capset, &header, inherited));
  tell("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0));
  tell("keep", prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
  tell("bits", prctl(PR_SET_SECUREBITS, 0, 0, 0, 0));
  printf("locked %s\n", prctl(PR_GET_SECUREBITS) == 0xef ? "yes" : "no");
  printf("no_new_privileges %s\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? "yes" : "no");
  fflush(stdout);
  execl(armed, armed, "tell-privileges", NULL);
  tell("exec", -1);
}

static void *rewrite(void *unused) {
  while (!is_over) {
    strcpy(shared_path, secret);
    strcpy(shared_path, harmless);
  }
  return unused;
}

static void race_memory(int rounds, int flags) {
  pthread_t thread;
  int won = 0;
  strcpy(shared_path, harmless);
  pthread_create(&thread, NULL, rewrite, NULL);
  for (int round = 0; round < rounds; round++) {
    char text[16] = {0};
    int fd = open(shared_path, flags);
    if (fd < 0) continue;
    if (read(fd, text, sizeof text - 1) > 0 && strncmp(text, "secret", 6) == 0) won++;
    close(fd);
  }
  is_over = 1;
  pthread_join(thread, NULL);
  printf("won %d\n", won);
}

/* One process moves a link while the other opens through it. */
static void race_link(const char *link_path, int rounds, int flags) {
  pid_t child = fork();
  if (child == 0) {
    char other[512];
    snprintf(other, sizeof other, "%s.next", link_path);
    for (;;) {
      symlink(harmless, other);
      rename(other, link_path);
      symlink(secret, other);
      rename(other, link_path);
    }
  }
  int won = 0;
  for (int round = 0; round < rounds; round++) {
    char text[16] = {0};
    int fd = open(link_path, flags);
    if (fd < 0) continue;
    if (flags == O_RDONLY && read(fd, text, sizeof text - 1) > 0 && strncmp(text, "secret", 6) == 0) won++;
    if (flags != O_RDONLY) write(fd, "harmless", 8);
    close(fd);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  printf("won %d\n", won);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  if (strcmp(name, "calls") == 0) try_calls();
  if (strcmp(name, "sockets") == 0) try_sockets();
  if (strcmp(name, "ways-out") == 0) try_ways_out(atoi(argv[2]));
  if (strcmp(name, "old-entry") == 0) try_old_entry();
  if (strcmp(name, "disguised") == 0) try_disguised(argv[2], argv[3]);
  if (strcmp(name, "memory-program") == 0) try_memory_program(argv[2]);
  if (strcmp(name, "set-user-id") == 0) try_set_user_id();
  if (strcmp(name, "datagrams") == 0) try_datagrams(argv[2]);
  if (strcmp(name, "file-controls") == 0) try_file_controls(argv[2]);
  if (strcmp(name, "arm") == 0) arm(argv[2]);
  if (strcmp(name, "tell-privileges") == 0) tell_privileges();
  if (strcmp(name, "privileges") == 0) try_privileges(argv[2]);
  if (strcmp(name, "rename") == 0) tell("rename", rename(argv[2], argv[3]));
  if (strncmp(name, "race-", 5) == 0) harmless = argv[2], secret = argv[3];
  if (strcmp(name, "race-memory") == 0) race_memory(atoi(argv[4]), O_RDONLY);
  if (strcmp(name, "race-memory-truncate") == 0) race_memory(atoi(argv[4]), O_RDONLY | O_TRUNC);
  if (strcmp(name, "race-link") == 0) race_link(argv[5], atoi(argv[4]), O_RDONLY);
  if (strcmp(name, "race-link-write") == 0) race_link(argv[5], atoi(argv[4]), O_WRONLY);
  return 0;
}
