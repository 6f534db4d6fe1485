// @ts-check
/**
 * Purpose: what a check over HTTP takes, by a person and by a remote host, beside a bare route that parses and answers as
 * much JSON. Each server is a process of its own; calls take turns, so that what the machine does besides meets them all.
 */
import { createHmac } from "node:crypto";
import { generateHolderKey } from "@sallyport/client";
import { callSessionMacInput } from "@sallyport/contract/remote";
import { READER } from "../../service/node-under-bench.mjs";
import { inTurns } from "../../service/sampling.mjs";
import { openCallSession } from "../call-session.mjs";
import { Caller } from "../caller.mjs";
import { ServerProcess } from "../server-process.mjs";

/** @typedef {import("../../service/sampling.mjs").Figure} Figure */
/** @typedef {Figure & { bestCpuMs: number }} Measured `bestCpuMs`: of the server, for one call, in its best round */
/** @typedef {{ bare: Measured, trial: Measured, session: Measured, signed: Measured }} Call */
/** @typedef {keyof Call} Kind */

const TARGET = "/srv/declared/item";
const RESOURCE = { type: "filesystem", operation: "read", target: TARGET };
const ASKED = JSON.stringify({
  chain: [{ subject: READER, phase: "runtime", entry: "host" }],
  task_id: "task-1",
  interactive: false,
  access: { kind: "access", resource: RESOURCE, requested: TARGET },
  attested_by: "service",
  enforced: false,
});
const TRIED = JSON.stringify({ subject: READER, resource: RESOURCE });
const CHECK = "/v1/runtime/check";

/** @param {{ rounds: number, calls: number }} effort @returns {Promise<Call>} */
export async function run({ rounds, calls }) {
  const server = await ServerProcess.start("sallyport");
  const bareServer = await ServerProcess.start("bare");
  const person = await server.administrator();
  const remote = new Caller(server.origin);
  const bare = new Caller(bareServer.origin);
  const holder = await holderOf(server);
  const sample = await remote.post(CHECK, ASKED, await holder.signed());
  if (sample.json.allowed !== true) throw new Error("the check of the bench is not allowed");
  await bareServer.ask("sample", { answer: sample.json });
  const marked = await holder.session();
  /** @type {Readonly<Record<string, string>>[]} */
  let heads = [];
  const { before, cpu } = usageOf(
    { bare: bareServer, trial: server, session: server, signed: server },
    calls,
  );
  const figures = await inTurns(
    {
      bare: () => bare.post("/check", ASKED),
      trial: () => person.post("/v1/check", TRIED),
      session: () => remote.post(CHECK, ASKED, heads.pop()),
      signed: () => remote.post(CHECK, ASKED, heads.pop()),
    },
    {
      rounds,
      calls,
      // WHY before: signing is the remote host's own work.
      before: async (name) => {
        if (name === "session") heads = Array.from({ length: calls }, marked).toReversed();
        if (name === "signed") heads = await Promise.all(Array.from({ length: calls }, holder.signed));
        await before(name);
      },
    },
  );
  await before(null);
  for (const caller of [person, remote, bare]) caller.close();
  await server.stop();
  await bareServer.stop();
  const measured = Object.entries(figures).map(([name, figure]) => [
    name,
    { ...figure, bestCpuMs: cpu(/** @type {Kind} */ (name)) },
  ]);
  return Object.fromEntries(measured);
}

/** @param {ServerProcess} server */
async function holderOf(server) {
  const key = await generateHolderKey();
  const { token } = await server.ask("issue", { thumbprint: key.thumbprint });
  const url = `${server.origin}${CHECK}`;
  /** @param {string} path @param {string} body */
  const prove = async (path, body) => ({
    authorization: `DPoP ${token}`,
    dpop: await key.prove({ method: "POST", url: `${server.origin}${path}`, body, token, nowMs: Date.now() }),
  });
  const session = async () => {
    const opened = await openCallSession(server.origin, key.thumbprint, prove);
    let number = 0;
    return () => {
      number += 1;
      const timeMs = Date.now();
      const mac = createHmac("sha256", opened.key)
        .update(callSessionMacInput({ method: "POST", url, number, timeMs }))
        .update(ASKED)
        .digest("base64url");
      return { authorization: `SallyportSession ${opened.sessionId}.${number}.${timeMs}.${mac}` };
    };
  };
  return { signed: () => prove(CHECK, ASKED), session };
}

/**
 * What the servers took for each turn: asked before a turn begins, it is that of the turn before.
 * @param {Readonly<Record<Kind, ServerProcess>>} servers @param {number} calls
 */
function usageOf(servers, calls) {
  /** @type {Map<Kind, number[]>} */
  const taken = new Map();
  /** @type {Kind | null} */
  let running = null;
  return {
    /** @param {Kind | null} next */
    before: async (next) => {
      if (running !== null) {
        const { cpuMs } = await servers[running].usage();
        taken.set(running, [...(taken.get(running) ?? []), cpuMs / calls]);
      }
      running = next;
      if (next !== null) await servers[next].usage();
    },
    /** WHY without the first: it is the round that does not count. @param {Kind} name */
    cpu: (name) => Math.min(...(taken.get(name) ?? []).slice(1)),
  };
}
