// @ts-check
/**
 * Purpose: a server of Sallyport over a node on a real store, and what a bench asks of the process it is in. Trusts the
 * built packages. Nothing is stubbed: calls are authorized, checked and recorded.
 */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer as createProbe } from "node:net";
import { join } from "node:path";
import { whatwgUrl } from "@sallyport/contract";
import { createServer } from "@sallyport/server";
import { openSqliteStore } from "@sallyport/store/sqlite";
import {
  READER,
  ask,
  guarded,
  makeFolder,
  otherSubject,
  person,
  read,
  shown,
  startNode,
} from "../service/node-under-bench.mjs";

/** A port that is free now. @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createProbe();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

export async function startServer() {
  const { folder, remove } = makeFolder();
  const store = await openSqliteStore({ path: join(folder, "store.db") });
  const port = await freePort();
  const service = await startNode(store, {
    ownPlaces: { folders: [], sockets: [], apiPorts: [port], apiHosts: [], apiOrigins: [] },
  });
  const frame = guarded().frames[0];
  if (frame === undefined) throw new Error("the caller of the bench has no frame");
  const server = createServer({
    service,
    parseUrl: whatwgUrl,
    frameOf: (subject) => (subject.name === READER.name ? frame : null),
    credentials: {
      signingKey: { id: "bench", privateKey: generateKeyPairSync("ed25519").privateKey },
      newId: randomUUID,
    },
    admin: {
      service,
      version: "bench",
      // WHY: one person under measurement calls more than any real one may.
      calls: { burst: 1_000_000, everyMs: 0.001 },
      followers: { max: 10_000, perPersonMax: 10_000 },
    },
  });
  const listening = await server.listen({ port });
  const stop = async () => {
    await listening.close();
    await service.stop();
    await store.close();
    remove();
  };
  return {
    origin: listening.origin,
    calls: {
      stop,
      link: async () => {
        const { url } = await server.createSignInLink();
        return url.slice(url.indexOf("#token=") + "#token=".length);
      },
      issue: (/** @type {{ thumbprint: string }} */ { thumbprint }) =>
        server.credentials.issue(GRANT, thumbprint),
      /** Registers requests; what an approver would click on. @param {{ targets: readonly string[] }} words */
      ask: async ({ targets }) => {
        const found = [];
        for (const [index, target] of targets.entries()) {
          const { requestId } = await service.check(guarded(otherSubject(index)), ask(read(target)));
          found.push(await shown(service, requestId));
        }
        return found;
      },
      /** In this process. @param {{ items: readonly { requestId: string, digest: string }[] }} words */
      approve: async ({ items }) => {
        for (const by of items) {
          const decision = await service.approvePermanently(person(), by);
          if (!decision.ok) throw new Error(`an approval was refused: ${decision.message}`);
        }
      },
      /** @param {{ target: string }} words */
      askOne: async ({ target }) => {
        await service.check(guarded(), ask(read(target)));
      },
    },
  };
}

const GRANT = {
  subjects: [{ subject: READER, phase: /** @type {const} */ ("runtime") }],
  userId: /** @type {never} */ (21),
  organizationId: /** @type {never} */ (7),
  sessionKey: /** @type {never} */ ("session-21"),
  taskId: null,
  interactive: false,
};
