/**
 * A guarded program for tests, as a process and as a worker: opens its gate and calls its SDK as it is told to, one call
 * a message. `node program REALM_SCRIPT`, with an IPC channel.
 */
import { readFileSync } from "node:fs";
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { connectRuntime } from "../child.ts";
import { type SdkCall, type SdkOutcome, sdkCall } from "./sdk-call.ts";

interface Called extends SdkCall {
  readonly id: number;
}

export interface CalledOutcome {
  readonly id: number;
  readonly outcome: SdkOutcome;
}

const [, , scriptFile = ""] = process.argv;
const realmScript = isMainThread
  ? readFileSync(scriptFile, "utf8")
  : (workerData as { readonly data: { readonly realmScript: string } }).data.realmScript;
const child = await connectRuntime({ realmScript });

const say = (message: unknown): void => {
  if (isMainThread) process.send?.(message);
  else parentPort?.postMessage(message);
};
const hear = (message: Called | "end"): void => {
  if (message === "end") {
    child.close();
    if (isMainThread) process.disconnect();
    else parentPort?.close();
    return;
  }
  void sdkCall(child.sdk, message).then((outcome) => say({ id: message.id, outcome }));
};
if (isMainThread) process.on("message", hear);
else parentPort?.on("message", hear);
say("ready");
