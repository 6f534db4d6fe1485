/**
 * A guarded program for tests, as a process and as a worker: opens its gate, asks what it is told to ask, and says the
 * answers. `node program REALM_SCRIPT TASK`, where the task is JSON.
 */
import { openSync, readFileSync } from "node:fs";
import { isMainThread, parentPort } from "node:worker_threads";
import { connectRuntime } from "../child.ts";

/** WHY so long: a decision comes when the machine gets to it; nothing here is about waiting in vain. */
const WAIT_MS = 600_000;

export interface GatedTask {
  /** Targets to receive from, without a request. */
  readonly targets?: readonly string[];
  /** Sockets to connect to, without a request. */
  readonly connects?: readonly string[];
  /** Asks to send there, and does not wait. */
  readonly sends?: string;
  /** A subject that the program claims to be for all of it. */
  readonly claim?: { readonly type: "module"; readonly name: string };
  /** Tries to decide for itself. */
  readonly approves?: boolean;
  /** A file to read. */
  readonly file?: string;
  /** Descriptors of other processes to open. */
  readonly descriptors?: readonly string[];
  /** Asks for a request, and waits for the decision. */
  readonly waitsFor?: string;
}

export interface GatedAnswers {
  readonly codes: readonly string[];
  readonly requestIds: readonly string[];
  readonly approval?: string;
  readonly file?: string;
  readonly descriptors?: readonly string[];
  readonly gateVariable: boolean;
}

interface WorkerTask {
  readonly realmScript: string;
  readonly task: GatedTask;
}

async function work(
  sdk: Awaited<ReturnType<typeof connectRuntime>>["sdk"],
  task: GatedTask,
): Promise<GatedAnswers> {
  const codes: string[] = [];
  const requestIds: string[] = [];
  for (const target of task.targets ?? []) {
    const access = sdk.access.network.receive(target);
    codes.push((await sdk.access.checkExternalAccess(access, { registerRequest: false })).code);
  }
  for (const target of task.connects ?? []) {
    const access = sdk.access.network.connect(target);
    codes.push((await sdk.access.checkExternalAccess(access, { registerRequest: false })).code);
  }
  if (task.sends !== undefined)
    codes.push((await sdk.access.checkExternalAccess(sdk.access.network.send(task.sends))).code);
  if (task.waitsFor !== undefined) {
    const access = sdk.access.network.receive(task.waitsFor);
    codes.push((await sdk.access.checkExternalAccess(access, { wait: { timeoutMs: WAIT_MS } })).code);
  }
  const approval =
    task.approves === true
      ? await sdk.access.approvePermanently({ requestId: "", digest: "" }).then(String, ({ name }) => name)
      : undefined;
  const file =
    task.file === undefined ? undefined : await sdk.fs.readFile(task.file, "utf8").catch(({ name }) => name);
  const descriptors = task.descriptors?.map((path) => {
    try {
      return `opened ${openSync(path, "r+")}`;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? "";
    }
  });
  const gateVariable = isMainThread && "SALLYPORT_GATE_FD" in process.env;
  return { codes, requestIds, approval, file, descriptors, gateVariable } as GatedAnswers;
}

const [, , scriptFile = "", taskText = "{}"] = process.argv;
if (isMainThread) {
  const { sdk } = await connectRuntime({ realmScript: readFileSync(scriptFile, "utf8") });
  const task = JSON.parse(taskText) as GatedTask;
  const run = () => work(sdk, task);
  const answers = await (task.claim === undefined ? run() : sdk.run(task.claim, run));
  process.stdout.write(JSON.stringify(answers));
} else {
  const { workerData } = await import("node:worker_threads");
  const { realmScript, task } = (workerData as { readonly data: WorkerTask }).data;
  const { sdk } = await connectRuntime({ realmScript });
  const run = () => work(sdk, task);
  parentPort?.postMessage(await (task.claim === undefined ? run() : sdk.run(task.claim, run)));
}
