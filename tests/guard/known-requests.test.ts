/** Requests that a connection asks for again and again: read once, decided each time, and counted. */
import { type Server, createServer } from "node:http";
import { afterAll, beforeEach, expect, it } from "vitest";
import { ADMIN, adminCaller, entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { GUARDED, type GuardedWorld, openWorld, outcomes, start } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
let server: Server;
let port: number;
/** What reached the server, as it stood on the wire. */
let seen: string[] = [];
let onSeen: () => void = () => undefined;

worldOfFile(async (preload) => {
  server = createServer(({ method, url }, response) => {
    seen.push(`${method} ${url}`);
    onSeen();
    response.end("hello");
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  port = await listening(server);
  world = await openWorld(preload, () => [
    entry("network", "receive", `http://localhost:${port}/open/`),
    entry("network", "send", `http://localhost:${port}/post/`),
  ]);
  return world;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  seen = [];
  onSeen = () => undefined;
});

const BEFORE = (): string => `
const http = require("http");
const newAgent = () => new http.Agent({ keepAlive: true, maxSockets: 1 });
let agent = newAgent();
let socket;
const get = (path) => new Promise((done, failed) => {
  const one = http.get({ host: "localhost", port: ${port}, family: 4, path, agent }, (response) => response.resume().on("end", done).on("close", () => failed(new Error("cut off"))));
  one.on("error", failed).on("socket", (given) => (socket = given));
});
// WHY: on a slow machine the service may not be heard for a while, and then nothing was asked.
const patient = async (call) => { for (;;) { const said = await attempt(call); if (!said.includes(" unavailable ")) return said; } };
const head = (first, more = "") => first + "\\r\\nHost: localhost:${port}\\r\\n" + more + "\\r\\n";
/** The connection of an allowed request, which is free now; nobody has used it for anything else. */
const known = async () => {
  agent.destroy();
  agent = newAgent();
  for (let time = 0; time < 5; time++) await get("/open/known");
  await new Promise((done) => setImmediate(done));
  socket.removeAllListeners("error");
  return socket;
};
const written = (to, text) => new Promise((done, failed) => { to.on("error", failed).on("data", done).on("close", done); to.write(text, "latin1"); });
/** Node calls this method of the socket between the decision and the bytes. What becomes of the work there. */
const meanwhile = (to, work, ...written) => new Promise((done, failed) => {
  to._unrefTimer = () => { delete to._unrefTimer; try { done(work(to._handle)); } catch (error) { failed(error); } };
  try { to.write(...written); } catch {}
});
`;

it("each of many equal requests is recorded, in few entries with their number", async () => {
  const fetched = `await (await fetch("http://127.0.0.1:${port}/open/fetched")).text()`;
  const found = await outcomes(
    world,
    `once: async () => { await get("/open/once"); agent.destroy(); },
     many: async () => { for (let time = 0; time < 200; time++) await get("/open/many"); agent.destroy(); },
     fetch: async () => { for (let time = 0; time < 100; time++) ${fetched}; }`,
    { before: BEFORE(), waitMs: 0 },
  );
  expect(found).toEqual({ once: "done", many: "done", fetch: "done" });
  expect(seen).toHaveLength(301);
  const events = await world.fixture.events();
  const countsOf = (path: string): number[] =>
    events.flatMap(({ type, text }) => {
      if (type !== "permission.evaluated" || !text.includes(`:${port}${path}"`)) return [];
      return [Number(/"count":(\d+)/.exec(text)?.[1] ?? 1)];
    });
  const total = (path: string): number => countsOf(path).reduce((sum, count) => sum + count, 0);
  // WHY beside one request: a connection to a name is decided more than once, to an address once.
  const opening = total("/open/once") - 1;
  expect(total("/open/many")).toBe(opening + 200);
  expect(total("/open/fetched")).toBe(100);
  expect(countsOf("/open/many").length).toBeLessThan(100);
});

it("a deny rule holds at the next request of a connection that has asked for it a hundred times", async () => {
  const source = `${BEFORE()}
(async () => { for (;;) await get("/open/ruled"); })().catch((error) => { console.log(error.check?.code); agent.destroy(); });`;
  const asked = new Promise<void>((resolve) => {
    onSeen = () => {
      if (seen.length === 100) resolve();
    };
  });
  const { ended } = start(world, source, { waitMs: 0 });
  await asked;
  const target = `http://localhost:${port}/open/ruled`;
  const rule = { resourceType: "network", operation: "receive", target } as const;
  const set = await world.fixture.service.setRule(adminCaller(), { effect: "deny", source: "host", ...rule });
  expect(set).toMatchObject({ ok: true });
  expect((await ended).stdout.trim()).toBe("denied_rule");
});

/** Approved ahead, for so many requests. How often it was used so far. */
async function approveFor(maxUses: number, path: string): Promise<() => Promise<number | undefined>> {
  const { runtime, sdk, service } = world.fixture;
  const target = `http://localhost:${port}${path}`;
  const given = await runtime.runAsHost(ADMIN, () =>
    sdk.access.approvePermanently({
      resourceType: "network",
      operation: "receive",
      target,
      subjectType: GUARDED.type,
      subjectName: GUARDED.name,
      maxUses,
    }),
  );
  expect(given).toMatchObject({ ok: true });
  return async () => {
    const { rows } = await service.list.approvals(adminCaller());
    return rows.find(({ resource }) => resource.target === target)?.uses;
  };
}

it("what is declared is not answered by an approval for a few requests, and uses none of it up", async () => {
  const uses = await approveFor(2, "/open/both");
  const found = await outcomes(
    world,
    `both: async () => { for (let time = 0; time < 10; time++) await get("/open/both"); agent.destroy(); }`,
    { before: BEFORE(), waitMs: 0 },
  );
  expect(found).toEqual({ both: "done" });
  expect(seen).toHaveLength(10);
  expect(await uses()).toBe(0);
  const events = await world.fixture.events();
  const about = events.filter(
    ({ type, text }) => type === "permission.evaluated" && text.includes(`:${port}/open/both"`),
  );
  expect(about.length).toBeGreaterThan(0);
  for (const { text } of about) expect(text).toContain('"allowed_sandbox"');
});

it("an approval for a few requests beside declared ones of the same connection ends with the last of them", async () => {
  const uses = await approveFor(3, "/closed/few");
  const found = await outcomes(
    world,
    `few: async () => {
       const said = [];
       await get("/open/first");
       for (let time = 0; time < 5; time++) said.push(await patient(() => get("/closed/few")));
       agent.destroy();
       return said;
     }`,
    { before: BEFORE(), waitMs: 0 },
  );
  const blocked = expect.stringMatching(/ERR_ACCESS_DENIED approval_timeout/);
  expect(found["few"]).toEqual(["done", "done", "done", blocked, blocked]);
  expect(seen).toEqual(["GET /open/first", "GET /closed/few", "GET /closed/few", "GET /closed/few"]);
  expect(await uses()).toBe(3);
});

it("attack: a connection whose last request was allowed carries another one", async () => {
  const attacks = {
    "a character of which the half that is written ends a line": `return written(await known(), "GET /open/half HTTP/1.0\\r\\nconnection: keep-alive\\r\\nx: a\\u010d\\u010a\\u010d\\u010aGET /closed/half HTTP/1.1\\r\\nhost: localhost:${port}\\r\\n\\r\\n")`,
    "the same text, and more behind it": `return written(await known(), head("GET /open/known HTTP/1.1") + head("GET /closed/behind HTTP/1.1"))`,
    "one letter is another": `const to = await known(); await get("/open/a/b"); return written(to, head("GET /open/../closed HTTP/1.1"))`,
    "a text that is an object": `const text = head("GET /closed/object HTTP/1.1"); return new Promise((done, failed) => known().then((to) => to._writeGeneric(false, Object.assign(new String(text), { toString: () => head("GET /open/known HTTP/1.1") }), "latin1", (error) => (error ? failed(Object.assign(error, { code: "ERR_ACCESS_DENIED" })) : done("written")))))`,
    "Node's own step between the decision and the bytes": `const to = await known(); return meanwhile(to, (handle) => handle.writeLatin1String({}, head("GET /closed/step HTTP/1.1")), head("GET /open/known HTTP/1.1"), "latin1")`,
    "the same of other bytes": `const to = await known(); return meanwhile(to, (handle) => handle.writeBuffer({}, Buffer.from(head("GET /closed/bytes HTTP/1.1"))), Buffer.from(head("GET /open/known HTTP/1.1")))`,
    "a body, written with two bytes for each letter": `const to = await known(); const hidden = head("GET /closed/body HTTP/1.1"); const text = Buffer.from(hidden.replace(/./gs, "0") + hidden).toString("ucs2"); await new Promise((done) => to.write(head("POST /post/a HTTP/1.1", "content-length: " + text.length + "\\r\\n"), done)); return meanwhile(to, (handle) => handle.writeUcs2String({}, text), text, "latin1")`,
  };
  const tasks = Object.entries(attacks).map(
    ([name, work]) => `${JSON.stringify(name)}: async () => { ${work} }`,
  );
  const found = await outcomes(world, `${tasks.join(",\n")}, end: () => agent.destroy()`, {
    before: BEFORE(),
    waitMs: 0,
  });
  for (const name of Object.keys(attacks))
    expect(`${name}: ${String(found[name])}`).toMatch(/ERR_ACCESS_DENIED/);
  expect(seen.filter((line) => !/ \/(?:open|post)\//.test(line))).toEqual([]);
});
