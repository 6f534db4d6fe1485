/** Attacks of one subject on the others of its process, and of the whole process on its gate. */
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MEMBER, entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { GUARDED, outcomes as wholeProcess } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";
import { type TenantWorld, hostedOutcomes, openTenants, tenant } from "./in-process-world.ts";

const BLOCKED = "AccessPendingError ERR_ACCESS_DENIED approval_required";

const RUNNER = { type: "module", name: "runner" } as const;

/** A program that looks at one file, and a thread that does. */
const LOOK = `
let text;
try { text = require("fs").readFileSync(process.argv[2], "utf8"); } catch (error) { text = error.check?.code ?? error.code; }
if (process.argv[3] !== "thread") process.stdout.write(JSON.stringify(text));
else require("worker_threads").parentPort.postMessage(text);`;

let world: TenantWorld;
worldOfFile(async (preload) => {
  const node = entry("filesystem", "execute", realpathSync(process.execPath));
  const imports = ["child_process", "worker_threads"];
  world = await openTenants(preload, ["alpha", "beta"], () => [node], { own: [node], imports });
  const places = join(world.fixture.folder, "places");
  writeFileSync(join(places, "of-runner.txt"), "runner a");
  writeFileSync(join(world.places.code, "look.cjs"), LOOK);
  const runner = world.fixture.registry.registerModule({
    name: "runner",
    root: world.places.all,
    manifest: {
      access: [node, entry("filesystem", "read", join(places, "of-runner.txt"))],
      allowed_imports: imports,
    },
  });
  if (!runner.ok) throw new Error(runner.message);
  return world;
});

describe("who may be run", () => {
  it("attack: a program runs a subject that its gate was not opened for, the host itself, or somebody with other facts", async () => {
    const found = await hostedOutcomes(
      world,
      ["alpha"],
      `unnamed: () => as("beta", () => "entered"),
       core: () => runtime.run({ type: "core", name: "core" }, {}, () => "entered"),
       itself: () => runtime.run({ type: "module", name: "guarded" }, {}, () => "entered"),
       otherUser: () => runtime.run(tenant("alpha"), { user: { id: 1, roles: ["super"] } }, () => "entered"),
       madeUpCore: () => as("alpha", (sdk) => sdk.run({ type: "core", name: "core" }, () => "entered")),
       joined: () => runtime.run({ type: "tool", name: "guarded.alpha\\u0000" }, {}, () => "entered")`,
      { isAlone: true },
    );
    expect(found).toEqual({
      unnamed: "SubjectRefusedError",
      core: "SubjectRefusedError",
      itself: "SubjectRefusedError",
      otherUser: "TypeError",
      madeUpCore: "TypeError",
      joined: "TypeError",
    });
  });

  it("a host cannot open a gate for a subject that is not registered, nor for itself", () => {
    const { runtime } = world.fixture;
    const spawned = (subjects: Parameters<typeof tenant>[0][] | "core") =>
      runtime.run(GUARDED, MEMBER, () =>
        runtime.spawn(process.execPath, ["-e", ""], {
          subjects: subjects === "core" ? [{ type: "core", name: "core" }] : subjects.map(tenant),
        }),
      );
    expect(() => spawned(["nobody"])).toThrow(/nobody/);
    expect(() => spawned("core")).toThrow(/`core:core` is the host/);
  });

  it("attack: a subject approves, denies or registers an action through what it was handed", async () => {
    const found = await hostedOutcomes(
      world,
      ["alpha"],
      `approve: () => as("alpha", (sdk) => sdk.access.approvePermanently({ requestId: "x", digest: "y" })),
       deny: () => as("alpha", (sdk) => sdk.access.denyExternalAccess({ requestId: "x", digest: "y" })),
       action: () => as("alpha", (sdk) => sdk.actions.register("guarded.go", () => undefined))`,
      { isAlone: true },
    );
    expect(found["approve"]).toBe("PermissionError permission_error");
    expect(found["deny"]).toBe("PermissionError permission_error");
    expect(found["action"]).toBe("TypeError");
  });
});

