/** What Node reads, writes and lists by itself, in a guarded process: where it is declared, and nowhere else. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ADMIN, adminCaller, entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { obtainNode } from "../../tools/nodes.mjs";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { freePort } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
let port: number;
worldOfFile(async (preload) => {
  port = await freePort();
  world = await openWorld(preload, () => [entry("network", "connect", `127.0.0.1:${port}`)]);
  const { reads, secret } = world.places;
  writeFileSync(join(reads, ".env"), 'ONE=1\nHOME=elsewhere\nTWO="a b" # a remark\n');
  writeFileSync(join(secret, ".env"), "THREE=3\n");
  mkdirSync(join(reads, "below"));
  writeFileSync(join(reads, "below", "b.txt"), "b");
  symlinkSync(secret, join(reads, "out"));
  return world;
});

const PENDING = expect.stringMatching(/^AccessPendingError ERR_ACCESS_DENIED approval_required/) as unknown;
const BLOCKED = expect.stringMatching(/ERR_ACCESS_DENIED approval_timeout/) as unknown;
const REFUSED = expect.stringMatching(/^ExternalAccessError ERR_ACCESS_DENIED denied_rule/) as unknown;

it.each([20, 24] as const)("environment files, blobs and reports, on Node %i", async (line) => {
  const report = join(world.places.all, `report-${line}.json`);
  const found = await outcomes(
    world,
    `env: () => { const before = process.env.HOME; process.loadEnvFile(at.reads + "/.env"); return [process.env.ONE, process.env.TWO, process.env.HOME === before].join(); },
     standard: () => { process.chdir(at.reads); delete process.env.ONE; process.loadEnvFile(); return process.env.ONE; },
     closed: () => process.loadEnvFile(at.secret + "/.env"),
     unchanged: () => String(process.env.THREE),
     number: () => process.loadEnvFile(0),
     report: () => process.report.writeReport(at.all + "/report-${line}.json", new Error("mine")),
     reportClosed: () => process.report.writeReport(at.secret + "/report.json"),
     reportAnywhere: () => process.report.writeReport(),
     blob: async () => { const blob = await fs.openAsBlob(at.reads + "/.env", { type: "text/plain" }); return [blob.type, blob.size, (await blob.text()).slice(0, 5), await blob.slice(0, 3).text()].join(); },
     blobMissing: () => fs.openAsBlob(at.reads + "/none"),
     blobClosed: () => fs.openAsBlob(at.secret + "/.env"),
     heap: () => require("v8").writeHeapSnapshot(at.all + "/heap")`,
    { waitMs: 0, ...(line === 20 ? {} : { node: join(await obtainNode(line), "node") }) },
  );
  expect(found).toEqual({
    env: "1,a b,true",
    standard: "1",
    closed: PENDING,
    unchanged: "undefined",
    number: "TypeError ERR_INVALID_ARG_TYPE",
    report,
    reportClosed: PENDING,
    reportAnywhere: REFUSED,
    blob: "text/plain,42,ONE=1,ONE",
    blobMissing: "Error ENOENT open",
    blobClosed: BLOCKED,
    heap: REFUSED,
  });
  expect(JSON.parse(readFileSync(report, "utf8"))).toMatchObject({
    javascriptStack: { message: "Error: mine" },
  });
  expect(existsSync(join(world.places.secret, "report.json"))).toBe(false);
});

it.each([20, 24] as const)(
  "attack: a report asks the resolver what the ends of connections are called, on Node %i",
  async (line) => {
    const found = await outcomes(
      world,
      `report: async () => {
         const server = require("net").createServer();
         await new Promise((done) => server.listen(${port}, "127.0.0.1", done));
         process.report.excludeNetwork = false;
         const { libuv } = process.report.getReport();
         const [{ localEndpoint }] = libuv.filter(({ localEndpoint }) => localEndpoint?.port === ${port});
         server.close();
         return [localEndpoint.host, localEndpoint.ip4, process.report.excludeNetwork].join();
       }`,
      { waitMs: 0, ...(line === 20 ? {} : { node: join(await obtainNode(line), "node") }) },
    );
    expect(found).toEqual({ report: "127.0.0.1,127.0.0.1,false" });
  },
);

const GLOB = `
const list = async (...args) => { const all = []; for await (const one of fs.promises.glob(...args)) all.push(one); return all.sort().join(); };
const called = (...args) => new Promise((done, failed) => fs.glob(...args, (error, all) => (error ? failed(error) : done(all.sort().join()))));
`;

it("glob lists what is declared, and nothing through a link or elsewhere", async () => {
  const node = join(await obtainNode(24), "node");
  const found = await outcomes(
    world,
    `sync: () => fs.globSync("**/*.txt", { cwd: at.reads }).sort().join(),
     callback: () => called(["**/*.txt"], { cwd: at.reads }),
     promise: () => list("**/*.txt", { cwd: at.reads }),
     rooted: () => fs.globSync(at.reads + "/*.txt").length,
     rootedCallback: () => called(["a", at.reads + "/*.txt"]),
     without: () => fs.globSync("**/*.txt", { cwd: at.reads, exclude: (name) => String(name).includes("below") }).join(),
     link: () => fs.globSync("out/*", { cwd: at.reads }).join(),
     above: () => fs.globSync("../secret/*", { cwd: at.reads }).join(),
     closed: () => fs.globSync("*", { cwd: at.secret }),
     closedCallback: () => called("*", { cwd: at.secret }),
     closedPromise: () => list("*", { cwd: at.secret })`,
    { before: GLOB, waitMs: 0, node },
  );
  expect(found).toEqual({
    sync: "a.txt,below/b.txt",
    callback: "a.txt,below/b.txt",
    promise: "a.txt,below/b.txt",
    rooted: REFUSED,
    rootedCallback: REFUSED,
    without: "a.txt",
    link: "",
    above: "",
    closed: PENDING,
    closedCallback: BLOCKED,
    closedPromise: BLOCKED,
  });
});

it("a glob that waits for a person goes on", async () => {
  const { fixture, places } = world;
  const folder = join(places.secret, "asked");
  mkdirSync(folder);
  const over = new AbortController();
  const found = outcomes(world, `listed: () => list("*", { cwd: at.secret + "/asked" })`, {
    before: GLOB,
    node: join(await obtainNode(24), "node"),
  }).finally(() => over.abort());
  writeFileSync(join(folder, "c.txt"), "c");
  while (!over.signal.aborted) {
    const { rows } = await fixture.service.list.requests(adminCaller());
    const mine = rows.find(
      ({ status, resource }) => status === "pending" && resource.target.startsWith(folder),
    );
    if (mine === undefined) await new Promise((resolve) => setImmediate(resolve));
    else {
      const by = await fixture.shown(mine.id);
      await fixture.runtime.runAsHost(ADMIN, () => fixture.sdk.access.approvePermanently(by));
    }
  }
  expect(await found).toEqual({ listed: "c.txt" });
});
