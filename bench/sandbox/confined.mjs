// @ts-check
/** Purpose: programs started bare and confined, in the same way, and waited for. */
import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSandbox } from "@sallyport/sandbox";

/** @typedef {import("@sallyport/sandbox").TrapSet} TrapSet */
/** @typedef {import("@sallyport/contract").ExpandedRule} ExpandedRule */

const ALL = /** @type {const} */ (["read", "create", "modify", "delete", "execute"]);
const sandbox = await openSandbox();

/** @param {string} target @returns {ExpandedRule[]} */
const everything = (target) => ALL.map((operation) => ({ resourceType: "filesystem", operation, target }));

/** WHY: what git reads of a person is not there, bare or confined. @param {string} folder */
const home = (folder) => ({ HOME: folder, GIT_CONFIG_NOSYSTEM: "1" });

/** A folder that goes when the bench does. */
export function workFolder() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sp-bench-")));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** @param {import("node:child_process").ChildProcess} child @param {string} name */
function ended(child, name) {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(code) : reject(new Error(`\`${name}\` ended with ${code}`)),
    );
  });
}

/** @param {string} command @param {readonly string[]} args @param {string} cwd */
export const runBare = (command, args, cwd) =>
  ended(spawn(command, [...args], { cwd, stdio: "ignore", env: { ...process.env, ...home(cwd) } }), command);

/** What a program says until it has ended well. @param {import("node:child_process").ChildProcess} child @returns {Promise<string>} */
export async function said(child) {
  let text = "";
  child.stdout?.on("data", (chunk) => (text += String(chunk)));
  await ended(child, child.spawnfile);
  return text;
}

/**
 * Programs of the system, and everything in some folders.
 * @param {import("@sallyport/sandbox").Sandbox} wall
 * @param {{ trapSet: TrapSet, folders: readonly string[], hasNetwork?: boolean }} options
 */
export function compiled(wall, { trapSet, folders, hasNetwork = false }) {
  /** @type {ExpandedRule[]} */
  const allow = [
    { resourceType: "filesystem", operation: "execute", target: "/usr/" },
    ...folders.flatMap((folder) => everything(`${folder}/`)),
  ];
  const outcome = wall.compile({ allow, trapSet, network: hasNetwork ? "gateway" : "none" });
  if (!outcome.ok) throw new Error(outcome.faults.map(({ message }) => message).join("; "));
  return outcome.confinement;
}

/**
 * Everything on: namespaces, Landlock, seccomp, and where `hasNetwork` the gateway with its sockets.
 * @param {{ trapSet: TrapSet, folders: readonly string[], hasNetwork?: boolean }} options
 */
export function confining({ trapSet, folders, hasNetwork = false }) {
  const confinement = compiled(sandbox, { trapSet, folders, hasNetwork });
  /** @type {import("@sallyport/sandbox").NetworkDecider} */
  const decider = {
    subject: { type: "tool", name: "bench" },
    foresees: () => false,
    ask: async () => refused,
    spend: async () => refused,
    recall: async () => refused,
    violated: () => undefined,
    watch: () => () => undefined,
  };
  /** @param {string} command @param {readonly string[]} args @param {string} cwd */
  return (command, args, cwd) => {
    const options = {
      confinement,
      decide: async () => /** @type {const} */ ("deny"),
      cwd,
      env: home(cwd),
      stdio: /** @type {const} */ ("ignore"),
    };
    const { child } = sandbox.spawn(
      command,
      args,
      hasNetwork ? { ...options, egress: { decider } } : options,
    );
    return ended(child, command);
  };
}

/**
 * How many calls of a program stop at the supervisor and name something that is there: it waits until nothing is granted
 * by itself any more, and then every one is a question.
 * @param {{ trapSet: TrapSet, folders: readonly string[] }} options
 * @param {readonly string[]} command @param {string} cwd
 */
export async function countStopped(options, command, cwd) {
  let stopped = 0;
  const { child, narrow } = sandbox.spawn("/bin/sh", ["-c", 'read -r _ && exec "$@"', "sh", ...command], {
    confinement: compiled(sandbox, options),
    decide: async () => {
      stopped++;
      return "allow";
    },
    cwd,
    env: home(cwd),
    stdio: ["pipe", "ignore", "ignore"],
  });
  const end = ended(child, command.join(" "));
  await narrow();
  child.stdin?.end("go\n");
  await end;
  return stopped;
}

const refused = /** @type {import("@sallyport/sandbox").NetworkRuling} */ (
  /** @type {unknown} */ ({
    allowed: false,
    code: "denied_rule",
    message: "nobody is asked here",
    requestId: undefined,
  })
);
