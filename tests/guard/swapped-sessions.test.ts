/** Attacks below HTTP/2 sessions. A native session belongs to the connection that it took over, and asks for the stream that was decided on, once. */
import { type Http2Server, createServer } from "node:http2";
import { afterAll, beforeEach, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, start } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
let servers: { readonly shop: Http2Server; readonly bank: Http2Server };
let ports: { readonly shop: number; readonly bank: number };
/** What reached each of them. */
let seen: string[] = [];

const serve = async (name: "shop" | "bank", server: Http2Server): Promise<number> => {
  server
    .on("sessionError", () => undefined)
    .on("session", (session) => {
      session.on("goaway", (_code, _last, data) => data && seen.push(`${name} got ${String(data)}`));
    })
    .on("stream", (stream, headers) => {
      seen.push(`${name} ${headers[":method"]} ${headers[":path"]}`);
      const named = headers[":authority"] ?? headers["host"];
      if (named !== `127.0.0.1:${ports[name]}`) seen.push(`${name} is taken for ${named}`);
      if (headers[":method"] === "GET" && !stream.endAfterHeaders) seen.push(`${name} may be sent to`);
      stream.on("data", (data) => seen.push(`${name} got ${String(data)}`));
      stream.on("error", () => undefined).resume();
      stream.respond({ ":status": 200 });
      stream.end("ok");
    });
  return listening(server);
};

worldOfFile(async (preload) => {
  servers = { shop: createServer(), bank: createServer() };
  const [shop, bank] = [await serve("shop", servers.shop), await serve("bank", servers.bank)];
  ports = { shop, bank };
  world = await openWorld(preload, () => [
    entry("network", "receive", `http://127.0.0.1:${ports.shop}/open/`),
    entry("network", "receive", `http://127.0.0.1:${ports.bank}/rates/`),
  ]);
  return world;
});
afterAll(() => {
  for (const server of Object.values(servers)) server.close();
});
beforeEach(() => void (seen = []));

const BEFORE = (): string => `
const http2 = require("http2");
const ports = ${JSON.stringify(ports)};
const answered = (stream) => new Promise((done, failed) => { let text = ""; stream.setEncoding("utf8").on("error", failed).on("data", (data) => (text += data)).on("end", () => done(text)).end(); });
const open = async (name, path) => {
  const session = http2.connect("http://127.0.0.1:" + ports[name]).on("error", () => undefined);
  await answered(session.request({ ":path": path }));
  return session;
};
const keyOf = (session) => Object.getOwnPropertySymbols(session).find((key) => typeof session[key]?.consume === "function");
/** As Node hands headers down. */
const list = (name, method, path) => {
  const fields = { ":method": method, ":path": path, ":scheme": "http", ":authority": "127.0.0.1:" + ports[name] };
  return [Object.entries(fields).map(([key, value]) => key + "\\0" + value + "\\0\\0").join(""), 4];
};
process.on("uncaughtException", () => undefined);
// WHY: a stream that leads nowhere is never answered.
setTimeout(() => process.exit(0), 60_000).unref();
`;

