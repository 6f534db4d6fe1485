/**
 * Numbers of the system calls that the filter names, by architecture. `undefined`: that architecture has no such call.
 * Part of the kernel's stable interface; a test compares them with the kernel's own headers.
 */
export const ARCHITECTURES = ["x64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** The value that the kernel gives a filter for its architecture. */
export const AUDIT_ARCHITECTURE: Readonly<Record<Architecture, number>> = {
  x64: 0xc000003e,
  arm64: 0xc00000b7,
};

/** Calls of the x32 interface have this bit; they would be judged by other numbers. */
export const X32_BIT = 0x40000000;

/** Up to here, `file_setattr` of Linux 6.17, it was looked at what each call can do; the same on both architectures. */
export const LAST_NUMBER = 469;

type Numbers = readonly [x64: number | undefined, arm64: number | undefined];

const NUMBERS = {
  open: [2, undefined],
  openat: [257, 56],
  openat2: [437, 437],
  creat: [85, undefined],
  open_by_handle_at: [304, 265],
  unlink: [87, undefined],
  unlinkat: [263, 35],
  rmdir: [84, undefined],
  rename: [82, undefined],
  renameat: [264, 38],
  renameat2: [316, 276],
  link: [86, undefined],
  linkat: [265, 37],
  symlink: [88, undefined],
  symlinkat: [266, 36],
  mkdir: [83, undefined],
  mkdirat: [258, 34],
  mknod: [133, undefined],
  mknodat: [259, 33],
  truncate: [76, 45],
  chmod: [90, undefined],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  chown: [92, undefined],
  lchown: [94, undefined],
  fchown: [93, 55],
  fchownat: [260, 54],
  utime: [132, undefined],
  utimes: [235, undefined],
  futimesat: [261, undefined],
  utimensat: [280, 88],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
  setxattrat: [463, 463],
  removexattrat: [466, 466],
  file_setattr: [469, 469],
  execve: [59, 221],
  execveat: [322, 281],
  socket: [41, 198],
  socketpair: [53, 199],
  ioctl: [16, 29],
  clone: [56, 220],
  clone3: [435, 435],
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  vhangup: [153, 58],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  modify_ldt: [154, undefined],
  uselib: [134, undefined],
} as const satisfies Readonly<Record<string, Numbers>>;

export type SystemCall = keyof typeof NUMBERS;

export const SYSTEM_CALLS = Object.keys(NUMBERS) as readonly SystemCall[];

export function systemCallNumber(call: SystemCall, architecture: Architecture): number | undefined {
  return NUMBERS[call][ARCHITECTURES.indexOf(architecture)];
}
