/*
 * Kernel words that the headers of older distributions lack, and system calls that libc does not wrap.
 * Only numbers and layouts; each is part of the kernel's stable interface.
 */
#ifndef SALLYPORT_KERNEL_INTERFACE_H
#define SALLYPORT_KERNEL_INTERFACE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __NR_openat2
#define __NR_openat2 437
#endif
#ifndef __NR_mount_setattr
#define __NR_mount_setattr 442
#endif
#define NUMBER_OPEN_TREE 428
#define NUMBER_MOVE_MOUNT 429
#define NUMBER_CLOSE_RANGE 436
#define NUMBER_LANDLOCK_CREATE_RULESET 444
#define NUMBER_LANDLOCK_ADD_RULE 445
#define NUMBER_LANDLOCK_RESTRICT_SELF 446

#define LANDLOCK_VERSION_FLAG 1u
#define LANDLOCK_PATH_BENEATH 1

/* Rights that a file, and not only a folder, can have: execute, write, read, truncate, device ioctl. */
#define LANDLOCK_FILE_RIGHTS ((1ull << 0) | (1ull << 1) | (1ull << 2) | (1ull << 14) | (1ull << 15))

struct landlock_ruleset_words {
  uint64_t handled_fs;
  uint64_t handled_net;
  uint64_t scoped;
};

struct landlock_path_words {
  uint64_t rights;
  int32_t parent_fd;
} __attribute__((packed));

struct mount_words {
  uint64_t set;
  uint64_t clear;
  uint64_t propagation;
  uint64_t userns_fd;
};
#define MOUNT_READ_ONLY 0x1ull
#define MOUNT_NO_SUID 0x2ull
#define MOUNT_NO_LINKS 0x200000ull
#define TREE_CLONE 1u
#define TREE_RECURSIVE 0x8000u
#define MOVE_FROM_EMPTY_PATH 0x4u

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
/* The one that is woken runs where the waker ran: each waits for the other anyway. */
#define NOTIFICATION_SET_FLAGS _IOW('!', 4, uint64_t)
#define NOTIFICATION_SAME_PROCESSOR 1ul
#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1)
#endif

#endif
