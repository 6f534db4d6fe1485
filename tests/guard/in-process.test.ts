/** Several subjects in one guarded process: each call is decided for, recorded as and blocked as the one that makes it. */
import { writeFileSync } from "node:fs";
import { createServer as createHttp } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import type { Server } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { GUARDED } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";
import { type TenantWorld, approveAll, hostedOutcomes, openTenants, tenant } from "./in-process-world.ts";

const NAMES = ["alpha", "beta"];
const BLOCKED = "AccessPendingError ERR_ACCESS_DENIED approval_required";

let world: TenantWorld;
let plain: Server;
let second: Server;
let told: { readonly url: string; readonly url2: string; readonly port: number };

worldOfFile(async (preload) => {
  plain = createHttp((request, response) => response.end(`got ${request.url}`));
  const streams = createHttp2();
  streams.on("stream", (stream, headers) => {
    stream.respond({ ":status": 200 });
    stream.end(`got ${headers[":path"]}`);
  });
  second = streams;
  const port = await listening(plain);
  const url = `http://127.0.0.1:${port}`;
  const url2 = `http://127.0.0.1:${await listening(second)}`;
  told = { url, url2, port };
  world = await openTenants(preload, ["alpha", "beta", "gamma"], (name) => [
    entry("network", "receive", `${url}/${name}/`),
    entry("network", "receive", `${url2}/${name}/`),
    ...(name === "alpha" ? [entry("network", "connect", `127.0.0.1:${port}`)] : []),
  ]);
  return world;
});
afterAll(() => {
  plain.close();
  second.close();
});

const outcomes = (tasks: string, before = "", flags: readonly string[] = []) =>
  hostedOutcomes(world, NAMES, tasks, { before, told, flags, isAlone: true });

