/** An approval for one use lets exactly one request through, by every client, on a new connection or on an open one. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { type IncomingMessage, createServer } from "node:http";
import { createSecureServer } from "node:http2";
import { createServer as createHttps } from "node:https";
import type { Server } from "node:net";
import { join } from "node:path";
import type { Host } from "@sallyport/contract";
import { afterAll, beforeEach, expect, it } from "vitest";
import { openAuthority } from "../../packages/sandbox/src/egress/certificate-authority.ts";
import { ADMIN, adminCaller, entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

const authority = openAuthority(Date.now());
let world: GuardedWorld;
let servers: readonly Server[];
let ports: { readonly http: number; readonly https: number; readonly http2: number };
let certificate: string;
/** The paths that reached a server. */
let seen: string[] = [];

worldOfFile(async (preload) => {
  const { certificates: cert, key } = authority.certify("localhost" as Host);
  const answer = (request: Pick<IncomingMessage, "url">, response: { end(text: string): unknown }): void => {
    seen.push(String(request.url));
    response.end(`hello ${request.url}`);
  };
  const http = createServer(answer);
  const https = createHttps({ cert, key }, answer);
  const http2 = createSecureServer({ cert, key }, answer).on("sessionError", () => undefined);
  servers = [http, https, http2];
  ports = { http: await listening(http), https: await listening(https), http2: await listening(http2) };
  world = await openWorld(preload, () => [
    entry("network", "receive", `http://localhost:${ports.http}/open/`),
    entry("network", "receive", `https://localhost:${ports.https}/open/`),
    entry("network", "receive", `https://localhost:${ports.http2}/open/`),
  ]);
  certificate = join(world.fixture.folder, "authority.pem");
  writeFileSync(certificate, authority.certificate);
  return world;
});
afterAll(() => {
  for (const server of servers) server.close();
});
beforeEach(() => void (seen = []));

const BEFORE = (): string => `
const clients = { http: require("http"), https: require("https") }, http2 = require("http2");
const ports = ${JSON.stringify(ports)};
const ca = ${JSON.stringify(authority.certificate)};
const url = (kind, path) => (kind === "http" ? "http" : "https") + "://localhost:" + ports[kind] + path;
const text = async (stream) => { let all = ""; for await (const chunk of stream) all += chunk; return all; };
const ask = (kind, path, more) => new Promise((done, failed) =>
  clients[kind].get(url(kind, path), { ca, family: 4, ...more }, (response) => text(response).then(done, failed)).on("error", failed));
const asked = (kind, path) => fetch(url(kind, path)).then((answer) => answer.text(), (error) => { throw error.cause; });
const session = () => http2.connect(url("http2", ""), { ca, family: 4 }).on("error", () => {});
const stream = (one, path) => text(one.request({ ":path": path }));
const ended = async (one, work) => { try { return await work(one); } finally { one.destroy(); } };
// WHY: on a slow machine the service may not be heard for a while, and then nothing was asked.
const patient = async (call) => { for (;;) { const said = await attempt(call); if (!said.includes(" unavailable ")) return said; } };
const both = async (call) => [await patient(call), await patient(call)];
`;

/**
 * Approves what is asked for the first time, for one use, and denies what is asked for again; until the work is over.
 * @param waiting how many wait for it before it is approved
 */
