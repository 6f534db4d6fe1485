// @ts-check
/** Purpose: what a check over HTTP takes, beside a bare route that parses and answers as much JSON. */
import { createAdaptorServer } from "@hono/node-server";
import { generateHolderKey } from "@sallyport/client";
import { Hono } from "hono";
import { READER } from "../../service/node-under-bench.mjs";
import { inTurns } from "../../service/sampling.mjs";
import { Caller, startServer } from "../server-under-bench.mjs";

/** @typedef {import("../../service/sampling.mjs").Figure} Figure */
/** @typedef {{ bare: Figure, trial: Figure, check: Figure }} Call */

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

/** @param {{ rounds: number, calls: number }} effort @returns {Promise<Call>} */
export async function run({ rounds, calls }) {
  const { server, origin, caller, close } = await startServer();
  const key = await generateHolderKey();
  const grant = {
    subjects: [{ subject: READER, phase: /** @type {const} */ ("runtime") }],
    userId: /** @type {never} */ (21),
    organizationId: /** @type {never} */ (7),
    sessionKey: /** @type {never} */ ("session-21"),
    taskId: null,
    interactive: false,
  };
  const { token } = await server.credentials.issue(grant, key.thumbprint);
  const remote = new Caller(origin);
  const { bare, closeBare } = await startBare();
  /** @type {string[]} */
  let proofs = [];
  const proof = () =>
    key.prove({ method: "POST", url: `${origin}/v1/runtime/check`, body: ASKED, token, nowMs: Date.now() });
  const figures = await inTurns(
    {
      bare: () => bare.post("/check", ASKED),
      trial: () => caller.post("/v1/check", TRIED),
      check: () =>
        remote.post("/v1/runtime/check", ASKED, { authorization: `DPoP ${token}`, dpop: proofs.pop() ?? "" }),
    },
    {
      rounds,
      calls,
      // WHY before: signing is the remote host's own work.
      before: async (name) => {
        proofs = name === "check" ? await Promise.all(Array.from({ length: calls }, proof)) : [];
      },
    },
  );
  remote.close();
  await closeBare();
  await close();
  return figures;
}

async function startBare() {
  const app = new Hono();
  app.post("/check", async (c) => c.json({ ok: true, echoed: await c.req.json() }));
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const bare = new Caller(`http://127.0.0.1:${port}`);
  const closeBare = () =>
    new Promise((resolve) => {
      bare.close();
      server.close(() => resolve(undefined));
    });
  return { bare, closeBare };
}
