/**
 * The first part of the preload: sees that nothing ran before it, takes what the process inherited, starts the thread of the
 * gate, and runs the second part (`preload.ts`), which takes most of the time and has it while that thread comes up.
 * The other parts stand in a comment at the end of the file: so only this part is compiled at every start. What V8 made of
 * them when they were built stands in a file beside this one, which may be absent.
 * Must load as little as possible, and must never let the program run where the guard may not start.
 */
import { readFileSync } from "node:fs";
import Module from "node:module";
import { resolve } from "node:path";
import vm from "node:vm";
import { type StartedWorker, startGateWorker } from "@sallyport/gate";
import { endProcess } from "./end-process.ts";
import { startFault } from "./first-preload.ts";
import { type Inheritance, takeInheritance } from "./inherited-gate.ts";

/** Put in by the build: how long each part is, in their order; they stand behind each other at the end of the file. */
declare const PART_LENGTHS: readonly [second: number, realm: number, worker: number, answers: number];
/**
 * The file beside this one with what V8 made of the first two parts, for one Node and machine: what it ends in, what it begins
 * with, and where the two stand in it.
 */
declare const COMPILED: {
  readonly suffix: string;
  readonly for: string;
  readonly mark: string;
  readonly second: readonly [from: number, to: number];
  readonly realm: readonly [from: number, to: number];
};
/** What the second part is called on the stack. */
declare const GUARD_SCRIPT: string;
/** Behind the parts. */
declare const PARTS_END: string;
/** Stands in the parts where the end of a comment would. */
declare const COMMENT_END: string;
/** What a file of CommonJS is given. */
declare const require: (name: string) => unknown;

/** What the second part is given. */
export interface Begun {
  readonly inheritance: Inheritance;
  readonly worker: StartedWorker;
  readonly realm: Part;
}

interface Part {
  readonly script: string;
  readonly cachedData: Buffer | undefined;
}

interface Parts {
  readonly second: Part;
  readonly realm: Part;
  readonly worker: string;
  /** WHY no text: it is long, and read by the thread of the gate when something is first answered. */
  readonly answers: Uint8Array<ArrayBuffer>;
}

type Second = (load: typeof require, filename: string, begun: Begun) => void;

function requireFirst(): void {
  const { _preload_modules: preloads = [] } = process as unknown as {
    readonly _preload_modules?: readonly unknown[];
  };
  const { _cache: cache } = Module as unknown as { readonly _cache: Record<string, unknown> };
  const fault = startFault({
    file: __filename,
    preloads: preloads.map((preload) => resolve(String(preload))),
    loaded: Object.keys(cache),
    flags: [...process.execArgv, ...(process.env["NODE_OPTIONS"] ?? "").split(/\s+/)],
    platform: process.platform,
  });
  if (fault !== undefined) throw new TypeError(fault);
}

const compiled = COMPILED;

function readParts(): Parts {
  const file = readFileSync(__filename);
  let end = file.length - PARTS_END.length;
  const last = (length: number): string =>
    file.toString("latin1", (end -= length), end + length).replaceAll(COMMENT_END, "*/");
  const [second, realm, worker, answers] = PART_LENGTHS;
  const answersBytes = new Uint8Array(file.subarray((end -= answers), end + answers));
  const workerText = last(worker);
  const realmText = last(realm);
  const data = readCompiled();
  return {
    answers: answersBytes,
    worker: workerText,
    realm: { script: realmText, cachedData: data?.subarray(...compiled.realm) },
    second: { script: last(second), cachedData: data?.subarray(...compiled.second) },
  };
}

/** `undefined` where it is of another Node, of other parts, or not there: they are then compiled at this start. */
function readCompiled(): Buffer | undefined {
  if (compiled.for !== `${process.version}-${process.arch}`) return undefined;
  let data: Buffer;
  try {
    data = readFileSync(`${__filename}${compiled.suffix}`);
  } catch {
    return undefined;
  }
  // INVARIANT: V8 itself looks at the length of a script alone. The mark is of these very parts.
  return data.toString("latin1", 0, compiled.mark.length) === compiled.mark ? data : undefined;
}

function begin(): void {
  requireFirst();
  const { second, realm, worker: thread, answers } = readParts();
  const inheritance = takeInheritance();
  const worker = startGateWorker({ gate: inheritance.gate, worker: thread, answers });
  const { script, cachedData } = second;
  // WHY no look at whether V8 takes the data: what it does not take it compiles anew.
  const made = new vm.Script(script, { filename: GUARD_SCRIPT, ...(cachedData && { cachedData }) });
  const run = made.runInThisContext() as Second;
  run(require, __filename, { inheritance, worker, realm });
}

try {
  begin();
} catch (error) {
  endProcess(error);
}
