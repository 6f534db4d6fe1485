/**
 * Starts a worker thread with its own end of the gate. A thread shares this process: the port tells subjects apart and
 * is no wall between them.
 */
import { MessageChannel, type MessagePort, Worker, type WorkerOptions } from "node:worker_threads";
import { PortDuplex } from "./port-duplex.ts";
import type { ChildParts } from "./spawn-child.ts";

/** What a worker of the runtime finds in `workerData`. */
export interface GatedWorkerData {
  readonly sallyportGate: MessagePort;
  /** What was handed over by whoever started it. */
  readonly data: unknown;
}

export type ChildWorkerOptions = Omit<WorkerOptions, "eval">;

export function startWorker(
  { caller, attachChild, letGo }: ChildParts,
  file: string | URL,
  options: ChildWorkerOptions,
): Worker {
  const { port1: near, port2: far } = new MessageChannel();
  const { workerData: data, transferList = [] } = options;
  const workerData: GatedWorkerData = { sallyportGate: far, data };
  let worker: Worker;
  try {
    worker = new Worker(file, { ...options, workerData, transferList: [...transferList, far] });
  } catch (error) {
    near.close();
    letGo();
    throw error;
  }
  const socket = new PortDuplex(near);
  socket.unref();
  const session = attachChild(socket, caller);
  worker.once("exit", () => {
    session.close();
    socket.destroy();
    letGo();
  });
  return worker;
}
