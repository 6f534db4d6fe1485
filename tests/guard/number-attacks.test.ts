/**
 * Attacks by the numbers of descriptors. A call by number is made when one of Node's threads has time for it; by then the number
 * may be that of a connection which only decided requests leave by.
 */
import { createServer } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { preloadOfFile } from "./world-of-file.ts";

const preload = preloadOfFile();
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  response.end("ok");
});
let world: GuardedWorld;
let before: string;

beforeAll(async () => {
  const port = await listening(server);
  world = await openWorld(preload, () => [entry("network", "receive", `http://localhost:${port}/open/`)]);
  before = `
    const http = require("http");
    const { pbkdf2 } = require("crypto");
    const agent = new http.Agent({ keepAlive: true });
    const STOLEN = Buffer.from("POST /stolen HTTP/1.1\\r\\nHost: localhost:${port}\\r\\nContent-Length: 0\\r\\n\\r\\n");
    /** Node's threads have something else to do until the connection is there. */
    const busy = () => { for (let each = 0; each < 4; each++) pbkdf2("a", "b", 400_000, 8, "sha512", () => {}); };
    /** A request that is declared, on a connection that stays open. */
    const get = () => new Promise((done, failed) => {
      http.get({ host: "127.0.0.1", port: ${port}, path: "/open/a", agent }, (answer) => answer.resume().on("end", done)).on("error", failed);
    });
    /** Whatever was sent by then was heard. */
    const over = () => get().finally(() => agent.destroy());`;
});
beforeEach(() => void asked.splice(0));
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await world.close();
});

const NUMBERS = {
  "a write by the number of a closed file": `
    const fd = fs.openSync(at.all + "/numbered", "w+");
    busy();
    const written = new Promise((done) => fs.write(fd, STOLEN, done));
    fs.closeSync(fd);
    await get();
    await written;`,
  "a whole file that is written by a number": `
    const fd = fs.openSync(at.all + "/numbered", "w+");
    busy();
    const written = new Promise((done) => fs.writeFile(fd, STOLEN, done));
    fs.closeSync(fd);
    await get();
    await written;`,
  "a write by the number of a handle that is closed": `
    const handle = await fs.promises.open(at.all + "/numbered", "w+");
    busy();
    const written = new Promise((done) => fs.write(handle.fd, STOLEN, done));
    const closed = handle.close();
    await get();
    await Promise.all([written, closed]);`,
  "a write of a handle whose number is closed": `
    const handle = await fs.promises.open(at.all + "/numbered", "w+");
    busy();
    const written = handle.write(STOLEN).catch(() => {});
    fs.closeSync(handle.fd);
    await get();
    await written;
    await handle.close().catch(() => {});`,
  "a write of a stream whose number is closed": `
    const stream = fs.createWriteStream(at.all + "/numbered");
    await new Promise((done) => stream.on("open", done));
    stream.on("error", () => {});
    busy();
    stream.write(STOLEN);
    fs.closeSync(stream.fd);
    await get();
    await new Promise((done) => stream.once("close", done).end());`,
  "a file that is written by its path, whose number is guessed": `
    const first = fs.openSync(at.all + "/numbered", "w+");
    fs.closeSync(first);
    const written = fs.promises.writeFile(at.all + "/numbered", (function* () {
      for (let each = 0; each < 10; each++) { if (each === 5) { busy(); try { fs.closeSync(first); } catch {} got = get(); } yield STOLEN; }
    })()).catch(() => {});
    let got;
    await written;
    await got;`,
};

/** The number of a connection that was opened for a declared request, told to a handle of a file. */
const TOLD = {
  "by the symbol that Node keeps it under": `
    handle[keyOf(handle, "kFd")] = fd;
    await handle.write(STOLEN);`,
  "by a property of the handle": `
    Object.defineProperty(handle, "fd", { value: fd });
    await handle.write(STOLEN);`,
  "by the getter of its class": `
    Object.defineProperty(Object.getPrototypeOf(handle), "fd", { get: () => fd });
    await handle.write(STOLEN);`,
  "by what a message would bring": `
    const key = keyOf(Object.getPrototypeOf(handle), "messaging_deserialize_symbol") ?? keyOf(Object.getPrototypeOf(handle), "kDeserialize");
    handle[key]({ handle: { fd, close() {}, onread() {} } });
    await handle.write(STOLEN);`,
  "by a handle of the program's own": `
    const native = handle[keyOf(handle, "kHandle")];
    await new handle.constructor(new native.constructor(fd)).write(STOLEN);`,
  "by a handle that came with a message": `
    const { port1, port2 } = new MessageChannel();
    const came = new Promise((done) => (port2.onmessage = ({ data }) => done(data)));
    try {
      port1.postMessage(handle, [handle]);
      const other = await came;
      other[keyOf(other, "kFd")] = fd;
      await other.write(STOLEN);
    } finally { port1.close(); }`,
};

describe("attack: a handle of a file is told the number of a connection", () => {
  it.each(Object.entries(TOLD))("%s", async (_, attack) => {
    await outcomes(
      world,
      `attack: async () => {
         const keyOf = (holder, name) => Reflect.ownKeys(holder).find((key) => typeof key === "symbol" && key.description === name);
         const handle = await fs.promises.open(at.all + "/told", "w+");
         await get();
         const [socket] = Object.values(agent.freeSockets).flat();
         const { fd } = socket._handle;
         try { ${attack} } finally { await handle.close().catch(() => {}); await over(); }
       }`,
      { waitMs: 0, before },
    );
    expect(asked).toEqual(["GET /open/a", "GET /open/a"]);
  });
});

describe("attack: a connection gets a number that a call which is under way means", () => {
  it.each(Object.entries(NUMBERS))("%s", async (_, attack) => {
    const found = await outcomes(
      world,
      `attack: async () => { try { ${attack} } finally { await over(); } }`,
      {
        waitMs: 0,
        before,
      },
    );
    expect(found).toEqual({ attack: "done" });
    expect(asked).toEqual(["GET /open/a", "GET /open/a"]);
  });
});

it("streams and files that come and go with the same numbers are used as ever", async () => {
  const found = await outcomes(
    world,
    `read: async () => {
       const file = at.all + "/come-and-go";
       fs.writeFileSync(file, "text");
       const once = (left) => new Promise((done, failed) => {
         let text = "";
         fs.createReadStream(file).on("data", (chunk) => (text += chunk)).on("error", failed).on("end", () => {
           fs.writeFileSync(at.all + "/beside", text);
           if (text !== "text") failed(new Error(text));
           else if (left === 0) done();
           else once(left - 1).then(done, failed);
         });
       });
       await Promise.all(Array.from({ length: 6 }, () => once(100)));
     }`,
    { waitMs: 0 },
  );
  expect(found).toEqual({ read: "done" });
});
