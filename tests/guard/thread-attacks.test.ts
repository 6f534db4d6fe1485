/**
 * Attacks on threads while they start: by the native object below them, by what Node sends them first, and by an environment
 * that changes before they come up.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { obtainNode } from "../../tools/nodes.mjs";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
worldOfFile(async (preload) => (world = await openWorld(preload, () => [], {}, ["worker_threads"])));

const BEFORE = `
const { Worker, MessagePort, MessageChannel, SHARE_ENV } = require("worker_threads");
const over = (worker) => new Promise((done, failed) => worker.on("error", failed).on("exit", done));
const nativeOf = (worker) => worker[Object.getOwnPropertySymbols(worker).find(({ description }) => description === "kHandle")];
const { postMessage } = MessagePort.prototype;
/** Sees what Node tells a thread first, and may change it. */
const listening = async (change, work) => {
  MessagePort.prototype.postMessage = function (message, ...rest) {
    return change(this, message, rest, () => postMessage.call(this, message, ...rest));
  };
  try { return await work(); } finally { MessagePort.prototype.postMessage = postMessage; }
};
const said = (port) => new Promise((done) => { port.on("message", done); setTimeout(() => done("nothing was said"), 2_000); }).finally(() => port.close());
const STEALS = "require('worker_threads').parentPort.postMessage(require('fs').readFileSync(" + JSON.stringify(at.secret + "/a.txt") + ", 'utf8'))";
`;

const ATTACKS = {
  "a thread of the native class, without a guard": `
    const first = new Worker("0", { eval: true });
    const Native = nativeOf(first).constructor;
    await over(first);
    const { port1, port2 } = new MessageChannel();
    const { port2: main } = new MessageChannel();
    await listening((port, message, rest, send) => {
      if (message?.type !== "loadScript") return send();
      const own = new Native(null, null, [], new Float64Array(4).fill(-1), true, false, "own");
      own.onexit = () => {};
      postMessage.call(own.messagePort, { ...message, publicPort: port2, mainThreadPort: main, workerData: null, filename: STEALS }, [port2, main]);
      own.startThread();
      return send();
    }, () => over(new Worker("0", { eval: true })));
    return said(port1)`,
  "the gate of a thread, seen in what Node tells it": `
    let gate;
    await listening((port, message, rest, send) => {
      gate ??= message?.workerData?.sallyportGate ?? rest.flat().find((one) => one instanceof MessagePort && one !== message?.publicPort && one !== message?.mainThreadPort);
      return send();
    }, () => over(new Worker("0", { eval: true })));
    return gate === undefined ? "ERR_ACCESS_DENIED: not to be seen" : "seen"`,
  "a gate of its own, put into what Node tells it": `
    const { port1, port2 } = new MessageChannel();
    const heard = said(port1);
    await listening((port, message, rest, send) => {
      if (message?.type !== "loadScript") return send();
      return postMessage.call(port, { ...message, workerData: { ...message.workerData, sallyportGate: port2, sallyportFacts: "{}", sallyportImports: [], data: null } }, [...rest[0], port2]);
    }, () => over(new Worker("0", { eval: true })));
    return (await heard) === "nothing was said" ? "ERR_ACCESS_DENIED: not asked" : "asked"`,
  "a thread of Node's own, which carries no guard": `
    return listening((port, message, rest, send) => {
      if (message?.type === "loadScript") Object.assign(message, { isInternal: true, doEval: "internal", filename: "internal/modules/esm/worker" });
      return send();
    }, () => over(new Worker("0", { eval: true })))`,
  "a message before the first one": `
    return listening((port, message, rest, send) => {
      if (message?.type === "loadScript") postMessage.call(port, { ...message, filename: STEALS, workerData: null }, rest[0]);
      return send();
    }, () => over(new Worker("0", { eval: true })))`,
  "a second one": `
    const worker = new Worker("setInterval(() => {}, 1000)", { eval: true });
    try { return postMessage.call(nativeOf(worker).messagePort, { type: "loadScript", doEval: "classic", filename: "0" }); } finally { await worker.terminate(); }`,
  "the memory of a thread, by its native object": `
    const worker = new Worker("setInterval(() => {}, 1000)", { eval: true });
    await new Promise((done) => worker.on("online", done));
    try { return typeof nativeOf(worker).takeHeapSnapshot(new Uint8Array(2)); } finally { await worker.terminate(); }`,
  "files where a shared environment says, once it was looked at": `
    const worker = new Worker("0", { eval: true, env: SHARE_ENV });
    process.env.NODE_V8_COVERAGE = at.secret + "/coverage";
    await over(worker);
    delete process.env.NODE_V8_COVERAGE;
    return "ERR_ACCESS_DENIED where nothing is left there"`,
};

async function allRefused(node: string): Promise<void> {
  const tasks = Object.entries(ATTACKS).map(
    ([name, work]) => `${JSON.stringify(name)}: async () => { ${work} }`,
  );
  const before = readdirSync(world.places.secret);
  const found = await outcomes(world, tasks.join(",\n"), { isOwn: true, waitMs: 0, before: BEFORE, node });
  for (const [name, outcome] of Object.entries(found))
    expect(`${name}: ${String(outcome)}`).toMatch(/ERR_ACCESS_DENIED/);
  expect(Object.keys(found)).toEqual(Object.keys(ATTACKS));
  expect(readdirSync(world.places.secret)).toEqual(before);
}

it("attack: a thread that starts beside its guard, or has another gate", () => allRefused(process.execPath));

it.each([22, 24, 26] as const)("attack: the same on Node %i", async (line) =>
  allRefused(join(await obtainNode(line), "node")),
);