describe("the hatch", () => {
  it("attack: a subject takes the hatch, before its host or after", async () => {
    const found = await hostedOutcomes(
      world,
      ["alpha", "beta"],
      `again: () => String(process.getBuiltinModule("sallyport:hatch")),
       inside: () => as("alpha", () => String(process.getBuiltinModule("sallyport:hatch"))),
       connect: () => as("alpha", () => connectRuntime()),
       connectAgain: () => connectRuntime()`,
      { isAlone: true },
    );
    expect(found).toEqual({
      again: "undefined",
      inside: "undefined",
      connect: "TypeError",
      connectAgain: "TypeError",
    });
  });

  it("attack: its holder replaces what it stands on, puts words into questions, or writes to it", async () => {
    const found = await hostedOutcomes(world, ["alpha", "beta"], "", {
      isBare: true,
      isAlone: true,
      before: `
          import fs from "node:fs";
          const at = JSON.parse(process.argv[2]);
          const results = {};
          const hatch = process.getBuiltinModule("sallyport:hatch");
          const told = (work) => { try { return String(work()); } catch (error) { return error.check?.code ?? error.name; } };
          const alpha = { type: "tool", name: "guarded.alpha" };
          const beta = { type: "tool", name: "guarded.beta" };
          results.prototype = String(Object.getPrototypeOf(hatch));
          results.frozen = Object.isFrozen(hatch) && Object.isFrozen(hatch.hosted) && Object.isFrozen(hatch.hosted[0]);
          const words = { resourceType: "filesystem", operation: "read", target: at.of.beta + "/a.txt", hosted: [beta] };
          results.words = (await hatch.run(alpha, () => hatch.check(words, { registerRequest: false }))).code;
          results.core = told(() => hatch.run({ type: "core", name: "core" }, () => "entered"));
          let flips = 0;
          const flipping = { type: "tool", get name() { return flips++ === 0 ? "guarded.alpha" : "guarded.beta"; } };
          results.flipping = told(() => hatch.run(flipping, () => fs.readFileSync(at.of.beta + "/a.txt", "utf8")));
          Array.prototype.push = Array.prototype.find = Array.prototype.map = () => [beta];
          Map.prototype.get = WeakMap.prototype.get = () => ({ actor: {} });
          Object.prototype.hosted = [beta];
          results.tampered = told(() => hatch.run(alpha, () => fs.readFileSync(at.of.beta + "/a.txt", "utf8")));
          results.tamperedOwn = told(() => hatch.run(alpha, () => fs.readFileSync(at.of.alpha + "/a.txt", "utf8")));
        `,
    });
    expect(found).toEqual({
      prototype: "null",
      frozen: true,
      words: "approval_required",
      core: "TypeError",
      flipping: "approval_required",
      tampered: "approval_required",
      tamperedOwn: "alpha a",
    });
  });
});

