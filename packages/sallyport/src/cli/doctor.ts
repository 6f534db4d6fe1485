/**
 * `sallyport doctor`: what this machine can enforce, what it lacks, and how to get the rest. Looks only; asks nobody for
 * rights and changes nothing. Says nothing is enforced that was not looked at.
 */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { release } from "node:os";
import { delimiter, join } from "node:path";
import type { Command } from "commander";
import { type CommandLine, type CommonOptions, addLeaf } from "./command-line.ts";
import { dataFolderOf } from "./data-place.ts";
import type { ExitName } from "./exit-code.ts";

export interface Finding {
  readonly name: string;
  /** `lacks` is what `--require` would refuse to run with; `later` is not part of this version. */
  readonly state: "ok" | "lacks" | "later";
  readonly found: string;
  /** How to get it. */
  readonly next: string | null;
}

const MARKS = { ok: ["green", "✔"], lacks: ["red", "✘"], later: ["dim", "·"] } as const;

export function addDoctorCommand(program: Command, cli: CommandLine): void {
  addLeaf<CommonOptions>(program, cli, {
    name: "doctor",
    description: "say what this machine can enforce, and how to get the rest",
    run: async (line, options) => doctor(line, options),
  });
}

async function doctor(cli: CommandLine, options: CommonOptions): Promise<ExitName> {
  const findings = [...machineFindings(cli.env), await ownerFinding(cli, options)];
  const isSound = !findings.some(({ state }) => state === "lacks");
  if (options.json === true) {
    cli.terminal.json({ ok: isSound, findings });
  } else {
    const { terminal } = cli;
    for (const { name, state, found, next } of findings) {
      const [style, mark] = MARKS[state];
      terminal.line(
        `${terminal.paint(style, mark)} ${terminal.paint("bold", name)}  ${terminal.shown(found)}`,
      );
      if (next !== null) terminal.line(`    ${terminal.shown(next)}`);
    }
    terminal.line(
      terminal.paint(
        "dim",
        "Today the SDK asks and the service decides; what does not ask is not stopped yet.",
      ),
    );
  }
  return isSound ? "done" : "not_enforced";
}

export function machineFindings(env: NodeJS.ProcessEnv): readonly Finding[] {
  return [
    nodeFinding(),
    storeFinding(),
    kernelFinding(),
    landlockFinding(),
    seccompFinding(),
    userNamespaces(),
    compiler(env),
  ];
}

function ok(name: string, found: string): Finding {
  return Object.freeze({ name, state: "ok", found, next: null });
}

function lacks(name: string, found: string, next: string): Finding {
  return Object.freeze({ name, state: "lacks", found, next });
}

function later(name: string, found: string): Finding {
  return Object.freeze({ name, state: "later", found, next: null });
}

function nodeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isNew = major > 20 || (major === 20 && minor >= 19);
  return isNew
    ? ok("Node", process.versions.node)
    : lacks("Node", process.versions.node, "install Node 20.19 or newer");
}

function storeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isBuiltIn = major > 22 || (major === 22 && minor >= 13);
  return ok("embedded store", isBuiltIn ? "node:sqlite" : "libsql, since this Node has no SQLite of its own");
}

const LINUX_FOR_WALL = "the wall is for Linux; elsewhere only what asks is decided";

function kernelFinding(): Finding {
  if (process.platform !== "linux") return later("kernel", `${process.platform}: ${LINUX_FOR_WALL}`);
  const [major = 0, minor = 0] = release().split(".").map(Number);
  const isNew = major > 5 || (major === 5 && minor >= 13);
  return isNew
    ? ok("kernel", release())
    : lacks("kernel", release(), "use Linux 5.13 or newer: Landlock begins there");
}

function landlockFinding(): Finding {
  if (process.platform !== "linux") return later("Landlock", LINUX_FOR_WALL);
  const modules = textOf("/sys/kernel/security/lsm");
  if (modules === undefined)
    return later(
      "Landlock",
      "cannot be seen from here; the sandbox of a later version asks the kernel itself",
    );
  return modules.split(",").includes("landlock")
    ? ok("Landlock", "in the kernel's list of security modules")
    : lacks(
        "Landlock",
        "not switched on",
        "add `landlock` to the `lsm=` parameter of the kernel and start again",
      );
}

function seccompFinding(): Finding {
  if (process.platform !== "linux") return later("seccomp", LINUX_FOR_WALL);
  const actions = textOf("/proc/sys/kernel/seccomp/actions_avail") ?? "";
  return actions.split(" ").includes("user_notif")
    ? ok("seccomp", "with user notification")
    : lacks("seccomp", "without user notification", "use Linux 5.0 or newer with CONFIG_SECCOMP_FILTER");
}

function userNamespaces(): Finding {
  if (process.platform !== "linux") return later("user namespaces", LINUX_FOR_WALL);
  const max = Number(textOf("/proc/sys/user/max_user_namespaces") ?? "0");
  const clone = textOf("/proc/sys/kernel/unprivileged_userns_clone");
  const apparmor = textOf("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  if (max === 0)
    return lacks("user namespaces", "none can be made", "set `user.max_user_namespaces` by sysctl");
  if (process.getuid?.() === 0) return ok("user namespaces", "this user is root");
  if (clone === "0")
    return lacks("user namespaces", "closed to users", "set `kernel.unprivileged_userns_clone=1` by sysctl");
  if (apparmor === "1")
    return lacks(
      "user namespaces",
      "closed by AppArmor",
      "set `kernel.apparmor_restrict_unprivileged_userns=0` by sysctl, or give the program a profile",
    );
  return ok("user namespaces", "open to this user");
}

function compiler(env: NodeJS.ProcessEnv): Finding {
  const name = ["cc", "gcc", "clang"].find((one) => isOnPath(one, env));
  return name === undefined
    ? later("C compiler", "none found; the sandbox of a later version comes prebuilt too")
    : ok("C compiler", name);
}

function isOnPath(name: string, env: NodeJS.ProcessEnv): boolean {
  return (env["PATH"] ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return folder !== "";
    } catch {
      return false;
    }
  });
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

const OTHERS = 0o077;

/** The data folder and whoever owns it. */
async function ownerFinding(cli: CommandLine, options: CommonOptions): Promise<Finding> {
  const folder = dataFolderOf(cli, options);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return later("data folder", `none at ${folder}; \`sallyport up\` makes one`);
  if ((found.mode & OTHERS) !== 0)
    return lacks("data folder", `${folder} is open to others`, `run \`chmod 700 ${folder}\``);
  try {
    const { live, revision } = await cli.withOwner(options, (admin) => admin.permissionState());
    if (live) return ok("data folder", `${folder}, revision ${revision}, the log can be written`);
    return lacks(
      "data folder",
      `${folder}: approvals cannot be vouched for now`,
      "look at the log of `sallyport up`",
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return lacks(
      "data folder",
      `${folder}: ${message}`,
      "stop the process that holds it, or start `sallyport up`",
    );
  }
}