describe("two subjects in one process", () => {
  it("each may what it has declared, and not what the other one has", async () => {
    const found = await outcomes(
      `alphaOwn: () => as("alpha", () => fs.readFileSync(at.of.alpha + "/a.txt", "utf8")),
       alphaOther: () => as("alpha", () => fs.readFileSync(at.of.beta + "/a.txt", "utf8")),
       betaOwn: () => as("beta", () => fs.readFileSync(at.of.beta + "/a.txt", "utf8")),
       itself: () => fs.readFileSync(at.reads + "/a.txt", "utf8"),
       itselfOther: () => fs.readFileSync(at.of.beta + "/a.txt", "utf8"),
       alphaHost: () => as("alpha", () => fs.readFileSync(at.reads + "/a.txt", "utf8")),
       promises: () => as("alpha", () => fs.promises.readFile(at.of.alpha + "/a.txt", "utf8")),
       promisesOther: () => as("alpha", () => fs.promises.readFile(at.of.beta + "/a.txt", "utf8")),
       callback: () => as("alpha", () => new Promise((done) => fs.stat(at.of.beta + "/a.txt", (error) => done(told(error))))),
       stream: () => as("beta", () => text(fs.createReadStream(at.of.beta + "/a.txt"))),
       streamOther: () => as("beta", () => text(fs.createReadStream(at.of.alpha + "/a.txt"))),
       written: () => as("beta", () => fs.writeFileSync(at.of.beta + "/w.txt", "x")),
       writtenOther: () => as("alpha", () => fs.writeFileSync(at.of.beta + "/w.txt", "x")),
       exists: () => as("alpha", () => fs.existsSync(at.of.beta + "/a.txt"))`,
      `import { text } from "node:stream/consumers";`,
    );
    expect(found).toEqual({
      alphaOwn: "alpha a",
      alphaOther: BLOCKED,
      betaOwn: "beta a",
      itself: "reads a",
      itselfOther: BLOCKED,
      alphaHost: BLOCKED,
      promises: "alpha a",
      promisesOther: BLOCKED,
      callback: BLOCKED,
      stream: "beta a",
      streamOther: BLOCKED,
      written: "done",
      writtenOther: BLOCKED,
      exists: BLOCKED,
    });
  });

  it("the subject follows timers, promises, listeners and what others call back later", async () => {
    const found = await outcomes(
      `timer: () => as("alpha", () => new Promise((done) => setTimeout(() => done(attempt(mine("beta"))), 1))),
       immediate: () => as("beta", () => new Promise((done) => setImmediate(() => done(attempt(mine("beta")))))),
       tick: () => as("alpha", () => new Promise((done) => process.nextTick(() => done(attempt(mine("alpha")))))),
       emitter: () => {
         const emitter = new EventEmitter();
         const heard = as("alpha", () => new Promise((done) => emitter.once("x", () => done(attempt(mine("alpha"))))));
         as("beta", () => emitter.emit("x"));
         return heard;
       },
       emitterOther: () => {
         const emitter = new EventEmitter();
         const heard = as("alpha", () => new Promise((done) => emitter.on("x", () => done(attempt(mine("beta"))))));
         as("beta", () => emitter.emit("x"));
         return heard;
       },
       target: () => {
         const target = new EventTarget();
         const heard = as("alpha", () => new Promise((done) => target.addEventListener("x", () => done(attempt(mine("alpha"))))));
         as("beta", () => target.dispatchEvent(new Event("x")));
         return heard;
       },
       pool: async () => {
         const waiting = [];
         const turn = () => new Promise((resolve) => waiting.push(resolve));
         const alpha = as("alpha", async () => { await turn(); return mine("alpha")(); });
         as("beta", () => waiting.shift()());
         return alpha;
       },
       bound: () => as("beta", () => as("alpha", () => runtime.bind(() => mine("alpha")()))()),
       after: () => { as("alpha", () => undefined); return mine("alpha")(); }`,
      `import { EventEmitter } from "node:events";
       const mine = (name) => () => fs.readFileSync(at.of[name] + "/a.txt", "utf8");`,
    );
    expect(found).toEqual({
      timer: BLOCKED,
      immediate: "beta a",
      tick: "alpha a",
      emitter: "alpha a",
      emitterOther: BLOCKED,
      target: "alpha a",
      pool: "alpha a",
      bound: "alpha a",
      after: BLOCKED,
    });
  });

  it("requests on a connection that they share are those of the one that sends them", async () => {
    const found = await outcomes(
      `alpha: () => as("alpha", () => get("/alpha/1")),
       betaReuses: () => as("beta", () => get("/beta/1")),
       betaOther: () => as("beta", () => get("/alpha/1")),
       queued: async () => (await Promise.all([
         as("alpha", () => attempt(() => get("/alpha/2"))),
         as("beta", () => attempt(() => get("/beta/2"))),
         as("beta", () => attempt(() => get("/alpha/2"))),
         as("alpha", () => attempt(() => get("/alpha/2"))),
         as("alpha", () => attempt(() => get("/beta/2"))),
         as("beta", () => attempt(() => get("/beta/2"))),
       ])).join(", "),
       fetch: () => as("alpha", () => fetched("/alpha/3")),
       fetchOther: () => as("beta", () => fetched("/alpha/3")),
       fetchPool: async () => (await Promise.all([
         as("alpha", () => attempt(() => fetched("/alpha/4"))),
         as("beta", () => attempt(() => fetched("/beta/4"))),
         as("alpha", () => attempt(() => fetched("/alpha/4"))),
         as("beta", () => attempt(() => fetched("/beta/4"))),
       ])).join(", "),
       fetchPoolOther: async () => (await Promise.all([
         as("beta", () => attempt(() => fetched("/alpha/4"))),
         as("alpha", () => attempt(() => fetched("/beta/4"))),
       ])).join(", "),
       stream: () => as("alpha", () => h2("/alpha/5")),
       streamOther: () => as("beta", () => h2("/alpha/5")),
       streamOwn: () => as("beta", () => h2("/beta/5")),
       end: () => { agent.destroy(); session.destroy(); }`,
      `import http2 from "node:http2";
       const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
       const get = (path) => new Promise((done, failed) => {
         http.get(at.url + path, { agent }, (response) => {
           let text = "";
           response.on("data", (chunk) => (text += chunk)).on("end", () => done(text));
         }).on("error", failed);
       });
       const fetched = async (path) => (await fetch(at.url + path)).text();
       let session;
       const h2 = (path) => new Promise((done, failed) => {
         session ??= http2.connect(at.url2);
         const stream = session.request({ ":path": path });
         let text = "";
         stream.on("data", (chunk) => (text += chunk)).on("end", () => done(text)).on("error", failed);
       });`,
    );
    expect(found).toEqual({
      alpha: "got /alpha/1",
      betaReuses: "got /beta/1",
      betaOther: BLOCKED,
      queued: `got /alpha/2, got /beta/2, ${BLOCKED}, got /alpha/2, ${BLOCKED}, got /beta/2`,
      fetch: "got /alpha/3",
      fetchOther: BLOCKED,
      fetchPool: "got /alpha/4, got /beta/4, got /alpha/4, got /beta/4",
      fetchPoolOther: `${BLOCKED}, ${BLOCKED}`,
      stream: "got /alpha/5",
      streamOther: BLOCKED,
      streamOwn: "got /beta/5",
      end: "done",
    });
  });

  it("attack: a request that one has asked for again and again is made by another one, and ended by the first", async () => {
    const found = await outcomes(
      `alpha: () => as("alpha", async () => { let said; for (let time = 0; time < 5; time++) said = await ended(made("/alpha/known")); return said; }),
       madeByBeta: () => handed("beta", "alpha"),
       alphaAgain: () => as("alpha", () => ended(made("/alpha/known"))),
       madeByAlpha: () => handed("alpha", "beta"),
       end: () => agent.destroy()`,
      `import { once } from "node:events";
       const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
       const made = (path) => http.request(at.url + path, { agent });
       const ended = (request) => new Promise((done, failed) => {
         request.on("error", failed).on("response", (response) => response.setEncoding("utf8").on("data", done)).end();
       });
       /** It has the kept connection already when it is ended, so that its head is written there and then. */
       const handed = async (maker, ender) => {
         await new Promise((done) => setImmediate(done));
         const request = await as(maker, async () => {
           const one = made("/alpha/known");
           await once(one, "socket");
           return one;
         });
         if (!request.reusedSocket) return "a new connection";
         return as(ender, () => ended(request));
       };`,
    );
    expect(found).toEqual({
      alpha: "got /alpha/known",
      madeByBeta: expect.stringMatching(/ERR_ACCESS_DENIED approval_required/),
      alphaAgain: "got /alpha/known",
      madeByAlpha: "got /alpha/known",
      end: "done",
    });
  });
});

