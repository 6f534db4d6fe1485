/** The SDK of a real child or worker of a runtime, driven from here one call at a time. */
import { once } from "node:events";
import type { Runtime } from "@sallyport/runtime";
import type { GatedPrograms } from "./gated-children.ts";
import type { SdkCall, SdkOutcome } from "./sdk-call.ts";
import type { CalledOutcome } from "./served-sdk-program.ts";

export interface ServedSdk {
  call(call: SdkCall): Promise<SdkOutcome>;
  end(): Promise<void>;
}

interface Peer {
  readonly post: (message: unknown) => void;
  readonly onMessage: (listener: (message: unknown) => void) => void;
  readonly exited: Promise<unknown>;
}

/** In the context of now. */
export function servedChild(runtime: Runtime, { program, realmFile }: GatedPrograms): Promise<ServedSdk> {
  const stdio = ["ignore", "ignore", "inherit", "ipc"] as const;
  const child = runtime.spawn(process.execPath, [program, realmFile], { stdio: [...stdio] });
  return served({
    post: (message) => void child.send(message as object),
    onMessage: (listener) => void child.on("message", listener),
    exited: once(child, "exit"),
  });
}

/** In the context of now. */
export function servedWorker(runtime: Runtime, { program, realmScript }: GatedPrograms): Promise<ServedSdk> {
  const worker = runtime.worker(program, { workerData: { realmScript } });
  return served({
    post: (message) => worker.postMessage(message),
    onMessage: (listener) => void worker.on("message", listener),
    exited: once(worker, "exit"),
  });
}

async function served({ post, onMessage, exited }: Peer): Promise<ServedSdk> {
  const open = new Map<number, (outcome: SdkOutcome) => void>();
  let lastId = 0;
  await new Promise<void>((resolve, reject) => {
    onMessage((message) => {
      if (message === "ready") return resolve();
      const { id, outcome } = message as CalledOutcome;
      open.get(id)?.(outcome);
      open.delete(id);
    });
    void exited.then(() => reject(new Error("the program ended before it was ready")));
  });
  return {
    call: (call) =>
      new Promise((resolve) => {
        const id = ++lastId;
        open.set(id, resolve);
        post({ id, ...call });
      }),
    end: async () => {
      post("end");
      await exited;
    },
  };
}
