// @ts-check
/**
 * Purpose: an allowed check on a node where many requests are pending, beside one where none is. Declared: answered from
 * memory, recorded in batches. Approved: its record is durable before the answer.
 * The nodes take turns call by call: what a disk or a neighbour adds to some calls in a hundred then falls on both alike. In
 * rounds it decided by chance whether a round's p99 held such a call.
 */
import { fillRequests, openScratchStore } from "../filling.mjs";
import { DECLARED, READER, ask, guarded, passive, person, read, startNode } from "../node-under-bench.mjs";
import { inTurns } from "../sampling.mjs";

/** @typedef {import("../sampling.mjs").Figure} Figure */
/** @typedef {{ pending: number } & Record<"declaredIdle" | "declared" | "approvedIdle" | "approved", Figure>} Pending */

const APPROVED = read("/srv/approved/item");

/** @param {import("@sallyport/service").AccessService} node @param {import("@sallyport/contract").Access} access */
const allowed = (node, access) => async () => {
  const { code } = await node.check(guarded(), access === DECLARED ? ask(access) : passive(access));
  if (!code.startsWith("allowed_")) throw new Error(`a check that must be allowed is \`${code}\``);
};

/** @param {{ pending: number, rounds: number, calls: number }} options @returns {Promise<Pending>} */
export async function run({ pending, rounds, calls }) {
  const [idle, busy] = [await openScratchStore(), await openScratchStore()];
  await fillRequests(busy.store, pending);
  const nodes = [await startNode(idle.store), await startNode(busy.store)];
  for (const node of nodes) await node.approvePermanently(person(), { subject: READER, access: APPROVED });
  const [nodeIdle, nodeBusy] = /** @type {[typeof nodes[0], typeof nodes[0]]} */ (nodes);
  const declared = await inTurns(
    { declaredIdle: allowed(nodeIdle, DECLARED), declared: allowed(nodeBusy, DECLARED) },
    { rounds: rounds * calls, calls: 1 },
  );
  const approved = await inTurns(
    { approvedIdle: allowed(nodeIdle, APPROVED), approved: allowed(nodeBusy, APPROVED) },
    { rounds: Math.ceil((rounds * calls) / 5), calls: 1 },
  );
  for (const node of nodes) await node.stop();
  for (const scratch of [idle, busy]) await scratch.close();
  return { pending, ...declared, ...approved };
}
