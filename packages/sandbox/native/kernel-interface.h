/*
 * What the launcher has of the system: types and numbers from the headers of the C library, none of whose code is in it
 * (system-calls.c), and kernel words that the headers of older distributions lack. Those are only numbers and layouts; each is part of
 * the kernel's stable interface.
 */
#pragma once

#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NUMBER_OPEN_TREE 428
#define NUMBER_MOVE_MOUNT 429
#define NUMBER_PIDFD_OPEN 434
#define NUMBER_CLOSE_RANGE 436
#define CLOSE_IN_COPY 2u
#define CLOSE_ON_EXEC 4u
#define NUMBER_OPENAT2 437
#define NUMBER_MOUNT_SETATTR 442
#define NUMBER_LANDLOCK_CREATE_RULESET 444
#define NUMBER_LANDLOCK_ADD_RULE 445
#define NUMBER_LANDLOCK_RESTRICT_SELF 446

#define LANDLOCK_VERSION_FLAG 1u
#define LANDLOCK_PATH_BENEATH 1

/* Rights that a file, and not only a folder, can have: execute, write, read, truncate, device ioctl. */
#define LANDLOCK_FILE_RIGHTS ((1ull << 0) | (1ull << 1) | (1ull << 2) | (1ull << 14) | (1ull << 15))

/* Sets of signals as the kernel has them; the headers' own are larger. `handler`: to ignore it, or what is usual. */
#define SIGNAL_BIT(number) (1ull << ((number)-1))
void set_disposition(int number, void (*handler)(int));
void set_blocked(uint64_t set);
int open_signals(uint64_t set);

struct landlock_ruleset_words { uint64_t handled_fs, handled_net, scoped; };
struct landlock_path_words { uint64_t rights; int32_t parent_fd; } __attribute__((packed));
struct mount_words { uint64_t set, clear, propagation, userns_fd; };
#define MOUNT_READ_ONLY 0x1ull
#define MOUNT_NO_SUID 0x2ull
#define MOUNT_NO_LINKS 0x200000ull
#define TREE_CLONE 1u
#define TREE_RECURSIVE 0x8000u
#define MOVE_FROM_EMPTY_PATH 0x4u

/* With a listener, and while a call is served only what kills it interrupts it. */
#define FILTER_FLAGS (SECCOMP_FILTER_FLAG_NEW_LISTENER | 1ul << 5)
/* The one that is woken runs where the waker ran: each waits for the other anyway. */
#define NOTIFICATION_SET_FLAGS _IOW('!', 4, uint64_t)
#define NOTIFICATION_SAME_PROCESSOR 1ul
/* The descriptor is handed over and the call returns it, in one step. */
#define NOTIFICATION_HAND_OVER (1ul << 1)
