// @ts-check
/**
 * Purpose: a check that asks again where a node cannot vouch for its view.
 * WHY: while others change the store without pause that is a refusal of a moment; what matters is what follows it.
 */
import { ask, guarded, passive } from "../node-under-bench.mjs";

/**
 * @typedef {import("@sallyport/service").AccessService} AccessService
 * @typedef {import("@sallyport/contract").Access} Access
 */

const ATTEMPTS_MAX = 1000;

/** @param {AccessService} node @param {import("@sallyport/service").Ask} what */
async function patiently(node, what) {
  for (let attempt = 1; ; attempt++) {
    const check = await node.check(guarded(), what);
    if (check.code !== "unavailable" || attempt === ATTEMPTS_MAX) return check;
  }
}

/** @param {AccessService} node @param {Access} access */
export const decidedCode = async (node, access) => (await patiently(node, passive(access))).code;

/** @param {AccessService} node @param {Access} access */
export async function registeredId(node, access) {
  const { requestId, code } = await patiently(node, ask(access));
  if (requestId === undefined) throw new Error(`nothing was registered: \`${code}\``);
  return requestId;
}
