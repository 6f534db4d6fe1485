/**
 * A gate between two threads of one process, as a stream over a message port: for a thread that guarded code started.
 */
import type { MessagePort } from "node:worker_threads";
import type { BranchMessage } from "../protocol/message.ts";
import { BranchDuplex } from "./branch-duplex.ts";

const ONLY_BRANCH = 0;

export function portStream(port: MessagePort): BranchDuplex {
  const stream = new BranchDuplex(ONLY_BRANCH, (message) => port.postMessage(message));
  stream.on("error", () => undefined);
  stream.once("close", () => port.close());
  port.on("message", (message: BranchMessage) => stream.hear(message));
  port.once("close", () => stream.destroy());
  return stream;
}
