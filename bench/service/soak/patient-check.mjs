// @ts-check
/**
 * Purpose: calls that are made again where a node cannot vouch for its view, or where its store took too long.
 * WHY: on a machine that does other work as well that is a refusal of a moment; what matters is what follows it.
 */
import { setTimeout as delay } from "node:timers/promises";
import { ask, guarded, passive } from "../node-under-bench.mjs";

/**
 * @typedef {import("@sallyport/service").AccessService} AccessService
 * @typedef {import("@sallyport/contract").Access} Access
 */

const ATTEMPTS_MAX = 1000;
const PAUSE_MS = 20;

/**
 * A decision or revocation, which may be said again: the same of the same person is the same answer.
 * @template T @param {() => Promise<T>} decide @returns {Promise<T>}
 */
export async function decidedPatiently(decide) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await decide();
    } catch (error) {
      const isBusy = error instanceof Error && "code" in error && error.code === "unavailable";
      if (!isBusy || attempt === ATTEMPTS_MAX) throw error;
      await delay(PAUSE_MS);
    }
  }
}

/** @param {AccessService} node @param {import("@sallyport/service").Ask} what */
async function patiently(node, what) {
  for (let attempt = 1; ; attempt++) {
    const check = await node.check(guarded(), what);
    if (check.code !== "unavailable" || attempt === ATTEMPTS_MAX) return check;
    await delay(PAUSE_MS);
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
