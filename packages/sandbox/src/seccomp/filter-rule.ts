/**
 * What the filter does with each system call, as data. Everything not named goes on, up to the newest call that was looked at:
 * files are held by Landlock and the view, the network by its namespace, so this list is of ways around them and of calls that
 * nobody confined needs.
 */
import type { TrapSet } from "../trap-set.ts";
import type { SystemCall } from "./syscall-number.ts";

export type FilterAction =
  | { readonly kind: "allow" }
  | { readonly kind: "notify" }
  | { readonly kind: "errno"; readonly errno: number };

/** On the low half of an argument: the kernel reads no more of any of them, so high bits hide nothing. */
export type ArgumentTest =
  | { readonly test: "equals"; readonly argument: number; readonly value: number }
  | { readonly test: "any_bit"; readonly argument: number; readonly mask: number };

/** The first case that holds acts; none: `otherwise`. */
export interface FilterRule {
  readonly call: SystemCall;
  readonly cases: readonly { readonly when: ArgumentTest; readonly action: FilterAction }[];
  readonly otherwise: FilterAction;
}

const EPERM = 1;
const EACCES = 13;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const EAFNOSUPPORT = 97;

const ALLOW: FilterAction = { kind: "allow" };
const NOTIFY: FilterAction = { kind: "notify" };
const errno = (number: number): FilterAction => ({ kind: "errno", errno: number });
const always = (action: FilterAction, calls: readonly SystemCall[]): readonly FilterRule[] =>
  calls.map((call) => ({ call, cases: [], otherwise: action }));

/** WHY no such call: callers then fall back to one whose arguments can be seen. */
const ABSENT: readonly SystemCall[] = [
  "openat2",
  "clone3",
  "io_uring_setup",
  "io_uring_enter",
  "io_uring_register",
  "setxattrat",
  "removexattrat",
  "file_setattr",
  "futimesat",
];

