// @ts-check
/**
 * Purpose: approve on one node, see it allowed on the other, revoke, and ask the other at once: it must not allow.
 * The control runs the same on nodes that do not wait for each other, and must find stale allows.
 */
import { openPostgresStore } from "@sallyport/store/postgres";
import { READER, person, read, startNode } from "../node-under-bench.mjs";
import { inLanes } from "./lanes.mjs";
import { decidedCode, decidedPatiently } from "./patient-check.mjs";

/**
 * @typedef {import("@sallyport/store").AccessStore} AccessStore
 * @typedef {import("@sallyport/service").AccessService} AccessService
 * @typedef {{ name: string, rounds: number, ms: number, found: number, wanted: string, ok: boolean }} Finding
 */

const LANES = 32;

/**
 * Nobody is told of a change and nobody waits for others. WHY `sqlite`: the owner of such a store is the only node, so a
 * node that takes its store for one neither waits nor fences itself.
 * @param {AccessStore} store @returns {AccessStore}
 */
const withoutPropagation = (store) => ({
  engine: "sqlite",
  transaction: (work) => store.transaction(work),
  read: (work) => store.read(work),
  onRevision: () => () => undefined,
  close: () => store.close(),
});

/** @param {{ url: string, pairs: number, propagates: boolean }} options @returns {Promise<Finding>} */
export async function soakRevocations({ url, pairs, propagates }) {
  const stores = [await openPostgresStore({ url }), await openPostgresStore({ url })];
  const [storeA, storeB] = stores.map((store) => (propagates ? store : withoutPropagation(store)));
  if (storeA === undefined || storeB === undefined) throw new Error("two stores were opened");
  const a = await startNode(storeA);
  const b = await startNode(storeB, { nodeId: "node-b" });
  const title = propagates ? "revoke, then check on the other node" : "the same without propagation";
  let stale = 0;
  const ms = await inLanes({ title, rounds: pairs, lanes: LANES }, async (pair) => {
    const [here, there] = pair % 2 === 0 ? [a, b] : [b, a];
    if (await isStale(here, there, `/srv/revoke/${pair}`)) stale += 1;
  });
  for (const [service, node] of /** @type {const} */ ([
    [a, "node-a"],
    [b, "node-b"],
  ])) {
    const report = await service.audit.verify(new Map(), node);
    if (!report.ok) throw new Error(`the audit log of ${node} does not verify: ${report.message}`);
  }
  for (const service of [a, b]) await service.stop();
  for (const store of stores) await store.close();
  const [wanted, ok] = propagates ? ["0 stale allows", stale === 0] : ["stale allows", stale > 0];
  return { name: title, rounds: pairs, ms, found: stale, wanted, ok };
}

/** @param {AccessService} here @param {AccessService} there @param {string} path */
async function isStale(here, there, path) {
  const access = read(path);
  const given = await decidedPatiently(() => here.approvePermanently(person(), { subject: READER, access }));
  if (!given.ok || given.approval === null) throw new Error("an approval that was given ahead was refused");
  await there.atLeast(given.revision);
  const before = await decidedCode(there, access);
  if (before !== "allowed_permanent") throw new Error(`approved, and then \`${before}\``);
  const { id } = given.approval;
  const revoked = await decidedPatiently(() => here.revokeApproval(person(), { id }));
  if (!revoked.ok) throw new Error(`a revocation was refused: ${revoked.message}`);
  return (await decidedCode(there, access)) === "allowed_permanent";
}
