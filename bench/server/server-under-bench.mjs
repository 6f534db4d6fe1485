// @ts-check
/**
 * Purpose: a server of Sallyport over a node on a real store, a bare route of the same framework beside it, and calls to
 * both over kept connections. Trusts the built packages. Nothing is stubbed: calls are signed, checked and recorded.
 */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { createServer as createProbe } from "node:net";
import { join } from "node:path";
import { whatwgUrl } from "@sallyport/contract";
import { createServer } from "@sallyport/server";
import { openSqliteStore } from "@sallyport/store/sqlite";
import { READER, guarded, makeFolder, startNode } from "../service/node-under-bench.mjs";

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
    ownPlaces: { folders: [], sockets: [], apiPorts: [port], apiHosts: [] },
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
  const { url } = await server.createSignInLink();
  const caller = new Caller(listening.origin);
  await caller.signIn(url.slice(url.indexOf("#token=") + "#token=".length));
  return {
    service,
    server,
    origin: listening.origin,
    caller,
    close: async () => {
      caller.close();
      await listening.close();
      await service.stop();
      await store.close();
      remove();
    },
  };
}

/** Calls over one kept connection, as a page of the server would make them. */
export class Caller {
  #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  /** @type {Record<string, string>} */
  headers;

  /** @param {string} origin @param {Record<string, string>} [headers] */
  constructor(origin, headers = {}) {
    this.origin = origin;
    this.headers = { "content-type": "application/json", origin, ...headers };
  }

  /** @param {string} token */
  async signIn(token) {
    const { cookies, json } = await this.post("/v1/sign-in/link", JSON.stringify({ token }));
    this.headers = {
      ...this.headers,
      cookie: cookies[0]?.split(";")[0] ?? "",
      "x-csrf-token": json["csrf_token"],
    };
  }

  /** @param {string} path @param {string} body @param {Record<string, string>} [more] */
  post(path, body, more = {}) {
    const { hostname, port } = new URL(this.origin);
    const length = { "content-length": String(Buffer.byteLength(body)) };
    const options = { agent: this.#agent, hostname, port, path, method: "POST" };
    return new Promise(
      (
        /** @type {(answer: { status: number, json: any, cookies: readonly string[] }) => void} */ resolve,
        reject,
      ) => {
        const call = request({ ...options, headers: { ...this.headers, ...length, ...more } }, (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (part) => (text += part));
          response.on("end", () => {
            const { statusCode: status = 0, headers } = response;
            if (status !== 200) reject(new Error(`${path} answered ${status}: ${text}`));
            else resolve({ status, json: JSON.parse(text), cookies: headers["set-cookie"] ?? [] });
          });
        });
        call.once("error", reject);
        call.end(body);
      },
    );
  }

  close() {
    this.#agent.destroy();
  }
}
