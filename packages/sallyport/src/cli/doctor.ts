/**
 * `sallyport doctor`: what this machine can enforce, what it lacks, and how to get the rest. Every rung of the wall is tried
 * out, in a process that ends with it; nothing is said to be enforced that was not. Changes nothing but the cache that the
 * launcher is built into.
 */
import { statSync } from "node:fs";
import { release } from "node:os";
import { type MachineFinding, findControlGroups, readMachineFacts } from "@sallyport/sandbox";
import type { Command } from "commander";
import { type CommandLine, type CommonOptions, addLeaf } from "./command-line.ts";
import { dataFolderOf } from "./data-place.ts";
import type { ExitName } from "./exit-code.ts";
import { obtainPeerCheck } from "./peer-check.ts";

export interface Finding {
  readonly name: string;
  /** `lacks`: `run` refuses without it. `later`: it can do without. */
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
  const findings = [...(await machineFindings()), await peerFinding(), await ownerFinding(cli, options)];
  const isSound = !findings.some(({ state }) => state === "lacks");
  if (options.json === true) {
    cli.terminal.json({ ok: isSound, findings });
  } else {
    const { terminal } = cli;
    const width = Math.max(...findings.map(({ name }) => name.length));
    for (const { name, state, found, next } of findings) {
      const [style, mark] = MARKS[state];
      const title = terminal.paint("bold", name.padEnd(width));
      terminal.line(`${terminal.paint(style, mark)} ${title}  ${terminal.shown(found)}`);
      if (next !== null) terminal.line(`${" ".repeat(width + 4)}${terminal.shown(next)}`);
    }
    terminal.line(
      terminal.paint(
        "dim",
        isSound
          ? "`sallyport run` puts any program behind the wall."
          : "`sallyport run` refuses until this is there; `--no-sandbox` runs without the wall.",
      ),
    );
  }
  return isSound ? "done" : "not_enforced";
}

async function machineFindings(): Promise<readonly Finding[]> {
  const { findings } = await readMachineFacts();
  return [nodeFinding(), storeFinding(), kernelFinding(), ...findings.map(wallFinding), ...limitFindings()];
}

const PARTS: Readonly<Record<MachineFinding["part"], string>> = {
  platform: "wall",
  launcher: "wall: launcher",
  landlock: "wall: Landlock",
  namespaces: "wall: namespaces",
  notification: "wall: seccomp",
  network: "wall: network",
};

/** A rung of the wall as it was tried out. What it says after the colon is what to do. */
function wallFinding({ part, ok: isThere, message }: MachineFinding): Finding {
  // WHY: the message of the launcher begins with its name, which stands beside it here.
  if (isThere) return ok(PARTS[part], message.replace(/^launcher /, ""));
  const at = message.indexOf(": ");
  const next = at < 0 ? "`sallyport run --no-sandbox` runs without the wall" : message.slice(at + 2);
  return lacks(PARTS[part], at < 0 ? message : message.slice(0, at), next);
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

function kernelFinding(): Finding {
  return process.platform === "linux"
    ? ok("kernel", `Linux ${release()}`)
    : later(
        "kernel",
        `${process.platform}: the wall is for Linux; elsewhere the guard asks, and is no boundary`,
      );
}

/** Limits that hold for a whole sandbox need a control group of its own; without one each process has its own limits. */
function limitFindings(): readonly Finding[] {
  if (process.platform !== "linux") return [];
  const found = findControlGroups();
  return [
    found.length > 0
      ? ok("control groups", `${found.join(" and ")} can be limited for a whole sandbox`)
      : later("control groups", "none is delegated to this user: limits hold for each process by itself"),
  ];
}

/** WHY no lack: without it the modes of folder and socket still say who may connect. */
async function peerFinding(): Promise<Finding> {
  const peers = await obtainPeerCheck();
  switch (peers.kind) {
    case "program":
      return ok("admin socket", "who connects is read from the kernel");
    case "modes_only":
      return later("admin socket", `who connects is not read, file modes alone hold: ${peers.reason}`);
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