describe("what one of them has opened", () => {
  it("is used by another one as far as that one may use the file itself", async () => {
    const found = await outcomes(
      `own: () => as("alpha", () => { const fd = opened("alpha"); return read(fd); }),
       other: () => { const fd = as("alpha", () => opened("alpha")); return as("beta", () => read(fd)); },
       otherFile: () => { const fd = as("alpha", () => opened("alpha")); return as("beta", () => fs.readFileSync(fd, "utf8")); },
       otherCallback: () => { const fd = as("alpha", () => opened("alpha")); return as("beta", () => new Promise((done) => fs.fstat(fd, (error) => done(told(error))))); },
       otherWrite: () => { const fd = as("alpha", () => opened("alpha", "r+")); return as("beta", () => fs.writeSync(fd, "x")); },
       itself: () => read(as("alpha", () => opened("alpha"))),
       ofProcess: () => { const fd = fs.openSync(at.reads + "/a.txt"); return as("beta", () => read(fd)); },
       guessed: () => { as("alpha", () => opened("alpha")); return as("beta", () => { for (let fd = 3; fd < 200; fd++) try { if (read(fd).endsWith(" a")) return "leaked"; } catch {} return "nothing"; }); },
       closed: () => { const fd = as("alpha", () => opened("alpha")); return as("beta", () => fs.closeSync(fd)); },
       shared: () => { const fd = as("alpha", () => fs.openSync(at.of.beta + "/shared.txt")); return fd; },
       piped: async () => {
         const source = as("alpha", () => fs.createReadStream(at.of.alpha + "/a.txt", { highWaterMark: 2 }));
         const target = as("beta", () => fs.createWriteStream(at.of.beta + "/piped.txt", { highWaterMark: 2 }));
         await pipeline(source, target);
         return as("beta", () => fs.readFileSync(at.of.beta + "/piped.txt", "utf8"));
       },
       streamOfOther: () => { const fd = as("alpha", () => opened("alpha")); return as("beta", () => text(fs.createReadStream("", { fd }))); },
       sentOwn: () => sent((stream) => as("alpha", () => stream.respondWithFD(opened("alpha")))),
       sentOfOther: () => { const fd = as("alpha", () => opened("alpha")); return sent((stream) => as("beta", () => stream.respondWithFD(fd))); },
       sentOfOtherChecked: () => { const fd = as("alpha", () => opened("alpha")); return sent((stream) => as("beta", () => stream.respondWithFD(fd, {}, { statCheck: () => undefined }))); },
       stillOpen: async () => {
         const fd = as("alpha", () => opened("alpha"));
         // An error holds on to what its functions were called on, until somebody looks at the stack.
         await sent((stream) => as("beta", () => stream.respondWithFD(fd))).catch((error) => error.stack);
         await turn();
         gc();
         await turn();
         return as("alpha", () => read(fd));
       },
       socketOfOther: () => {
         const socket = as("alpha", () => net.connect(at.port, "127.0.0.1"));
         return once(socket, "connect").then(() => as("beta", () => { socket.write("GET /alpha/9 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"); return new Promise((done, failed) => { socket.once("data", () => done("sent")); socket.once("error", failed); }); })).finally(() => socket.destroy());
       }`,
      `import { once } from "node:events";
       import http2 from "node:http2";
       import net from "node:net";
       import { Duplex } from "node:stream";
       import { pipeline } from "node:stream/promises";
       import { text } from "node:stream/consumers";
       const opened = (name, flags) => fs.openSync(at.of[name] + "/a.txt", flags);
       const ends = () => {
         const made = [0, 1].map((at) => new Duplex({ read() {}, write(bytes, _, done) { made[1 - at].push(bytes); done(); }, final(done) { made[1 - at].push(null); done(); } }));
         return made;
       };
       const sent = (answer) => new Promise((done, failed) => {
         const [ours, theirs] = ends();
         const server = http2.createServer();
         server.on("stream", (stream) => { stream.on("error", failed); try { answer(stream); } catch (error) { failed(error); } });
         server.emit("connection", theirs);
         const client = http2.connect("http://localhost", { createConnection: () => ours });
         client.on("error", failed);
         const stream = client.request();
         stream.on("error", failed);
         text(stream).then(done, failed);
       });
       const turn = () => new Promise((done) => setTimeout(done));
       const read = (fd) => { const bytes = Buffer.alloc(9); return bytes.toString("utf8", 0, fs.readSync(fd, bytes, 0, 9, 0)); };`,
      ["--expose-gc"],
    );
    expect(found).toEqual({
      own: "alpha a",
      other: BLOCKED,
      otherFile: BLOCKED,
      otherCallback: BLOCKED,
      otherWrite: BLOCKED,
      itself: BLOCKED,
      ofProcess: BLOCKED,
      guessed: "nothing",
      closed: "done",
      shared: BLOCKED,
      piped: "alpha a",
      streamOfOther: BLOCKED,
      sentOwn: "alpha a",
      sentOfOther: BLOCKED,
      sentOfOtherChecked: BLOCKED,
      stillOpen: "alpha a",
      socketOfOther: BLOCKED,
    });
  });
});

