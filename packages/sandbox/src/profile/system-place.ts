/**
 * What any program needs before it does anything of its own: the loader, libraries, a few devices and settings. These
 * are the host's code roots of the specification; they are read, never written. Data only: no look at the machine.
 */
import type { FileOperation } from "./landlock-right.ts";

/** Read as a whole. */
export const SYSTEM_TREES: readonly string[] = [
  "/usr/",
  "/lib/",
  "/lib64/",
  "/lib32/",
  "/bin/",
  "/sbin/",
  "/proc/",
];

/** WHY so few: the rest of /etc says who and where the machine is. */
export const SYSTEM_FILES: readonly string[] = [
  "/etc/ld.so.cache",
  "/etc/ld.so.preload",
  "/etc/localtime",
  "/etc/locale.alias",
  "/etc/nsswitch.conf",
  "/etc/passwd",
  "/etc/group",
  "/etc/hosts",
  "/etc/resolv.conf",
  "/etc/ssl/",
  "/etc/alternatives/",
  "/etc/terminfo/",
  // How much memory and how many processors there are: what runtimes ask before they begin.
  "/sys/fs/cgroup/",
  "/sys/devices/system/cpu/",
];

export const SYSTEM_DEVICES: readonly string[] = [
  "/dev/null",
  "/dev/zero",
  "/dev/full",
  "/dev/random",
  "/dev/urandom",
  "/dev/tty",
];

export const DEVICE_OPERATIONS: readonly FileOperation[] = ["read", "modify"];

/** Below the home folder: credentials. Masked unless a rule reaches into them. */
export const SECRET_PLACES: readonly string[] = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".config/gcloud",
  ".config/gh",
  ".local/share/keyrings",
  ".password-store",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
];
