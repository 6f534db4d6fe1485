// @ts-check
/**
 * Purpose: stores with many rows. The first row is made by the service itself; the others are copies of it with their own
 * identity, written through the port, so that they are rows that the service could have written.
 */
import { join } from "node:path";
import { openSqliteStore } from "@sallyport/store/sqlite";
import { READER, ask, guarded, makeFolder, person, read, shown, startNode } from "./node-under-bench.mjs";

/**
 * @typedef {import("@sallyport/store").AccessStore} AccessStore
 * @typedef {import("@sallyport/service").AccessService} AccessService
 * @typedef {Parameters<AccessService["audit"]["record"]>[0]} UnchainedEvent
 */

const BATCH = 1000;
/** WHY: no real subject may hold more pending requests than this. */
const PENDING_EACH = 50;

/** A SQLite store in a folder of its own. */
export async function openScratchStore() {
  const { folder, remove } = makeFolder();
  const store = await openSqliteStore({ path: join(folder, "store.db") });
  return {
    folder,
    store,
    close: async () => {
      await store.close();
      remove();
    },
  };
}

/** @param {number} count @param {(from: number, to: number) => Promise<void>} write */
async function inBatches(count, write) {
  for (let from = 0; from < count; from += BATCH) await write(from, Math.min(count, from + BATCH));
}

/** Pending requests of many subjects. Gives back their ids. @param {AccessStore} store @param {number} count */
export async function fillRequests(store, count) {
  const service = await startNode(store, { nodeId: "node-fill" });
  const { requestId } = await service.check(guarded(), ask(read("/srv/fill/first")));
  await service.stop();
  const first = await store.read((tx) => tx.requests.get(requestId ?? ""));
  if (first === null) throw new Error("the first request was not registered");
  const ids = [first.id];
  await inBatches(count - 1, async (from, to) => {
    await store.transaction(async (tx) => {
      for (let at = from; at < to; at++) {
        const name = /** @type {typeof READER.name} */ (`demo.tool_${Math.floor(at / PENDING_EACH)}`);
        const target = `/srv/fill/${at}`;
        const id = `request-${`${at}`.padStart(32, "0")}`;
        const subject = { type: READER.type, name };
        const firstSeenMs = first.firstSeenMs + at;
        await tx.requests.insert({ ...first, id, subject, target, targetRequested: target, firstSeenMs });
        ids.push(id);
      }
    });
  });
  return ids;
}

/** Permanent approvals of one subject. @param {AccessStore} store @param {number} count */
export async function fillApprovals(store, count) {
  const service = await startNode(store, { nodeId: "node-fill" });
  const { requestId } = await service.check(guarded(), ask(read("/srv/approved/first")));
  const decision = await service.approvePermanently(person(), await shown(service, requestId));
  await service.stop();
  if (!decision.ok) throw new Error(decision.message);
  const first = await store.read((tx) => tx.approvals.get(decision.approval?.id ?? ""));
  if (first === null) throw new Error("the first approval was not given");
  await inBatches(count - 1, async (from, to) => {
    await store.transaction(async (tx) => {
      for (let at = from; at < to; at++) {
        const id = `approval-${`${at}`.padStart(32, "0")}`;
        await tx.approvals.insert({ ...first, id, target: `/srv/approved/${at}`, requestId: null });
      }
    });
  });
}

/**
 * The event of one plain allow, as the service hands it to its log.
 * @param {AccessService} service @returns {Promise<UnchainedEvent>}
 */
async function plainAllow(service) {
  const { audit } = service;
  /** @type {UnchainedEvent[]} */
  const seen = [];
  const record = audit.record.bind(audit);
  audit.record = (event) => {
    seen.push(event);
    record(event);
  };
  await service.check(guarded(), ask(read("/srv/declared/event")));
  audit.record = record;
  const [event] = seen;
  if (event === undefined) throw new Error("the first event was not recorded");
  return event;
}

/**
 * Records events of one caller, each with its own id, decision and target, and waits until they are durable. They share
 * what real events of one caller share.
 * @param {AccessService} service @param {number} count @returns {Promise<number>} milliseconds
 */
export async function fillEvents(service, count) {
  const { envelope, columns } = await plainAllow(service);
  await service.audit.flush();
  const { data } = /** @type {{ data: Record<string, object> }} */ (/** @type {unknown} */ (envelope));
  const started = performance.now();
  for (let done = 0; done < count; done += WAVE) {
    for (let at = done; at < Math.min(done + WAVE, count); at++) {
      const target = `/srv/declared/event-${at}`;
      const own = {
        resource: { ...data["resource"], target },
        requested: { ...data["requested"], target },
        permission_decision: { ...data["permission_decision"], id: `decision-${at}` },
      };
      const copy = { ...envelope, id: `event-${at}`, data: { ...data, ...own } };
      service.audit.record({
        envelope: /** @type {UnchainedEvent["envelope"]} */ (copy),
        columns: { ...columns, target },
      });
    }
    await service.audit.flush();
  }
  if (service.audit.lost > 0) throw new Error(`${service.audit.lost} events found no room`);
  return performance.now() - started;
}

/** Fewer than the log has room for. */
const WAVE = 5000;