async function onceEach<T>(work: Promise<T>, waiting = 1): Promise<T> {
  const { fixture } = world;
  const known: string[] = [];
  const over = new AbortController();
  const ended = work.finally(() => over.abort());
  while (!over.signal.aborted) {
    const { rows } = await fixture.service.list.requests(adminCaller());
    for (const { id, resource, status, count } of rows) {
      if (status !== "pending" || count < waiting) continue;
      const by = await fixture.shown(id);
      const isFirst = !known.includes(resource.target);
      known.push(resource.target);
      await fixture.runtime.runAsHost(ADMIN, () =>
        isFirst
          ? fixture.sdk.access.approvePermanently({ ...by, maxUses: 1 })
          : fixture.sdk.access.denyExternalAccess(by),
      );
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return ended;
}

/** By the name of the row: a call of a path. Those on an open connection ask for something declared before. */
const ROWS = {
  http: `both(() => ask("http", path))`,
  "http on an open connection": `kept("http", new clients.http.Agent({ keepAlive: true, maxSockets: 1 }))`,
  https: `both(() => ask("https", path))`,
  "https on an open connection": `kept("https", new clients.https.Agent({ keepAlive: true, maxSockets: 1 }))`,
  http2: `both(() => ended(session(), (one) => stream(one, path)))`,
  "http2 on an open session": `ended(session(), async (one) => { await stream(one, "/open/first"); return both(() => stream(one, path)); })`,
  fetch: `both(() => asked("http", path))`,
  "fetch on an open connection": `asked("http", "/open/first").then(() => both(() => asked("http", path)))`,
  "fetch by TLS": `both(() => asked("https", path))`,
  "fetch by TLS on an open connection": `asked("https", "/open/first").then(() => both(() => asked("https", path)))`,
} as const;

it("exactly one request goes through, and the next one is asked about again", async () => {
  const names = Object.keys(ROWS);
  const tasks = Object.entries(ROWS).map(
    ([name, call], index) =>
      `${JSON.stringify(name)}: () => { const path = "/asked/${index}"; const kept = (kind, agent) => ended(agent, async () => { await ask(kind, "/open/first", { agent }); return both(() => ask(kind, path, { agent })); }); return ${call}; }`,
  );
  const found = await onceEach(
    outcomes(world, tasks.join(",\n"), { before: BEFORE(), env: { NODE_EXTRA_CA_CERTS: certificate } }),
  );
  expect(found).toEqual(
    Object.fromEntries(
      names.map((name, index) => [
        name,
        [`hello /asked/${index}`, expect.stringMatching(/ERR_ACCESS_DENIED resource_disabled/)],
      ]),
    ),
  );
  expect(seen.filter((path) => path.startsWith("/asked/"))).toEqual(
    names.map((_, index) => `/asked/${index}`),
  );
});

it("of several that wait for the same approval exactly one goes through", async () => {
  const found = await onceEach(
    outcomes(
      world,
      `http: async () => (await Promise.all([1, 2, 3, 4].map(() => patient(() => ask("http", "/asked/many"))))),
       fetch: async () => (await Promise.all([1, 2, 3, 4].map(() => patient(() => asked("http", "/asked/fetched"))))),
       http2: () => ended(session(), (one) => Promise.all([1, 2, 3, 4].map(() => patient(() => stream(one, "/asked/streams")))))`,
      { before: BEFORE() },
    ),
    4,
  );
  for (const outcome of Object.values(found) as string[][]) {
    expect(outcome.filter((text) => text.startsWith("hello"))).toHaveLength(1);
    expect(outcome.filter((text) => text.includes("ERR_ACCESS_DENIED"))).toHaveLength(3);
  }
  expect(seen.toSorted()).toEqual(["/asked/fetched", "/asked/many", "/asked/streams"]);
});

it("a decision that was made stands, though the service stands still before the request has left", async () => {
  const { fixture, places } = world;
  const pipe = join(places.all, "pipe");
  execFileSync("mkfifo", [pipe]);
  const uses = async (): Promise<number> =>
    (await fixture.service.list.approvals(adminCaller())).rows.reduce((sum, row) => sum + row.uses, 0);
  const before = await uses();
  const found = onceEach(
    outcomes(
      world,
      `fetch: async () => {
         let isReleased = false;
         void fs.promises.readFile(at.all + "/pipe").then(() => { isReleased = true; });
         for (;;) { const said = await attempt(() => asked("http", "/asked/still")); if (isReleased || !said.includes(" unavailable ")) return said; }
       }`,
      {
        before: BEFORE(),
        env: { UV_THREADPOOL_SIZE: "1" },
      },
    ),
  );
  while ((await uses()) === before) await new Promise((resolve) => setImmediate(resolve));
  // WHY: the answer leaves a few turns after the use was counted. Too few would only prove less.
  for (let turn = 0; turn < 100; turn++) await uses();
  // WHY: the read of the pipe holds the only thread that could look the name up, until here.
  writeFileSync(pipe, "go on");
  standStill();
  expect(await found).toEqual({ fetch: "hello /asked/still" });
  expect(seen).toEqual(["/asked/still"]);
});

/** WHY so long: longer than a guarded call is blocked for an answer, and than the lease of a process lasts. */
function standStill(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 7000);
}