/** What the program did beside what it may. */
async function harmBy(work: string): Promise<readonly string[]> {
  const source = `${BEFORE()}
(async () => { ${work} })().catch((error) => console.log(error.code)).finally(() => setTimeout(() => process.exit(0), 300));`;
  await start(world, source, { waitMs: 0 }).ended;
  expect(seen).toContain("shop GET /open/a");
  return seen.filter((line) => !/^shop GET \/open\/|^bank GET \/rates\//.test(line));
}

it("attack: a stream that is allowed at one server leaves by the session of another one", async () => {
  const harm = await harmBy(
    `const shop = await open("shop", "/open/a"); const bank = await open("bank", "/rates/a");
     shop[keyOf(shop)] = bank[keyOf(bank)];
     await answered(shop.request({ ":path": "/open/money" }));`,
  );
  expect(harm).toEqual([]);
});

it("attack: sessions are swapped before they are connected", async () => {
  const harm = await harmBy(
    `await open("shop", "/open/a");
     const shop = http2.connect("http://127.0.0.1:" + ports.shop), bank = http2.connect("http://127.0.0.1:" + ports.bank);
     const sessions = [shop, bank];
     let held = {};
     for (const session of sessions) {
       session.on("error", () => undefined);
       const key = Object.getOwnPropertySymbols(session).find((one) => one.description === "kHandle") ?? keyOf(shop) ;
       let own;
       Object.defineProperty(session, key, { configurable: true, get: () => held[sessions.indexOf(session) ^ 1] ?? own, set: (value) => { own = value; held[sessions.indexOf(session)] = value; } });
     }
     await Promise.all([answered(bank.request({ ":path": "/rates/b" })), answered(shop.request({ ":path": "/open/swapped" }))]);`,
  );
  expect(harm).toEqual([]);
});

it("attack: what Node says of itself in a stream is another server's", async () => {
  const harm = await harmBy(
    `const shop = await open("shop", "/open/a");
     const authority = Object.getOwnPropertySymbols(shop).find((key) => key.description === "authority");
     shop[authority] = "127.0.0.1:" + ports.bank;
     await answered(shop.request({ ":path": "/open/b" }));`,
  );
  expect(harm).toEqual([]);
});

it("attack: of a header, half of each character is written, and ends it", async () => {
  const half = (text: string): string =>
    Array.from(text, (letter) => `\\u01${letter.charCodeAt(0).toString(16).padStart(2, "0")}`).join("");
  const harm = await harmBy(
    `const shop = await open("shop", "/open/a");
     for (const name of ["x-a", "${half(":path")}", "${half("host")}", "${half(":authority")}"])
       await answered(shop.request({ ":path": "/open/b", [name]: "${half("/transfer\0")}${half("\0:path\0/transfer\0")}" })).catch(() => undefined);`,
  );
  expect(harm).toEqual([]);
});

it("attack: a stream that was decided on once is asked for again by whoever kept the step", async () => {
  const harm = await harmBy(
    `await open("shop", "/open/a");
     const shop = http2.connect("http://127.0.0.1:" + ports.shop).on("error", () => undefined);
     const first = shop.request({ ":path": "/open/step" });
     const calls = Object.getOwnPropertySymbols(shop).find((key) => key.description === "kPendingRequestCalls");
     const kept = [];
     for (let time = 0; time < 500 && shop.connecting; time++) { kept.push(...(shop[calls] ?? [])); await new Promise(setImmediate); }
     await answered(first);
     const again = new Set(kept);
     if (again.size > 0) shop.request({ ":path": "/closed" }).on("error", () => undefined);
     for (const step of again) for (let time = 0; time < 3; time++) step();`,
  );
  expect(harm).toEqual([]);
  expect(seen.filter((line) => line === "shop GET /open/step")).toHaveLength(1);
});

it("attack: Node's own steps leave a stream open for a body", async () => {
  const harm = await harmBy(
    `const shop = await open("shop", "/open/a");
     const handle = shop[keyOf(shop)];
     Object.defineProperty(shop, "destroyed", { configurable: true, get() {
       try { handle.request(list("shop", "GET", "/open/b"), 0, 0, 16, false); } catch {}
       return false;
     } });
     await answered(shop.request({ ":path": "/open/b" }));`,
  );
  expect(harm).toEqual([]);
});

it("attack: a native session says goodbye with a text", async () => {
  const harm = await harmBy(
    `const shop = await open("shop", "/open/a");
     shop[keyOf(shop)].goaway(0, 0, Buffer.from("stolen"));
     await new Promise((done) => setTimeout(done, 200));`,
  );
  expect(harm).toEqual([]);
});

it.each([
  ["its own session", "shop"],
  ["another session", "bank"],
])("attack: Node's own steps of one stream ask %s for another one", async (_, name) => {
  const harm = await harmBy(
    `const sessions = { shop: await open("shop", "/open/a"), bank: await open("bank", "/rates/a") };
     const { shop } = sessions;
     const handle = sessions.${name}[keyOf(sessions.${name})];
     for (const property of ["destroyed", "closed"])
       Object.defineProperty(shop, property, { configurable: true, get() {
         try { handle.request(list("${name}", "POST", "/transfer"), 1, 0, 16, false); } catch {}
         return false;
       } });
     await answered(shop.request({ ":path": "/open/b" }));`,
  );
  expect(harm).toEqual([]);
});
