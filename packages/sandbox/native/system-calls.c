/*
 * The kernel's calls under the names that the headers declare, without a C library. WHY none: before `main` it asks the
 * processor dozens of times what it is, and a virtual machine answers each time slowly: three quarters of a start of the launcher.
 */
#include "kernel-interface.h"
#include "threads.h"

#define TEXT_OF(number) #number
#define NUMBER(number) TEXT_OF(number)

/* A call whose arguments are those of the function, in the same order. What a thread is told of a failure: ERROR_AT in its block. */
#ifdef __x86_64__
#define CALL(name, number) __asm__(".text\n.globl " #name "\n" #name ": mov $" NUMBER(number) ", %eax\njmp enter_kernel\n");
__asm__(".text\nsyscall: mov %rdi, %rax\nmov %rsi, %rdi\nmov %rdx, %rsi\nmov %rcx, %rdx\nmov %r8, %rcx\nmov %r9, %r8\n"
        "mov 8(%rsp), %r9\n.globl syscall, leave_kernel\n"
        "enter_kernel: mov %rcx, %r10\nsyscall\nleave_kernel: cmp $-4095, %rax\njae 1f\nret\n"
        "1: neg %eax\nmov %eax, %fs:" NUMBER(ERROR_AT) "\nmov $-1, %rax\nret\n");
#else
#define CALL(name, number) __asm__(".text\n.globl " #name "\n" #name ": mov x8, #" NUMBER(number) "\nb enter_kernel\n");
__asm__(".text\nsyscall: mov x8, x0\nmov x0, x1\nmov x1, x2\nmov x2, x3\nmov x3, x4\nmov x4, x5\nmov x5, x6\n"
        ".globl syscall, leave_kernel\n"
        "enter_kernel: svc #0\nleave_kernel: cmn x0, #4095\nb.hs 1f\nret\n"
        "1: neg w0, w0\nmrs x1, tpidr_el0\nstr w0, [x1, #" NUMBER(ERROR_AT) "]\nmov x0, #-1\nret\n");
#endif

CALL(read, __NR_read) CALL(write, __NR_write) CALL(openat, __NR_openat) CALL(close, __NR_close) CALL(fcntl, __NR_fcntl)
CALL(ioctl, __NR_ioctl) CALL(ftruncate, __NR_ftruncate) CALL(readlinkat, __NR_readlinkat) CALL(chdir, __NR_chdir)
CALL(unlinkat, __NR_unlinkat) CALL(renameat2, __NR_renameat2) CALL(linkat, __NR_linkat) CALL(symlinkat, __NR_symlinkat)
CALL(mkdirat, __NR_mkdirat) CALL(mknodat, __NR_mknodat) CALL(fchmodat, __NR_fchmodat) CALL(fstatat, __NR_newfstatat) CALL(fchownat, __NR_fchownat) CALL(utimensat, __NR_utimensat)
CALL(setxattr, __NR_setxattr) CALL(removexattr, __NR_removexattr) CALL(umask, __NR_umask)
CALL(mount, __NR_mount) CALL(unshare, __NR_unshare) CALL(setns, __NR_setns) CALL(process_vm_readv, __NR_process_vm_readv)
CALL(socket, __NR_socket) CALL(socketpair, __NR_socketpair) CALL(setsockopt, __NR_setsockopt) CALL(bind, __NR_bind)
CALL(listen, __NR_listen) CALL(sendmsg, __NR_sendmsg) CALL(recvmsg, __NR_recvmsg) CALL(prctl, __NR_prctl)
CALL(getrlimit, __NR_getrlimit) CALL(setrlimit, __NR_setrlimit) CALL(geteuid, __NR_geteuid) CALL(getegid, __NR_getegid)
CALL(setsid, __NR_setsid) CALL(kill, __NR_kill) CALL(execve, __NR_execve) CALL(_exit, __NR_exit_group)
CALL(clock_gettime, __NR_clock_gettime) CALL(getpid, __NR_getpid)

int open(const char *path, int flags, ...) { return openat(AT_FDCWD, path, flags, 0); }
pid_t waitpid(pid_t pid, int *status, int options) { return (pid_t)syscall(__NR_wait4, pid, status, options, NULL); }
void set_blocked(uint64_t set) { syscall(__NR_rt_sigprocmask, SIG_SETMASK, &set, NULL, sizeof set); }
int open_signals(uint64_t set) { return (int)syscall(__NR_signalfd4, -1, &set, sizeof set, SFD_CLOEXEC | SFD_NONBLOCK); }

void set_disposition(int number, void (*handler)(int)) {
  uint64_t words[4] = {(uintptr_t)handler};
  syscall(__NR_rt_sigaction, number, words, NULL, sizeof words[0]);
}

/* WHY a copy: the kernel writes there how much was left. */
int ppoll(struct pollfd *polled, nfds_t count, const struct timespec *pause, const sigset_t *open) {
  struct timespec left = pause == NULL ? (struct timespec){0} : *pause;
  return (int)syscall(__NR_ppoll, polled, count, pause == NULL ? NULL : &left, open, sizeof(uint64_t));
}