/** Of the log's events about a target: who did it. */
async function recorded(target: string) {
  const events = await world.fixture.events();
  return events
    .map(({ text }) => JSON.parse(text) as Recorded)
    .filter(({ data }) => data.resource?.target === target)
    .map(({ type, data }) => ({ type, chain: data.subject_chain.map(({ subject }) => subject.name) }));
}

interface Recorded {
  readonly type: string;
  readonly data: {
    readonly subject_chain: readonly { readonly subject: { readonly name: string } }[];
    readonly resource?: { readonly target: string };
  };
}

describe("a call of a subject that is run", () => {
  it("waits for a person, goes on as that subject, and is nobody else's afterwards", async () => {
    const secret = join(world.places.secret, "a.txt");
    const found = hostedOutcomes(
      world,
      NAMES,
      `both: async () => {
         const waiting = as("alpha", async () => {
           const text = await fs.promises.readFile(at.secret + "/a.txt", "utf8");
           return [text, attemptSync(() => fs.readFileSync(at.of.alpha + "/a.txt", "utf8")), attemptSync(() => fs.readFileSync(at.of.beta + "/a.txt", "utf8"))];
         });
         const meanwhile = as("beta", () => fs.readFileSync(at.of.beta + "/a.txt", "utf8"));
         return [meanwhile, ...(await waiting)];
       },
       other: () => as("beta", () => fs.readFileSync(at.secret + "/a.txt", "utf8")),
       itself: () => fs.readFileSync(at.secret + "/a.txt", "utf8"),
       again: () => as("alpha", () => fs.readFileSync(at.secret + "/a.txt", "utf8"))`,
      {
        before: `const attemptSync = (work) => { try { return work(); } catch (error) { return told(error); } };`,
      },
    );
    const [request] = await approveAll(world, (one) => one.resource.target === secret);
    expect(request).toMatchObject({
      subject: tenant("alpha"),
      resource: { type: "filesystem", operation: "read", target: secret },
      attestedBy: "guard",
    });
    expect(request?.subjectChain.map(({ subject }) => subject)).toEqual([GUARDED, tenant("alpha")]);
    expect(await found).toEqual({
      both: ["beta a", "secret a", "alpha a", BLOCKED],
      other: BLOCKED,
      itself: BLOCKED,
      again: "secret a",
    });
  });

  it("is recorded with the chain it was made in, from memory and asked alike", async () => {
    const read = join(world.folderOf("gamma"), "a.txt");
    const written = join(world.folderOf("gamma"), "w.txt");
    const found = await hostedOutcomes(
      world,
      ["gamma", "beta"],
      `read: () => as("gamma", () => fs.readFileSync(at.of.gamma + "/a.txt", "utf8")),
       written: () => as("gamma", () => fs.writeFileSync(at.of.gamma + "/w.txt", "x")),
       inside: () => as("beta", () => as("gamma", () => fs.unlinkSync(at.of.gamma + "/w.txt")))`,
    );
    expect(found).toEqual({ read: "gamma a", written: "done", inside: "done" });
    const gamma = ["guarded", "guarded.gamma"];
    expect(await recorded(read)).toEqual([{ type: "permission.evaluated", chain: gamma }]);
    expect((await recorded(written)).map(({ chain }) => chain.join(" > ")).toSorted()).toEqual([
      "guarded > guarded.beta > guarded.gamma",
      "guarded > guarded.gamma",
    ]);
  });

  it("inside another one stands on its own contract; one that is made up is bounded by those around it", async () => {
    const found = await outcomes(
      `inner: () => as("alpha", () => as("beta", () => fs.readFileSync(at.of.beta + "/a.txt", "utf8"))),
       outer: () => as("alpha", () => as("beta", () => fs.readFileSync(at.of.alpha + "/a.txt", "utf8"))),
       back: () => as("alpha", () => { as("beta", () => undefined); return fs.readFileSync(at.of.alpha + "/a.txt", "utf8"); }),
       madeUp: () => as("alpha", (sdk) => sdk.run(tenant("beta"), () => fs.readFileSync(at.of.beta + "/a.txt", "utf8"))),
       madeUpOwn: () => as("alpha", (sdk) => sdk.run(tenant("beta"), () => fs.readFileSync(at.of.alpha + "/a.txt", "utf8"))),
       runInMadeUp: () => as("alpha", (sdk) => sdk.run(tenant("beta"), () => as("beta", () => "entered")))`,
    );
    expect(found).toEqual({
      inner: "beta a",
      outer: BLOCKED,
      back: "alpha a",
      madeUp: BLOCKED,
      madeUpOwn: BLOCKED,
      runInMadeUp: "TypeError",
    });
  });

  it("has the SDK over the gate of the guard, for whoever acts", async () => {
    const found = await outcomes(
      `own: () => as("alpha", async (sdk) => (await sdk.access.checkExternalAccess(question(at.of.alpha + "/a.txt"))).code),
       other: () => as("beta", async (sdk) => (await sdk.access.checkExternalAccess(question(at.of.alpha + "/a.txt"))).code),
       itself: async () => (await runtime.sdk.access.checkExternalAccess(question(at.reads + "/a.txt"))).code,
       named: () => as("alpha", async (sdk) => (await sdk.access.checkExternalAccess({ ...question(at.of.alpha + "/a.txt"), subjectType: "tool", subjectName: "guarded.beta" })).code),
       state: () => as("alpha", async (sdk) => (await sdk.permission.state()).mode),
       chain: () => as("alpha", (sdk) => sdk.permission.facts().subjectChain.map(({ subject }) => subject.name).join()),
       file: () => as("alpha", async (sdk) => (await sdk.fs.readFile(at.of.alpha + "/a.txt")).toString()),
       live: () => runtime.isLive`,
      `const question = (target) => ({ resourceType: "filesystem", operation: "read", target, registerRequest: false });`,
    );
    expect(found).toEqual({
      own: "allowed_sandbox",
      other: "approval_required",
      itself: "allowed_sandbox",
      named: "subject_not_active",
      state: "default",
      chain: "guarded,guarded.alpha",
      file: "alpha a",
      live: true,
    });
  });

  it.each([
    ["sdk.fs", `(await sdk.fs.readFile(at.of.beta + "/once")).toString()`, "beta/once"],
    ["sdk.http", `await (await sdk.http.fetch(at.named + "/asked/once")).text()`, "asked/once"],
  ])("spends an approval once by a call of %s", async (_, call, answer) => {
    writeFileSync(join(world.folderOf("beta"), "once"), "beta/once");
    const approving = approveAll(world, ({ resource }) => resource.target.endsWith(answer), { maxUses: 1 });
    const found = await outcomes(
      `calls: () => as("alpha", async (sdk) => {
         const call = async () => ${call};
         const blocked = await call().catch((error) => error);
         let said;
         do said = await attempt(call); while (said.startsWith("AccessPendingError"));
         return [told(blocked), blocked instanceof ExternalAccessError, said, await attempt(call)];
       })`,
      `import { ExternalAccessError } from ${JSON.stringify(import.meta.resolve("@sallyport/contract").replace("/src/", "/dist/").replace(/ts$/, "js"))};
       at.named = at.url.replace("127.0.0.1", "localhost");`,
    );
    await approving;
    expect(found).toEqual({ calls: [BLOCKED, true, expect.stringContaining(answer), BLOCKED] });
  });

  it("makes and removes by the SDK what it may make and remove, though it may read nothing there", async () => {
    const found = await outcomes(
      `made: () => runtime.sdk.fs.writeFile(at.creates + "/sdk.txt", "x"),
       folder: () => runtime.sdk.fs.mkdir(at.creates + "/sdk"),
       read: () => runtime.sdk.fs.readFile(at.creates + "/sdk.txt"),
       changed: () => runtime.sdk.fs.appendFile(at.creates + "/sdk.txt", "y"),
       removed: () => runtime.sdk.fs.unlink(at.deletes + "/a.txt"),
       downloaded: () => as("alpha", (sdk) => sdk.http.download(at.url + "/alpha/a", at.of.alpha + "/down.txt")),
       got: () => as("alpha", (sdk) => sdk.fs.readFile(at.of.alpha + "/down.txt", "utf8"))`,
    );
    expect(found).toEqual({
      made: "done",
      folder: "done",
      read: BLOCKED,
      changed: BLOCKED,
      removed: "done",
      downloaded: "got /alpha/a".length,
      got: "got /alpha/a",
    });
  });
});
