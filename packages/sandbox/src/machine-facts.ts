/**
 * What the wall can be made of on this machine: tried out by the launcher, said as data. `doctor` prints it; the
 * profile compiler takes it. Never guesses from a version, and never says that something holds which was not tried.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { CATCH_PORT } from "./egress/egress-gateway.ts";
import { captureWords } from "./egress/netlink-message.ts";
import { SandboxError } from "./errors.ts";
import { launchBytes } from "./launch-description.ts";
import type { MachineWall } from "./profile/compile-profile.ts";
import type { Confinement } from "./profile/confinement.ts";
import { LANDLOCK_VERSION_MIN } from "./profile/landlock-right.ts";
import { type NativeProgram, obtainLauncher } from "./native-launcher.ts";

/** `complete`: all layers. `refused`: at least one is missing, and nothing runs that was promised a wall. */
export const RUNGS = ["complete", "refused"] as const;
export type Rung = (typeof RUNGS)[number];

export interface MachineFinding {
  readonly part: "platform" | "launcher" | "landlock" | "namespaces" | "notification" | "network";
  readonly ok: boolean;
  /** What was found, and what to do where it is not enough. */
  readonly message: string;
}

export interface MachineFacts {
  readonly rung: Rung;
  readonly findings: readonly MachineFinding[];
  readonly wall: MachineWall;
  /** Absent where none could be had. */
  readonly launcher: string | undefined;
}

const run = promisify(execFile);
const NO_WALL: MachineWall = {
  landlockVersion: 0,
  hasNamespaces: false,
  hasNotification: false,
  hasCapture: false,
};
const ENOSPC = 28;
const EPERM = 1;

export async function readMachineFacts(): Promise<MachineFacts> {
  const isSupported = process.platform === "linux" && (process.arch === "x64" || process.arch === "arm64");
  if (!isSupported) {
    const message = `there is no OS sandbox for \`${process.platform}-${process.arch}\`: only the guard can be used here`;
    return facts([{ part: "platform", ok: false, message }], NO_WALL, undefined);
  }
  try {
    const launcher = await obtainLauncher();
    const probing = run(launcher.path, ["--probe", "0"]);
    probing.child.stdin?.on("error", () => undefined).end(probeBytes());
    return judgeProbe((await probing).stdout, launcher, readSetting);
  } catch (error) {
    const message =
      error instanceof SandboxError ? error.message : "the launcher does not run here: see its own error";
    return facts([{ part: "launcher", ok: false, message }], NO_WALL, undefined);
  }
}

/** `setting`: a value below /proc/sys, `undefined` where there is none. */
export function judgeProbe(
  text: string,
  program: NativeProgram,
  setting: (name: string) => string | undefined,
): MachineFacts {
  const { landlock, namespaces, notification, capture } = JSON.parse(text) as Readonly<
    Record<string, number>
  >;
  const launcher = program.path;
  const landlockVersion = landlock ?? 0;
  const findings: MachineFinding[] = [
    { part: "launcher", ok: true, message: `launcher \`${launcher}\`, ${originWords(program)}` },
    landlockFinding(landlockVersion),
    namespaces === 0
      ? { part: "namespaces", ok: true, message: "user, mount, pid, network and ipc namespaces" }
      : { part: "namespaces", ok: false, message: namespaceAdvice(namespaces ?? EPERM, launcher, setting) },
    notification === 0
      ? { part: "notification", ok: true, message: "seccomp with notification" }
      : { part: "notification", ok: false, message: "seccomp cannot notify: use Linux 5.19 or newer" },
    capture === 0
      ? { part: "network", ok: true, message: "connections can be caught for the gateway" }
      : { part: "network", ok: false, message: captureAdvice(capture ?? EPERM) },
  ];
  const wall = {
    landlockVersion,
    hasNamespaces: namespaces === 0,
    hasNotification: notification === 0,
    hasCapture: capture === 0,
  };
  return facts(findings, wall, launcher);
}

/** Which launcher it is, in words. */
function originWords({ origin, passedOver }: NativeProgram): string {
  switch (origin) {
    case "named":
      return "named by `SALLYPORT_LAUNCHER`";
    case "prebuilt":
      return "prebuilt at release from these sources";
    case "built":
      return `built here from these sources${passedOver === undefined ? "" : `, since the prebuilt ${passedOver}`}`;
  }
}

function captureAdvice(errno: number): string {
  return `connections cannot be caught for the gateway (error ${errno}), so that programs have no network: use a kernel with nf_tables and \`NFT_TPROXY\``;
}

/** What the launcher tries: nothing but the network that a gateway needs. */
function probeBytes(): Buffer {
  const confinement: Confinement = {
    trapSet: "none",
    grants: [],
    rights: [],
    handledRights: 1n,
    scopes: 0n,
    writable: [],
    masks: [],
    network: "gateway",
    forwardedPorts: [],
    enforcedBy: [],
    notEnforced: [],
  };
  const words = captureWords({ catchPort: CATCH_PORT, forwardedPorts: [CATCH_PORT] });
  return launchBytes({
    program: "/",
    args: ["probe"],
    environment: {},
    cwd: "/",
    confinement,
    filter: new Uint8Array(8),
    limits: {},
    wallMs: 0,
    ownsTerminal: false,
    capture: { catchPort: CATCH_PORT, words, covers: [] },
  });
}

function landlockFinding(version: number): MachineFinding {
  const ok = version >= LANDLOCK_VERSION_MIN;
  if (ok) return { part: "landlock", ok, message: `Landlock version ${version}` };
  const message =
    version === 0
      ? "the kernel has no Landlock: start it with `landlock` in its `lsm=` list"
      : `Landlock is version ${version}, at least ${LANDLOCK_VERSION_MIN} is needed: use Linux 6.2 or newer`;
  return { part: "landlock", ok, message };
}

function namespaceAdvice(
  errno: number,
  launcher: string,
  setting: (name: string) => string | undefined,
): string {
  if (setting("kernel/apparmor_restrict_unprivileged_userns") === "1") {
    const profile = `abi <abi/4.0>, profile sallyport ${launcher} flags=(unconfined) { userns, }`;
    return `AppArmor refuses user namespaces: as root write \`${profile}\` to \`/etc/apparmor.d/sallyport\` and run \`apparmor_parser -r\` on it`;
  }
  if (setting("kernel/unprivileged_userns_clone") === "0")
    return "user namespaces are switched off: as root run `sysctl kernel.unprivileged_userns_clone=1`";
  if (errno === ENOSPC || setting("user/max_user_namespaces") === "0")
    return "no more user namespaces may be made: as root raise `sysctl user.max_user_namespaces`";
  if (errno === EPERM)
    return "user namespaces are refused, as in a container with the default profile: allow `unshare` and `clone` in its seccomp profile, and an unmasked `/proc`";
  return `namespaces cannot be made (error ${errno}): try \`unshare -Urmpnif --mount-proc true\` for the reason`;
}

function facts(
  findings: readonly MachineFinding[],
  wall: MachineWall,
  launcher: string | undefined,
): MachineFacts {
  // WHY not the network: without its capture programs have none, which holds them all the more.
  const isComplete = findings.every(({ ok, part }) => ok || part === "network");
  const rung: Rung = isComplete ? "complete" : "refused";
  return Object.freeze({ rung, findings: Object.freeze(findings), wall: Object.freeze(wall), launcher });
}

function readSetting(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name}`, "utf8").trim();
  } catch {
    return undefined;
  }
}
