/**
 * The first part of the preload: sees that nothing ran before it, takes what the process inherited, starts the thread of the
 * gate, and runs the second part (`preload.ts`), which takes most of the time and has it while that thread comes up.
 * The other parts stand in a file beside this one, with what V8 made of them when they were built. That file may be absent:
 * they stand packed in a comment at the end of this one too, which so holds everything, and is read and scanned in no time.
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

/** Put in by the build: how long each part is, in their order. */
declare const PART_LENGTHS: readonly [second: number, realm: number, worker: number, answers: number];
/** How long the packed parts are, which stand at the end of this file. */
declare const PACKED_LENGTH: number;
/**
 * The file beside this one: what it ends in, what it begins with, where the parts stand in it, and what V8 made of the first two,
 * for one Node and machine.
 */
declare const BESIDE: {
  readonly suffix: string;
  readonly mark: string;
  readonly compiledFor: string;
  readonly second: readonly [from: number, to: number];
  readonly realm: readonly [from: number, to: number];
};
/** What the second part is called on the stack. */
declare const GUARD_SCRIPT: string;
/** Behind the packed parts. */
declare const PARTS_END: string;
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

const beside = BESIDE;

function readParts(): Parts {
  const found = readBeside();
  const bytes = found?.subarray(beside.mark.length) ?? unpacked();
  const isCompiled = beside.compiledFor === `${process.version}-${process.arch}`;
  // WHY no look at whether V8 takes it: what it does not take it compiles anew.
  const data = (place: readonly [number, number]) => (isCompiled ? found?.subarray(...place) : undefined);
  let end = 0;
  const next = (length: number): Buffer => bytes.subarray(end, (end += length));
  const [second, realm, worker, answers] = PART_LENGTHS;
  return {
    second: { script: next(second).toString("latin1"), cachedData: data(beside.second) },
    realm: { script: next(realm).toString("latin1"), cachedData: data(beside.realm) },
    worker: next(worker).toString("latin1"),
    answers: new Uint8Array(next(answers)),
  };
}

/** `undefined` where it is not there, or of other parts. */
function readBeside(): Buffer | undefined {
  let data: Buffer;
  try {
    data = readFileSync(`${__filename}${beside.suffix}`);
  } catch {
    return undefined;
  }
  // INVARIANT: V8 itself looks at the length of a script alone. The mark is of these very parts.
  return data.toString("latin1", 0, beside.mark.length) === beside.mark ? data : undefined;
}

function unpacked(): Buffer {
  const file = readFileSync(__filename);
  const end = file.length - PARTS_END.length;
  const packed = Buffer.from(file.toString("latin1", end - PACKED_LENGTH, end), "base64");
  return process.getBuiltinModule("zlib").brotliDecompressSync(packed);
}

function begin(): void {
  requireFirst();
  const { second, realm, worker: thread, answers } = readParts();
  const inheritance = takeInheritance();
  const worker = startGateWorker({ gate: inheritance.gate, worker: thread, answers });
  const { script, cachedData } = second;
  const made = new vm.Script(script, { filename: GUARD_SCRIPT, ...(cachedData && { cachedData }) });
  const run = made.runInThisContext() as Second;
  run(require, __filename, { inheritance, worker, realm });
}

try {
  begin();
} catch (error) {
  endProcess(error);
}
