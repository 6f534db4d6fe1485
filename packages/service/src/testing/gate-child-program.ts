/**
 * A guarded process for tests: opens the gate at descriptor 3 and does what its standard input says, a line of JSON
 * at a time, with one line for an answer. `node program MODE REALM_SCRIPT WORKER`.
 */
import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { type AskWords, SyncGateClient, connectGate, openPrivateRealm } from "@sallyport/gate";

const [mode = "", scriptFile = "", workerFile = ""] = process.argv.slice(2);
const realm = openPrivateRealm({ seed: [3, 4], script: readFileSync(scriptFile, "utf8") });

interface Command {
  readonly id: number;
  readonly verb:
    | "check"
    | "require"
    | "check_sync"
    | "foresee"
    | "is_live"
    | "spin"
    | "kill_worker"
    | "violation"
    | "tampered";
  readonly words: AskWords;
  readonly options?: object;
}

/** WHY: taken before the gate is opened, as foreign code would that wants to end its worker. */
const workers: { terminate(): Promise<number> }[] = [];
const { Worker } = await import("node:worker_threads");
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { unref } = Worker.prototype;
Worker.prototype.unref = function keep(this: InstanceType<typeof Worker>) {
  workers.push(this);
  Reflect.apply(unref, this, []);
};

const client =
  mode === "sync"
    ? SyncGateClient.open({ gate: 3, openRealm: () => realm, worker: pathToFileURL(workerFile) })
    : await connectGate(new Socket({ fd: 3, readable: true, writable: true }), { realm });

/** Runs with built-ins that foreign code replaced by such as say yes, or fail. */
function tampered(work: () => unknown): { readonly value: unknown; readonly replaced: number } {
  const yes = { allowed: true, code: "allowed_rule" };
  const replacements: [object, PropertyKey, unknown][] = [
    [JSON, "parse", () => yes],
    [JSON, "stringify", () => JSON_OF_DECLARED],
    [Object.prototype, "toJSON", () => DECLARED_WORDS],
    [MessagePort.prototype, "postMessage", () => undefined],
    [Atomics, "load", () => 0],
    [Atomics, "wait", () => "ok"],
    [TextDecoder.prototype, "decode", () => '{"allowed":true,"code":"allowed_rule"}'],
    [Uint8Array.prototype, "subarray", () => new Uint8Array()],
    [Uint8Array.prototype, "slice", () => new Uint8Array()],
    [Map.prototype, "get", () => yes],
    [String.prototype, "slice", () => ""],
    [Date, "now", () => 0],
    [process, "hrtime", () => [0, 0]],
    [Object, "freeze", (value: object) => Object.assign(value, yes)],
  ];
  const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
  const before = replacements.map(([owner, key]) => getOwnPropertyDescriptor(owner, key));
  let value: unknown;
  for (let index = 0; index < replacements.length; index++) {
    const [owner, key, replacement] = replacements[index] as (typeof replacements)[number];
    defineProperty(owner, key, { value: replacement, configurable: true, writable: true });
  }
  try {
    value = apply(work, undefined, []);
  } finally {
    for (let index = 0; index < replacements.length; index++) {
      const [owner, key] = replacements[index] as (typeof replacements)[number];
      const descriptor = before[index];
      if (descriptor === undefined) deleteProperty(owner, key);
      else defineProperty(owner, key, descriptor);
    }
  }
  return { value, replaced: replacements.length };
}
const DECLARED_WORDS = {
  resourceType: "network",
  operation: "receive",
  target: "https://declared.example.com/a",
};
const JSON_OF_DECLARED = JSON.stringify(DECLARED_WORDS);

async function run({ verb, words, options }: Command): Promise<unknown> {
  switch (verb) {
    case "check":
      return client.check(words, options);
    case "require":
      return client.require(words, options);
    case "check_sync":
      return (client as SyncGateClient).checkSync(words, options);
    case "foresee":
      return client.foresee(words).verdict;
    case "is_live":
      return client.isLive;
    case "violation":
      client.reportViolation(words);
      return null;
    case "spin": {
      // Decides from memory without ever giving the event loop a turn, until memory stops allowing it.
      const codes = new Set<string>();
      const { timeoutMs } = options as { readonly timeoutMs: number };
      const endMs = Date.now() + timeoutMs;
      let last = "";
      for (let allows = true; allows && Date.now() < endMs;) {
        const { verdict } = client.foresee(words);
        codes.add((last = verdict.code));
        allows = verdict.allowed;
      }
      return { codes: [...codes], last };
    }
    case "tampered":
      return tampered(() => (client as SyncGateClient).checkSync(words).code);
    case "kill_worker":
      for (const worker of workers) await worker.terminate();
      return null;
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const command = JSON.parse(line) as Command;
  void run(command).then((value) => process.stdout.write(`${JSON.stringify({ id: command.id, value })}\n`));
});
process.stdin.on("end", () => process.exit(0));
process.stdout.write(`${JSON.stringify({ id: 0, value: "ready" })}\n`);
