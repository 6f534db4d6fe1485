/**
 * The first part of the preload: sees that nothing ran before it, takes what the process inherited, starts the thread of the
 * gate, and runs the second part (`preload.ts`), which takes most of the time and has it while that thread comes up.
 * The other parts stand in a comment at the end of the file, beside what V8 made of them when they were built: so only this
 * part is compiled at every start.
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
declare const PART_LENGTHS: readonly [second: number, realm: number, worker: number, number, number];
/** For which Node and machine the last two parts are: what V8 made of the first two. */
declare const COMPILED_FOR: string;
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

function readParts(): Parts {
  const file = readFileSync(__filename);
  const isCompiled = COMPILED_FOR === `${process.version}-${process.arch}`;
  let end = file.length - PARTS_END.length;
  const last = (length: number): string => file.toString("latin1", (end -= length), end + length);
  const script = (length: number): string => last(length).replaceAll(COMMENT_END, "*/");
  const compiled = (length: number): Buffer | undefined => {
    const text = last(length);
    return isCompiled ? Buffer.from(text, "base64") : undefined;
  };
  const [second, realm, worker, compiledSecond, compiledRealm] = PART_LENGTHS;
  const realmData = compiled(compiledRealm);
  const secondData = compiled(compiledSecond);
  return {
    worker: script(worker),
    realm: { script: script(realm), cachedData: realmData },
    second: { script: script(second), cachedData: secondData },
  };
}

function begin(): void {
  requireFirst();
  const { second, realm, worker: thread } = readParts();
  const inheritance = takeInheritance();
  const worker = startGateWorker({ gate: inheritance.gate, worker: thread });
  const { script, cachedData } = second;
  // WHY no look at whether V8 takes the data: what it does not take it compiles anew.
  const compiled = new vm.Script(script, { filename: GUARD_SCRIPT, ...(cachedData && { cachedData }) });
  const run = compiled.runInThisContext() as Second;
  run(require, __filename, { inheritance, worker, realm });
}

try {
  begin();
} catch (error) {
  endProcess(error);
}
