// @ts-check
/**
 * Purpose: what it costs to make a request and an approval durable, beside the least that durability costs on the same
 * file system: one block appended and synced. Measured as the store's transaction alone and as the whole call.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openScratchStore } from "../filling.mjs";
import { ask, guarded, otherSubject, person, read, shown, startNode } from "../node-under-bench.mjs";
import { inTurns } from "../sampling.mjs";

/** @typedef {import("../sampling.mjs").Figure} Figure */
/** @typedef {import("@sallyport/store").EventRow} EventRow */
/** @typedef {Record<"write" | "writeMany" | "storeRequest" | "storeApproval" | "request" | "approval", Figure>} Durable */

const BLOCK = Buffer.alloc(4096, 7);
/** As many as a commit of a request hands to SQLite's log. */
const BLOCKS = Buffer.alloc(13 * 4096, 7);
const WARM_UPS = 300;
const LASTS_MS = 3_600_000;

/** @param {{ rounds: number, calls: number }} options @returns {Promise<Durable>} */
export async function run(options) {
  const { folder, store, close } = await openScratchStore();
  const service = await startNode(store);
  const file = openSync(join(folder, "floor"), "a");
  const written = (/** @type {Buffer} */ bytes) => () => {
    writeSync(file, bytes);
    fdatasyncSync(file);
  };
  let at = 0;
  const register = async () => {
    const caller = guarded(otherSubject(at));
    const { requestId } = await service.check(caller, ask(read(`/srv/durable/${at++}`)));
    if (requestId === undefined) throw new Error("nothing was registered");
    return requestId;
  };
  /** @type {string[]} */
  const registered = [];
  /** @type {import("@sallyport/service").ByRequest[]} */
  const seen = [];
  const see = async () => {
    for (const id of registered.splice(0)) seen.push(await shown(service, id));
  };
  const approve = async () => {
    const by = seen.pop();
    if (by === undefined) throw new Error("there is no request to approve");
    const decision = await service.approvePermanently(person(), by);
    if (!decision.ok) throw new Error(decision.message);
  };
  for (let turn = 0; turn < WARM_UPS; turn++) {
    registered.push(await register());
    await see();
    await approve();
  }
  // WHY a store of their own: a node beside them would read every revision that they make.
  const alone = await openScratchStore();
  const rows = await sampleRows(store, alone.store);
  const figures = await inTurns(
    {
      write: written(BLOCK),
      writeMany: written(BLOCKS),
      storeRequest: () => rows.insertRequest(),
      storeApproval: () => rows.insertApproval(),
      request: async () => void registered.push(await register()),
      approval: approve,
    },
    { ...options, before: see },
  );
  await alone.close();
  closeSync(file);
  await service.stop();
  await close();
  return figures;
}

/**
 * The rows of a request and of an approval with their events, each in one transaction of the store: what the service
 * wrote, with ids, targets and times as if it had gone on.
 * @param {import("@sallyport/store").AccessStore} from what the service wrote @param {import("@sallyport/store").AccessStore} store
 */
export async function sampleRows(from, store) {
  const { request, approval, asked, given } = await from.read(async (tx) => {
    const eventOf = async (/** @type {string} */ type) =>
      (await tx.events.search({ type }, { limit: 1 })).rows[0] ?? lacking(type);
    return {
      request: (await tx.requests.list({}, { limit: 1 })).rows[0] ?? lacking("request"),
      approval: (await tx.approvals.list({}, { limit: 1 })).rows[0] ?? lacking("approval"),
      asked: [await eventOf("permission.requested")],
      given: [await eventOf("permission.resolved"), await eventOf("policy.changed")],
    };
  });
  /** @type {{ readonly id: string, readonly target: string }[]} */
  const pending = [];
  let at = 0;
  let seq = 0;
  let ids = 0;
  let nowMs = Date.now();
  const madeId = (/** @type {string} */ kind) => `${kind}-${Math.random().toString(16).slice(2)}-${++ids}`;
  /** @param {readonly EventRow[]} events @param {{ readonly id: string, readonly target: string }} request */
  const again = (events, { id, target }) =>
    events.map((event) => ({
      ...event,
      node: "node-rows",
      seq: ++seq,
      timeMs: nowMs,
      requestId: id,
      target,
    }));
  return {
    insertRequest: async () => {
      const id = madeId("request");
      const target = `/srv/rows/${at++}`;
      const firstSeenMs = ++nowMs;
      await store.transaction(async (tx) => {
        const expiresAtMs = firstSeenMs + LASTS_MS;
        const made = { ...request, id, target, targetRequested: target, firstSeenMs, expiresAtMs };
        if ((await tx.requests.findPending(made)) !== null) throw new Error("the request is there already");
        await tx.requests.insert(made);
        await tx.events.append(again(asked, made));
      });
      pending.push({ id, target });
    },
    insertApproval: async () => {
      const { id: requestId, target } = pending.pop() ?? lacking("pending request");
      const id = madeId("approval");
      const createdMs = ++nowMs;
      await store.transaction(async (tx) => {
        if ((await tx.requests.lock(requestId)) === null) throw new Error("there is no request");
        await tx.approvals.insert({ ...approval, id, target, requestId, createdMs });
        const words = { decidedBy: { id: 1 }, decidedAtMs: createdMs, reason: null, approvalId: id };
        await tx.requests.settle(requestId, { from: "pending", to: "approved_permanent", ...words });
        await tx.revisions.append({ body: [{ kind: "approval", id }], createdMs });
        await tx.events.append(again(given, { id: requestId, target }));
      });
    },
  };
}

/** @param {string} what @returns {never} */
function lacking(what) {
  throw new Error(`the service wrote no ${what}`);
}
