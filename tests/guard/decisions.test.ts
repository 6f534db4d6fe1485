/** From a blocked call to a person and back: waiting, registering, going on, and what the errors say. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ADMIN, adminCaller } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { GUARDED, type GuardedWorld, openWorld, outcomes, start } from "./guarded-process.ts";
import { preloadOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
const preload = preloadOfFile();
beforeEach(async () => {
  world = await openWorld(preload);
});
afterEach(() => world.close());

/** The pending requests, as soon as there are so many. */
async function pending(count: number) {
  for (;;) {
    const { rows } = await world.fixture.service.list.requests(adminCaller());
    const open = rows.filter(({ status }) => status === "pending");
    if (open.length >= count) return open;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function decide(count: number, verb: "approvePermanently" | "denyExternalAccess"): Promise<void> {
  const { fixture } = world;
  for (const { id } of await pending(count)) {
    const by = await fixture.shown(id);
    await fixture.runtime.runAsHost(ADMIN, () => fixture.sdk.access[verb](by));
  }
}

describe("an asynchronous call", () => {
  it.each([
    ["by promise", `fs.promises.readFile(at.secret + "/a.txt", "utf8")`],
    ["by callback", `require("util").promisify(fs.readFile)(at.secret + "/a.txt", "utf8")`],
    [
      "by stream",
      `(async () => { let text = ""; for await (const chunk of fs.createReadStream(at.secret + "/a.txt")) text += chunk; return text; })()`,
    ],
    [
      "by handle",
      `(async () => { const handle = await fs.promises.open(at.secret + "/a.txt"); try { return await handle.readFile("utf8"); } finally { await handle.close(); } })()`,
    ],
  ])("waits for a person %s, and goes on", async (_, call) => {
    const found = outcomes(world, `read: () => ${call}`);
    await decide(1, "approvePermanently");
    expect(await found).toEqual({ read: "secret a" });
  });

  it("is told of a denial, and of no other reason", async () => {
    const found = outcomes(world, `read: () => fs.promises.readFile(at.secret + "/a.txt", "utf8")`);
    await decide(1, "denyExternalAccess");
    expect(await found).toEqual({ read: "ExternalAccessError ERR_ACCESS_DENIED resource_disabled open" });
  });

  it("goes on in the asynchronous context in which it was made", async () => {
    const found = outcomes(
      world,
      `kept: () => own.run("mine", () => new Promise((done) => fs.readFile(at.secret + "/a.txt", () => done(own.getStore()))))`,
      { before: `const own = new (require("async_hooks").AsyncLocalStorage)();` },
    );
    await decide(1, "approvePermanently");
    expect(await found).toEqual({ kept: "mine" });
  });

  it("asks for everything that is missing at once", async () => {
    const found = outcomes(
      world,
      `moved: () => fs.promises.rename(at.secret + "/a.txt", at.secret + "/b.txt")`,
    );
    const requests = await pending(2);
    expect(requests.map(({ resource }) => resource.operation).toSorted()).toEqual(["create", "delete"]);
    await decide(2, "approvePermanently");
    expect(await found).toEqual({ moved: "done" });
    expect(readFileSync(join(world.places.secret, "b.txt"), "utf8")).toBe("secret a");
  });
});

describe("a synchronous call", () => {
  it("leaves a durable request, and passes once it was approved", async () => {
    const call = `read: () => fs.readFileSync(at.secret + "/a.txt", "utf8")`;
    expect(await outcomes(world, call)).toEqual({
      read: "AccessPendingError ERR_ACCESS_DENIED approval_required open",
    });
    const [request] = await pending(1);
    expect(request).toMatchObject({
      subject: GUARDED,
      resource: { type: "filesystem", operation: "read", target: join(world.places.secret, "a.txt") },
      origin: { userId: 21, sessionKey: "sess-21" },
      attestedBy: "guard",
    });
    await decide(1, "approvePermanently");
    expect(await outcomes(world, call)).toEqual({ read: "secret a" });
  });

  it("goes on within the same process as soon as somebody has approved", async () => {
    const found = outcomes(
      world,
      `read: async () => {
         for (;;) {
           try { return fs.readFileSync(at.secret + "/a.txt", "utf8"); } catch (error) { if (!error.requestId) throw error; }
           await new Promise((resolve) => setTimeout(resolve, 20));
         }
       }`,
    );
    await decide(1, "approvePermanently");
    expect(await found).toEqual({ read: "secret a" });
  });
});

it("errors have Node's shape, the check, the request and what to do next", async () => {
  const found = await outcomes(
    world,
    `blocked: () => {
       process.chdir(at.reads);
       try { fs.openSync("../secret/a.txt", "r+"); } catch (error) {
         const { name, code, syscall, path, requestId, check, blocked, message } = error;
         return { name, code, syscall, path, hasRequest: requestId === check.requestId && requestId.length > 0, parts: blocked.length, message, isError: error instanceof Error };
       }
     },
     missing: () => { try { fs.readFileSync("./none.txt"); } catch (error) { return { code: error.code, path: error.path, syscall: error.syscall, errno: error.errno, message: error.message }; } },
     invalid: () => { try { fs.readFileSync(undefined); } catch (error) { return error.code; } },
     noCallback: () => { try { fs.readFile(at.reads + "/a.txt"); } catch (error) { return error.code; } },
     quiet: () => fs.existsSync(undefined),
     listed: () => fs.readdirSync(".", { withFileTypes: true }).map((entry) => entry.parentPath + "/" + entry.name).join()`,
  );
  expect(found["blocked"]).toEqual({
    name: "AccessPendingError",
    code: "ERR_ACCESS_DENIED",
    syscall: "open",
    path: "../secret/a.txt",
    hasRequest: true,
    parts: 2,
    message: expect.stringContaining(join(world.places.secret, "a.txt")),
    isError: true,
  });
  expect(found["missing"]).toEqual({
    code: "ENOENT",
    path: "./none.txt",
    syscall: "open",
    errno: -2,
    message: "ENOENT: no such file or directory, open './none.txt'",
  });
  expect([found["invalid"], found["noCallback"], found["quiet"], found["listed"]]).toEqual([
    "ERR_INVALID_ARG_TYPE",
    "ERR_INVALID_ARG_TYPE",
    false,
    "./a.txt",
  ]);
});

it("a blocked call is a violation in the log, with the subject of the socket", async () => {
  await outcomes(world, `read: () => fs.readFileSync(at.secret + "/a.txt")`);
  const events = await world.fixture.events();
  const violation = events.find(({ type }) => type === "sandbox.violation");
  expect(violation?.text).toContain('"guarded"');
});

it("a program of ES modules is guarded by its named imports too, and loads its own code", async () => {
  const { code, reads } = world.places;
  mkdirSync(join(code, "lib"), { recursive: true });
  writeFileSync(join(code, "lib", "one.mjs"), "export const one = 1;");
  writeFileSync(join(code, "lib", "two.cjs"), "exports.two = 2;");
  writeFileSync(join(reads, "text"), "declared");
  const source = `
    import { readFileSync } from "node:fs";
    import { readFile } from "node:fs/promises";
    import { one } from "./lib/one.mjs";
    import { two } from "./lib/two.cjs";
    const at = JSON.parse(process.argv[2]);
    const told = [one + two, readFileSync(at.reads + "/text", "utf8"), await readFile(at.reads + "/text", "utf8")];
    for (const read of [readFileSync, readFile])
      try { await read(at.secret + "/a.txt"); told.push("through"); } catch (error) { told.push(error.code); }
    process.stdout.write(JSON.stringify(told));`;
  const ended = await start(world, source, { extension: "mjs", waitMs: 0 }).ended;
  expect(ended.stderr).toBe("");
  expect(JSON.parse(ended.stdout)).toEqual([
    3,
    "declared",
    "declared",
    "ERR_ACCESS_DENIED",
    "ERR_ACCESS_DENIED",
  ]);
});
