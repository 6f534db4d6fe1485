// @ts-check
/**
 * Purpose: two persons decide the same request at the same moment, one approves and one denies: exactly one wins, the other
 * is told who did, and what is then answered, on every node, is what the winner said.
 */
import { READER, person, read, shown } from "../node-under-bench.mjs";
import { inLanes } from "./lanes.mjs";
import { decidedCode, registeredId } from "./patient-check.mjs";

/**
 * @typedef {import("@sallyport/service").AccessService} AccessService
 * @typedef {import("./revoke-pairs.mjs").Finding} Finding
 */

const LANES = 16;
const APPROVER = 1;
const DENIER = 2;

/**
 * @param {{ name: string, approves: AccessService, denies: AccessService, races: number }} options
 * @returns {Promise<Finding & { approvals: number }>}
 */
export async function soakRaces({ name, approves, denies, races }) {
  let approvals = 0;
  let violations = 0;
  const ms = await inLanes({ title: name, rounds: races, lanes: LANES }, async (race) => {
    const outcome = await winnerOf({ approves, denies }, race);
    if (typeof outcome === "string") {
      violations += 1;
      console.error(`race ${race} was broken: ${outcome}`);
    } else if (outcome === APPROVER) approvals += 1;
  });
  // WHY: where one side always wins nothing raced.
  const ok = violations === 0 && approvals > 0 && approvals < races;
  const wanted = "one winner, one clear answer";
  return { name, rounds: races, ms, found: violations, wanted, ok, approvals };
}

/** Who won, or how the rules of a race were broken. @param {{ approves: AccessService, denies: AccessService }} nodes @param {number} race */
async function winnerOf({ approves, denies }, race) {
  const access = read(`/srv/race/${race}`);
  const seen = await shown(approves, await registeredId(approves, access));
  const calls = [
    () => approves.approvePermanently(person(APPROVER), seen),
    () => denies.deny(person(DENIER), seen),
  ];
  const isTurned = race % 2 === 1;
  const answers = await Promise.all((isTurned ? calls.toReversed() : calls).map((call) => call()));
  const [approved, denied] = isTurned ? answers.toReversed() : answers;
  const said = JSON.stringify({ approved, denied });
  if (approved === undefined || denied === undefined || approved.ok === denied.ok)
    return `one winner: ${said}`;
  const winner = approved.ok ? APPROVER : DENIER;
  const [won, lost] = approved.ok ? [approved, denied] : [denied, approved];
  if (!won.ok || lost.ok || lost.code !== "already_decided" || lost.decidedBy !== winner)
    return `one clear answer: ${said}`;
  const expected = approved.ok ? "allowed_permanent" : "resource_disabled";
  for (const node of [approves, denies]) {
    await node.atLeast(won.revision);
    const code = await decidedCode(node, access);
    if (code !== expected) return `\`${expected}\` on every node, not \`${code}\`: ${said}`;
  }
  return winner;
}

/** What the store holds is what was won. @param {AccessService} service @param {{ races: number, approvals: number }} result */
export async function countsAgree(service, { races, approvals }) {
  const own = { subjectType: READER.type, subjectName: READER.name };
  /** @param {"approvals" | "denials"} list */
  const count = async (list) => {
    let total = 0;
    for (let after = null; ;) {
      const page = await service.list[list](person(), own, { limit: 1000, after });
      total += page.rows.length;
      if (page.next === null) return total;
      after = /** @type {never} */ (page.next);
    }
  };
  return (await count("approvals")) === approvals && (await count("denials")) === races - approvals;
}
