/**
 * Starts the thread that owns the gate of a guarded process. Apart from whoever uses it, so that a process can start it
 * first of all and do other things while the thread comes up and hears the first facts.
 */
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { sayHello } from "./say-hello.ts";
import { SharedState } from "./shared-state.ts";
import { READY_TICKET, type WorkerStart } from "./worker-message.ts";

export interface GateWorkerOptions {
  /** The inherited descriptor, whose number is no identity; in a thread the port that it was given. */
  readonly gate: number | MessagePort;
  /** The compiled `gate-worker`: a file, or the text of CommonJS. */
  readonly worker: URL | string;
  /** The text of how answers are read, as bytes, where the worker does not hold it; see `answer-wires.ts`. They move there. */
  readonly answers?: Uint8Array<ArrayBuffer>;
}

export interface StartedWorker {
  readonly worker: Worker;
  readonly memory: SharedArrayBuffer;
  readonly port: MessagePort;
  readonly wake: MessagePort;
  /** A descriptor where hello was said; whoever uses this hears the answer and hands the gate over. */
  readonly greetedFd: number | undefined;
}

export function startGateWorker({ gate, worker, answers }: GateWorkerOptions): StartedWorker {
  // WHY first: the service answers while the thread comes up.
  if (typeof gate === "number") sayHello(gate);
  const shared = new SharedState();
  shared.expect(READY_TICKET);
  const { memory } = shared;
  const { port1: port, port2: farPort } = new MessageChannel();
  const { port1: wake, port2: farWake } = new MessageChannel();
  const start: WorkerStart = { gate, memory, port: farPort, wake: farWake, answers };
  const thread = new Worker(worker, {
    eval: typeof worker === "string",
    workerData: start,
    transferList: [
      farPort,
      farWake,
      ...(typeof gate === "number" ? [] : [gate]),
      ...(answers === undefined ? [] : [answers.buffer]),
    ],
    // WHY: what is preloaded into the process is for foreign code, and the worker runs none.
    execArgv: [],
    env: {},
    // WHY: it says nothing, and Node would open the program's own streams for it, which takes time.
    stdout: true,
    stderr: true,
  });
  thread.unref();
  return {
    worker: thread,
    memory,
    port,
    wake,
    greetedFd: typeof gate === "number" ? gate : undefined,
  };
}
