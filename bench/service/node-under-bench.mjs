// @ts-check
/**
 * Purpose: one node of the service on a real store, and the callers that ask it. The same for every stage and the soak.
 * Trusts the built packages. Must never be slower or laxer than what a host would make: nothing is stubbed.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BLANK_CALLER, parseAccess, parseSubject, whatwgUrl } from "@sallyport/contract";
import { AccessService, ActionRegistry, newKeyRing } from "@sallyport/service";

/**
 * @typedef {import("@sallyport/service").CallerContext} CallerContext
 * @typedef {import("@sallyport/service").Ask} Ask
 * @typedef {import("@sallyport/contract").Access} Access
 * @typedef {import("@sallyport/contract").Subject} Subject
 * @typedef {import("@sallyport/store").AccessStore} AccessStore
 * @typedef {Partial<import("@sallyport/service").AccessServiceOptions>} NodeChanges
 */

const SEED = /** @type {const} */ ([0x5a11, 0x9027]);
const CONTRACT = "contract-bench";
const PENDING_MAX = 1_000_000;

/** @param {string} type @param {string} name @returns {Subject} */
function subjectOf(type, name) {
  const parsed = parseSubject(type, name);
  if (!parsed.ok) throw new TypeError(parsed.message);
  return parsed.value;
}

export const READER = subjectOf("tool", "demo.read_file");
/** So that each has a handful of pending requests, as a real one has. */
const OTHERS = Array.from({ length: 20 }, (_, index) => subjectOf("tool", `demo.tool_${index}`));
export const otherSubject = (/** @type {number} */ index) => OTHERS[index % OTHERS.length];

/** @param {string} target @returns {Access} */
export function read(target) {
  const parsed = parseAccess({ resourceType: "filesystem", operation: "read", target }, whatwgUrl);
  if (!parsed.ok) throw new TypeError(parsed.message);
  return parsed.value;
}

/** What the subject declared. */
export const DECLARED = read("/srv/declared/item");

/** @type {Map<Subject, CallerContext["frames"]>} */
const framesOf = new Map();

/** Frozen and kept for all calls of a subject, as the runtime keeps them. @param {Subject} subject */
function frames(subject) {
  const known = framesOf.get(subject);
  if (known !== undefined) return known;
  const contracts = Object.freeze([CONTRACT]);
  const frame = Object.freeze({ subject, phase: "runtime", entry: "host", contracts });
  const made = /** @type {CallerContext["frames"]} */ (Object.freeze([frame]));
  framesOf.set(subject, made);
  return made;
}

/** Guarded code of user 21. @param {Subject} [subject] @returns {CallerContext} */
export const guarded = (subject = READER) => ({
  ...BLANK_CALLER,
  frames: frames(subject),
  user: { id: 21, roles: ["member"], accessLevel: null },
  organizationId: 7,
  sessionKey: "session-21",
  taskId: "task-1",
  interactive: true,
});

/** A person who may decide. @param {number} [id] @returns {CallerContext} */
export const person = (id = 1) => ({
  ...guarded(),
  frames: [],
  user: { id, roles: ["super"], accessLevel: null },
  organizationId: null,
  sessionKey: null,
  taskId: null,
  credential: "host",
});

/** @param {Access} access @param {Partial<Ask>} [changes] @returns {Ask} */
export const ask = (access, changes = {}) => ({ access, attestedBy: "service", enforced: false, ...changes });

/** @param {Access} access @returns {Ask} */
export const passive = (access) => ask(access, { registerRequest: false });

/** Starts a node on a store that is open. @param {AccessStore} store @param {NodeChanges} [changes] */
export async function startNode(store, changes = {}) {
  const ring = newKeyRing(new Date(0).toISOString());
  const service = new AccessService({
    store,
    nodeId: "node-a",
    seed: SEED,
    parseUrl: whatwgUrl,
    keyRing: () => ring,
    maskingKey: new Uint8Array(32).fill(7),
    actions: new ActionRegistry(() => undefined),
    ownPlaces: { folders: [], sockets: [], apiPorts: [4180], apiHosts: [], apiOrigins: [] },
    runsResumes: false,
    // WHY: a subject under measurement asks more than any real one may.
    limits: { pendingMax: PENDING_MAX },
    rate: { burst: PENDING_MAX, perSecond: PENDING_MAX },
    ...changes,
  });
  service.applyHost({
    kind: "contract_set",
    contract: {
      id: CONTRACT,
      access: [{ resourceType: "filesystem", operation: "read", target: "/srv/declared/" }],
    },
  });
  service.applyHost({ kind: "subject_registered", registration: { subject: READER, contracts: [CONTRACT] } });
  await service.start();
  return service;
}

/** A folder of its own on the file system that is measured; gone at the end. */
export function makeFolder() {
  const folder = realpathSync(mkdtempSync(join(process.env["SALLYPORT_BENCH_DIR"] || tmpdir(), "sp-bench-")));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** What the approver would click on. @param {AccessService} service @param {string | undefined} requestId */
export async function shown(service, requestId) {
  const record = await service.list.request(person(), requestId ?? "");
  if (record === null) throw new Error("a request that was registered is not there");
  return { requestId: record.id, digest: record.digest };
}