describe("the asynchronous context", () => {
  it("attack: a subject puts a value of its own there, or none", async () => {
    const found = await hostedOutcomes(
      world,
      ["alpha", "beta"],
      `foreign: () => as("alpha", () => shedding((resource, key) => { resource[key] = new Map([[{}, { actor: "core" }]]); })),
       none: () => as("alpha", () => shedding((resource, key) => { resource[key] = undefined; })),
       replaced: () => as("alpha", () => {
         const { AsyncLocalStorage } = hooks;
         AsyncLocalStorage.prototype.getStore = () => undefined;
         AsyncLocalStorage.prototype.run = (_, work) => work();
         return fs.readFileSync(at.of.beta + "/a.txt", "utf8");
       }),
       running: () => as("alpha", () => fs.readFileSync(at.of.alpha + "/a.txt", "utf8"))`,
      {
        isAlone: true,
        before: `
          import * as hooks from "node:async_hooks";
          const shedding = (change) => new Promise((done) => {
            const resource = setTimeout(() => done(attempt(() => fs.readFileSync(at.of.beta + "/a.txt", "utf8"))), 1);
            for (const key of Reflect.ownKeys(resource))
              if (typeof key === "symbol" && /kResourceStore|AsyncContextFrame|async_context|context_frame/i.test(String(key))) change(resource, key);
          });`,
      },
    );
    expect(found["replaced"]).toBe(BLOCKED);
    expect(found["running"]).toBe("alpha a");
    // WHY: without its context a call is the process's own, or nobody's; never another subject's.
    for (const shed of [found["foreign"], found["none"]]) expect(String(shed)).not.toContain("beta a");
  });

  it("attack: a subject borrows the context of another by a function that it was handed; a process for each ends that", async () => {
    const lent = await hostedOutcomes(
      world,
      ["alpha", "beta"],
      `borrowed: () => {
         const lend = as("beta", () => AsyncResource.bind((work) => work()));
         return as("alpha", () => lend(() => fs.readFileSync(at.of.beta + "/a.txt", "utf8")));
       }`,
      { isAlone: true, before: `import { AsyncResource } from "node:async_hooks";` },
    );
    // This is open in one process, and SECURITY.md says so.
    expect(lent).toEqual({ borrowed: "beta a" });
    const alone = await wholeProcess(
      world,
      `borrowed: () => {
         const lend = require("async_hooks").AsyncResource.bind((work) => work());
         return lend(() => fs.readFileSync(at.secret + "/a.txt", "utf8"));
       }`,
    );
    expect(String(alone["borrowed"])).toContain("AccessPendingError");
  });
});

it("a guarded process cannot hold the service, and says what to do", async () => {
  const sallyport = new URL("../../packages/sallyport/dist/index.js", import.meta.url).href;
  const found = await hostedOutcomes(
    world,
    [],
    `created: () => import(${JSON.stringify(sallyport)}).then(({ createSallyport }) => createSallyport({ dataFolder: at.all }))
       .catch((error) => error.message)`,
    { isAlone: true },
  );
  // WHY: from Node 22 on already the import of what the store needs is refused.
  expect(String(found["created"])).toMatch(/is guarded and cannot hold the service|is refused/);
});

describe("what a subject starts", () => {
  it("attack: a program or a thread of a subject passes for the process that runs it", async () => {
    const found = await hostedOutcomes(
      world,
      ["alpha"],
      `own: () => started("runner", "/of-runner.txt"),
       others: () => started("runner", "/reads/a.txt"),
       itself: () => JSON.parse(execFileSync(process.execPath, [at.code + "/look.cjs", at.reads + "/a.txt"])),
       thread: () => runtime.run(RUNNER, {}, () => threaded(at.reads + "/a.txt")),
       threadOwn: () => runtime.run(RUNNER, {}, () => threaded(at.root + "/of-runner.txt")),
       notListed: () => as("alpha", () => execFileSync(process.execPath, [at.code + "/look.cjs", at.of.alpha + "/a.txt"])),
       thread2: () => as("alpha", () => threaded(at.of.alpha + "/a.txt")),
       imports: () => as("alpha", () => { process.getBuiltinModule("child_process"); return "imported"; })`,
      {
        isAlone: true,
        subjects: [RUNNER],
        told: { root: join(world.fixture.folder, "places") },
        before: `
          import { execFileSync } from "node:child_process";
          import { Worker } from "node:worker_threads";
          const RUNNER = { type: "module", name: "runner" };
          const started = (name, file) =>
            runtime.run(RUNNER, {}, () => JSON.parse(execFileSync(process.execPath, [at.code + "/look.cjs", at.root + file])));
          const threaded = (file) => new Promise((done, failed) => {
            new Worker(at.code + "/look.cjs", { argv: [file, "thread"], stdout: true }).on("error", failed).once("message", done);
          });`,
      },
    );
    expect(found).toEqual({
      own: "runner a",
      others: "approval_required",
      itself: "reads a",
      thread: "approval_required",
      threadOwn: "runner a",
      notListed: "ExternalAccessError ERR_ACCESS_DENIED denied_rule",
      thread2: "ExternalAccessError ERR_ACCESS_DENIED denied_rule",
      imports: "ExternalAccessError ERR_ACCESS_DENIED denied_rule",
    });
  });
});
