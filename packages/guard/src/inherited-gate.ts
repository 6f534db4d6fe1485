/**
 * The gate that this process inherited, or that this thread was given by the guard of the thread that started it, and what
 * was said with it. Taken away before the program runs.
 */
import workerThreads, { type MessagePort } from "node:worker_threads";
import { GATE_FD_VARIABLE, GUARD_VARIABLE, type GuardFacts, factsText, readFacts } from "./preload-facts.ts";
import type { ThreadStart } from "./process/thread-port.ts";

export interface Inheritance {
  readonly gate: number | MessagePort;
  /** The descriptor that belongs to the gate of this process. */
  readonly gateFd: number;
  readonly facts: GuardFacts;
  /** Of a thread: the sensitive imports of the one that started it. */
  readonly imports: readonly string[] | undefined;
  /** For the programs that this one starts. */
  readonly factsText: string;
}

/** @throws TypeError where there is no gate */
export function takeInheritance(): Inheritance {
  return workerThreads.isMainThread ? ofProcess() : ofThread();
}

function ofProcess(): Inheritance {
  const facts = readFacts(process.env[GUARD_VARIABLE]);
  const text = process.env[GATE_FD_VARIABLE] ?? "";
  const fd = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(fd >= 3)) throw new TypeError("there is no gate: start this program with `runtime.spawn`");
  // INVARIANT: a program that this one starts has another gate, or none.
  delete process.env[GATE_FD_VARIABLE];
  delete process.env[GUARD_VARIABLE];
  return { gate: fd, gateFd: fd, facts, imports: undefined, factsText: factsText(facts) };
}

function ofThread(): Inheritance {
  const threads = workerThreads as { workerData: unknown };
  const start = (threads.workerData ?? {}) as Partial<ThreadStart>;
  const { sallyportGate, sallyportGateFd = -1, sallyportFacts, sallyportImports } = start;
  if (sallyportGate === undefined)
    throw new TypeError("there is no gate: a thread is started by the guarded `Worker`");
  // WHY: the program finds what was meant for it.
  threads.workerData = start.data ?? null;
  const facts = readFacts(sallyportFacts);
  return {
    gate: sallyportGate,
    gateFd: sallyportGateFd,
    facts,
    imports: sallyportImports,
    factsText: factsText(facts),
  };
}
