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
/** @typedef {Record<"write" | "writeMany" | "storeRequest" | "storeApproval" | "request" | "approval", Figure>} Durable */

const BLOCK = Buffer.alloc(4096, 7);
/** As many as a commit of a request hands to SQLite's log. */
const BLOCKS = Buffer.alloc(17 * 4096, 7);
const WARM_UPS = 300;

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
 * The rows of a request and of an approval with their events, each in one transaction of the store.
 * @param {import("@sallyport/store").AccessStore} from what the service wrote @param {import("@sallyport/store").AccessStore} store
 */
async function sampleRows(from, store) {
  const { request, approval, event } = await from.read(async (tx) => ({
    request: (await tx.requests.list({}, { limit: 1 })).rows[0],
    approval: (await tx.approvals.list({}, { limit: 1 })).rows[0],
    event: (await tx.events.search({ type: "permission.requested" }, { limit: 1 })).rows[0],
  }));
  if (request === undefined || approval === undefined || event === undefined)
    throw new Error("there are no rows");
  /** @type {string[]} */
  const pending = [];
  let at = 0;
  let seq = 0;
  const events = (/** @type {number} */ count) =>
    Array.from({ length: count }, () => ({ ...event, node: "node-rows", seq: ++seq }));
  return {
    insertRequest: async () => {
      const target = `/srv/rows/${at++}`;
      const id = `request-rows-${at}`;
      await store.transaction(async (tx) => {
        const made = { ...request, id, target, targetRequested: target };
        if ((await tx.requests.findPending(made)) !== null) throw new Error("the request is there already");
        await tx.requests.insert(made);
        await tx.events.append(events(1));
      });
      pending.push(target);
    },
    insertApproval: async () => {
      const target = pending.pop() ?? "";
      const id = `request-rows-${Number(target.split("/").at(-1)) + 1}`;
      await store.transaction(async (tx) => {
        const locked = await tx.requests.lock(id);
        if (locked === null) throw new Error("there is no request");
        await tx.approvals.insert({ ...approval, id: `approval-${id}`, target, requestId: id });
        const approvalId = `approval-${id}`;
        const words = { decidedBy: { id: 1 }, decidedAtMs: 1, reason: null, approvalId };
        await tx.requests.settle(id, { from: "pending", to: "approved_permanent", ...words });
        const revision = await tx.revisions.next();
        await tx.revisions.append({ revision, body: [{ kind: "approval", id: approvalId }], createdMs: 1 });
        await tx.events.append(events(2));
      });
    },
  };
}
