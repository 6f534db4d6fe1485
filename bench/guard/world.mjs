// @ts-check
/**
 * Purpose: a host with one subject that may read one folder, and programs that it starts: bare, under the guard, under
 * Node's own permission model, in Deno. All of them run the same file and are driven line by line, so that they take turns.
 */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { guardLaunch } from "@sallyport/guard";
import { createSallyport } from "sallyport";
import { makeFolder } from "../service/node-under-bench.mjs";

/** @typedef {import("node:child_process").ChildProcess} ChildProcess */
/** @typedef {{ ask(words: object): Promise<unknown>, end(): Promise<void> }} Driven */
/** @typedef {{ env?: Record<string, string> }} More */

const SUBJECT = /** @type {const} */ ({ type: "module", name: "bench" });
const CALLER = Object.freeze({ user: { id: 21, roles: ["member"] }, organizationId: 7, sessionKey: "s" });
const CODE = fileURLToPath(new URL("./programs/", import.meta.url));
const STDIO = /** @type {["pipe", "pipe", "inherit"]} */ (["pipe", "pipe", "inherit"]);
const FILE_BYTES = 1024;
/** WHY: what is set for Node weighs on its start; a guarded program does not get it, so nobody does. */
const ENV = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:NODE_|LD_|DYLD_)/.test(name)),
);
const [major = 0] = process.versions.node.split(".").map(Number);

/** @param {readonly { resource_type: string, operation: string, target: string }[]} [more] what is declared beside the folder */
export async function openWorld(more = []) {
  const { folder, remove } = makeFolder();
  const files = join(folder, "files");
  mkdirSync(files);
  const file = join(files, "a.txt");
  writeFileSync(file, "x".repeat(FILE_BYTES));
  const host = await createSallyport({ dataFolder: join(folder, "data") });
  const read = { resource_type: "filesystem", operation: "read", target: `${files}/` };
  const answer = host.registry.registerModule({
    name: SUBJECT.name,
    root: CODE,
    manifest: { access: [read, ...more] },
  });
  if (!answer.ok) throw new Error(answer.message);

  /** @param {string} program @param {{ confined?: boolean, args?: readonly string[] }} [how] */
  const guarded = (program, { confined = false, args = [] } = {}) => {
    const launch = guardLaunch({ codeRoots: [CODE], confined, env: ENV });
    return host.runtime.run(SUBJECT, CALLER, () =>
      host.runtime.spawn(process.execPath, [...launch.args, join(CODE, program), ...args], {
        stdio: STDIO,
        env: launch.env,
      }),
    );
  };
  return {
    file,
    guarded,
    /** @param {string} program */
    bare: (program) => spawn(process.execPath, [join(CODE, program)], { stdio: STDIO, env: ENV }),
    /** @param {string} program */
    permission: (program) =>
      spawn(
        process.execPath,
        [
          major < 24 ? "--experimental-permission" : "--permission",
          "--no-warnings",
          `--allow-fs-read=${CODE}*`,
          `--allow-fs-read=${files}/*`,
          join(CODE, program),
        ],
        { stdio: STDIO, env: ENV },
      ),
    /** @param {string} command @param {string} program */
    deno: (command, program) =>
      spawn(
        command,
        [
          "run",
          "--quiet",
          `--allow-read=${files},${CODE}`,
          "--allow-env",
          "--allow-sys",
          "--allow-net",
          join(CODE, program),
        ],
        { stdio: STDIO, env: ENV },
      ),
    close: async () => {
      await host.close();
      remove();
    },
  };
}

/** A program that answers each line with one. @param {ChildProcess} child @returns {Driven} */
export function driven(child) {
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new TypeError("a driven program needs pipes");
  const lines = createInterface({ input: stdout });
  /** @type {((line: string) => void)[]} */
  const waiting = [];
  lines.on("line", (line) => waiting.shift()?.(line));
  const ended = new Promise((resolve) => child.once("close", resolve));
  return {
    ask: async (words) => {
      const line = new Promise((resolve) => waiting.push(resolve));
      stdin.write(`${JSON.stringify(words)}\n`);
      const answer = await Promise.race([line, ended.then(() => undefined)]);
      if (answer === undefined) throw new Error("a program of the bench ended early: see above");
      return JSON.parse(/** @type {string} */ (answer));
    },
    end: async () => {
      stdin.end();
      await ended;
    },
  };
}