const REFUSED: readonly SystemCall[] = [
  ...(["unshare", "setns", "mount", "umount2", "pivot_root", "chroot"] as const),
  ...(["open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick"] as const),
  ...(["mount_setattr", "open_tree_attr", "open_by_handle_at"] as const),
  ...(["ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"] as const),
  ...([
    "add_key",
    "request_key",
    "keyctl",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "fanotify_init",
  ] as const),
  ...(["kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot"] as const),
  ...(["swapon", "swapoff", "acct", "quotactl", "quotactl_fd", "syslog", "sethostname"] as const),
  ...(["setdomainname", "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "vhangup"] as const),
  ...(["iopl", "ioperm", "modify_ldt", "uselib"] as const),
];

const OPENS: readonly SystemCall[] = ["open", "openat"];

const CHANGES: readonly SystemCall[] = [
  ...(["creat", "unlink", "unlinkat", "rmdir", "rename", "renameat", "renameat2", "link", "linkat"] as const),
  ...(["symlink", "symlinkat", "mkdir", "mkdirat", "mknod", "mknodat", "truncate"] as const),
  ...(["chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat"] as const),
  ...(["utime", "utimes", "utimensat", "setxattr", "lsetxattr", "fsetxattr"] as const),
  ...(["removexattr", "lremovexattr", "fremovexattr"] as const),
];

const EXECUTIONS: readonly SystemCall[] = ["execve", "execveat"];

/** O_WRONLY, O_RDWR, O_CREAT, O_TRUNC; the same on both architectures. */
const WRITE_INTENT = 0o1 | 0o2 | 0o100 | 0o1000;

/** Namespaces: mount, cgroup, uts, ipc, user, pid, net. WHY not time: for `clone` its bit is part of the exit signal. */
const NEW_NAMESPACES =
  0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000;

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const IPPROTO_MPTCP = 262;

const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** The bit that all sockets without a connection have in their type, and no others of this family. */
const DATAGRAMS = 2;
/**
 * What changes files by any descriptor, also by one that only reads. INVARIANT: Landlock sees none of it.
 * Attributes: FS_IOC_SETFLAGS (both sizes), FS_IOC_FSSETXATTR, FS_IOC_SETVERSION, EXT4_IOC_SETVERSION, FAT_IOCTL_SET_ATTRIBUTES.
 * Read-only for ever, or encrypted: FS_IOC_ENABLE_VERITY, FS_IOC_SET_ENCRYPTION_POLICY.
 */
const FILE_ATTRIBUTE_CALLS = [
  ...([0x40086602, 0x40046602, 0x401c5820, 0x40087602, 0x40086604, 0x40047211] as const),
  ...([0x40806685, 0x800c6613] as const),
];
/**
 * Whole trees made, copied, turned and removed in one step, withheld files and all: BTRFS_IOC_SNAP_CREATE, SUBVOL_CREATE,
 * SNAP_DESTROY, SNAP_CREATE_V2, SUBVOL_CREATE_V2, SUBVOL_SETFLAGS, SET_RECEIVED_SUBVOL, SNAP_DESTROY_V2; OCFS2_IOC_REFLINK.
 */
const TREE_CALLS = [
  ...([0x50009401, 0x5000940e, 0x5000940f, 0x50009417, 0x50009418, 0x4008941a, 0xc0c89425] as const),
  ...([0x5000943f, 0x40186f04] as const),
];

const DENIALS: readonly FilterRule[] = [
  ...always(errno(ENOSYS), ABSENT),
  ...always(errno(EPERM), REFUSED),
  {
    call: "clone",
    cases: [{ when: { test: "any_bit", argument: 0, mask: NEW_NAMESPACES }, action: errno(EPERM) }],
    otherwise: ALLOW,
  },
  {
    call: "ioctl",
    cases: [TIOCSTI, TIOCLINUX, ...FILE_ATTRIBUTE_CALLS, ...TREE_CALLS].map((value) => ({
      when: { test: "equals", argument: 1, value },
      action: errno(EPERM),
    })),
    otherwise: ALLOW,
  },
  {
    // WHY unix sockets too: the network namespace does not hold them, and their address cannot be seen here.
    call: "socket",
    cases: [
      { when: { test: "equals", argument: 2, value: IPPROTO_MPTCP }, action: errno(EPROTONOSUPPORT) },
      { when: { test: "equals", argument: 0, value: AF_INET }, action: ALLOW },
      { when: { test: "equals", argument: 0, value: AF_INET6 }, action: ALLOW },
      { when: { test: "equals", argument: 0, value: AF_UNIX }, action: errno(EACCES) },
    ],
    otherwise: errno(EAFNOSUPPORT),
  },
  {
    // WHY: each datagram can name another address than that of the pair, and so a service of the host.
    call: "socketpair",
    cases: [
      { when: { test: "any_bit", argument: 1, mask: DATAGRAMS }, action: errno(EACCES) },
      { when: { test: "equals", argument: 0, value: AF_UNIX }, action: ALLOW },
    ],
    otherwise: errno(EAFNOSUPPORT),
  },
];

/** Opens with the intent to write stop in every set but `none`. */
const WRITING_OPENS: readonly FilterRule[] = OPENS.map((call) => ({
  call,
  cases: [
    {
      when: { test: "any_bit", argument: call === "open" ? 1 : 2, mask: WRITE_INTENT },
      action: NOTIFY,
    },
  ],
  otherwise: ALLOW,
}));

export function filterRules(trapSet: TrapSet): readonly FilterRule[] {
  switch (trapSet) {
    case "all":
      return [...DENIALS, ...always(NOTIFY, [...OPENS, ...CHANGES, ...EXECUTIONS])];
    case "writes":
      return [...DENIALS, ...WRITING_OPENS, ...always(NOTIFY, [...CHANGES, ...EXECUTIONS])];
    case "none":
      return DENIALS;
  }
}
