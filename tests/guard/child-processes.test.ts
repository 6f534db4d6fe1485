/** Programs that guarded code starts: decided on by their real path, and guarded themselves where they are Nodes. */
import { chmodSync, copyFileSync, existsSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ADMIN, adminCaller, entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { GUARDED, type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

const node = realpathSync(process.execPath);
let world: GuardedWorld;

worldOfFile(async (preload) => {
  const declared = (folder: string) => [
    entry("filesystem", "execute", node),
    entry("filesystem", "execute", `${folder}/all/`),
    entry("system_dependency", "execute", "echo"),
    entry("system_dependency", "execute", "cat"),
    entry("system_dependency", "execute", "sh"),
    entry("filesystem", "execute", realpathSync("/bin/sh")),
    entry("filesystem", "execute", realpathSync("/usr/bin/env")),
  ];
  world = await openWorld(preload, declared, {}, ["child_process", "cluster", "module"]);
  const { all, code, reads } = world.places;
  writeFileSync(join(all, "tool"), "#!/bin/sh\necho tool $1\n");
  chmodSync(join(all, "tool"), 0o755);
  writeFileSync(
    join(all, "script"),
    `#!/usr/bin/env node\nconst fs = require("fs");\nprocess.stdout.write(String(process.argv[2]));\ntry { fs.readFileSync(process.argv[3]); process.stdout.write(" through"); } catch (error) { process.stdout.write(" " + error.code); }\n`,
  );
  chmodSync(join(all, "script"), 0o755);
  writeFileSync(join(reads, "tool"), "#!/bin/sh\necho no\n");
  chmodSync(join(reads, "tool"), 0o755);
  symlinkSync("/bin/ls", join(all, "innocent"));
  writeFileSync(
    join(code, "child.cjs"),
    `const fs = require("fs");
     const read = (path) => { try { return fs.readFileSync(path, "utf8"); } catch (error) { return error.code; } };
     const at = JSON.parse(process.argv[2]);
     const found = { declared: read(at.reads + "/a.txt"), secret: read(at.secret + "/a.txt") };
     try { require("child_process"); found.imports = "through"; } catch (error) { found.imports = error.code; }
     if (process.send) process.send(found, () => process.disconnect()); else process.stdout.write(JSON.stringify(found));`,
  );
  return world;
});

const BEFORE = `
const cp = require("child_process");
const { promisify } = require("util");
const execute = promisify(cp.execFile);
const ended = (child) => new Promise((done, failed) => { let text = ""; child.stdout?.on("data", (chunk) => (text += chunk)); child.on("error", failed); child.on("close", (code) => done(text.trim() + (code === 0 ? "" : " exit " + code))); });
`;
const own = { isOwn: true, waitMs: 0 } as const;
const GUARDED_CHILD = { declared: "reads a", secret: "ERR_ACCESS_DENIED", imports: "ERR_ACCESS_DENIED" };

describe("a program that is no Node", () => {
  it("runs where it is declared, in every form, and errors keep Node's shape", async () => {
    const found = await outcomes(
      world,
      `spawn: () => ended(cp.spawn("echo", ["a b"])),
       exec: () => promisify(cp.exec)("echo one; echo two").then(({ stdout }) => stdout.trim()),
       execFile: () => execute("echo", ["file"]).then(({ stdout }) => stdout.trim()),
       byPath: () => execute(at.all + "/tool", ["x"]).then(({ stdout }) => stdout.trim()),
       byCwd: () => execute("./tool", ["y"], { cwd: at.all }).then(({ stdout }) => stdout.trim()),
       byOwnPath: () => execute("tool", ["z"], { env: { PATH: at.all + ":/usr/bin:/bin" } }).then(({ stdout }) => stdout.trim()),
       spawnSync: () => { const { stdout, status, output } = cp.spawnSync("echo", ["sync"], { encoding: "utf8" }); return [stdout.trim(), status, output.length].join(); },
       execFileSync: () => cp.execFileSync("cat", { input: "given", encoding: "utf8" }),
       execSync: () => cp.execSync("echo $NAME", { env: { NAME: "shell", PATH: process.env.PATH }, encoding: "utf8" }).trim(),
       shell: () => cp.spawnSync("echo", ["a", "&&", "echo", "b"], { shell: true, encoding: "utf8" }).stdout.split("\\n").join(),
       argv0: () => cp.spawnSync("sh", ["-c", "echo $0"], { argv0: "zero", encoding: "utf8" }).stdout.trim(),
       failed: () => { try { cp.execSync("exit 3", { stdio: "pipe" }); } catch (error) { return [error.status, error.message].join(); } },
       missing: () => ended(cp.spawn("no-such-program", ["x"])).catch((error) => [error.code, error.syscall, error.path, error.spawnargs.join(), error.message].join("|")),
       missingSync: () => { const { error } = cp.spawnSync("no-such-program", ["x"]); return [error.code, error.path, error.syscall, error.message].join("|"); },
       flips: () => { let reads = 0; const child = new cp.ChildProcess(); child.spawn({ get file() { return reads++ === 0 ? "echo" : "id"; }, args: ["echo", "flipped"] }); return ended(child); },
       shown: () => { const child = cp.spawn("echo", ["q"]); return [child.spawnfile, child.spawnargs.join(), child.stdio.length, typeof child.pid].join("|"); }`,
      { ...own, before: BEFORE },
    );
    expect(found).toEqual({
      spawn: "a b",
      exec: "one\ntwo",
      execFile: "file",
      byPath: "tool x",
      byCwd: "tool y",
      byOwnPath: "tool z",
      spawnSync: "sync,0,3",
      execFileSync: "given",
      execSync: "shell",
      shell: "a,b,",
      argv0: "zero",
      failed: "3,Command failed: exit 3",
      missing: "ENOENT|spawn no-such-program|no-such-program|x|spawn no-such-program ENOENT",
      missingSync: "ENOENT|no-such-program|spawnSync no-such-program|spawnSync no-such-program ENOENT",
      flips: "flipped",
      shown: "echo|echo,q|3|number",
    });
  });

  it("is asked for by name or by path as it was written, and runs once it was approved", async () => {
    const call = `ls: () => cp.execFileSync("ls", [at.reads], { encoding: "utf8" }).split("\\n").includes("a.txt")`;
    const before = BEFORE;
    expect(await outcomes(world, call, { ...own, before })).toEqual({
      ls: "AccessPendingError ERR_ACCESS_DENIED approval_required spawnSync",
    });
    const { rows } = await world.fixture.service.list.requests(adminCaller(), { status: "pending" });
    const request = rows.find(({ resource }) => resource.type === "system_dependency");
    expect(request).toMatchObject({
      subject: GUARDED,
      resource: { type: "system_dependency", operation: "execute", target: "ls" },
    });
    const by = await world.fixture.shown(request?.id);
    await world.fixture.runtime.runAsHost(ADMIN, () => world.fixture.sdk.access.approvePermanently(by));
    expect(await outcomes(world, call, { ...own, before })).toEqual({ ls: true });
  });
});

it("attack: a credential among the arguments of a program is not on record", async () => {
  const { service } = world.fixture;
  const call = `id: () => cp.execFileSync("/usr/bin/id", ["--password", "hunter2", "-H", "Authorization: Bearer hunter3"])`;
  await outcomes(world, call, { ...own, before: BEFORE });
  const { rows: events } = await service.list.events(adminCaller(), {}, { limit: 100 });
  const words = JSON.stringify(events);
  expect(words).toMatch(/\/usr\/bin\/id --password \*\*\*\w+ -H Authorization: Bearer \*\*\*\w+/);
  expect(words).not.toMatch(/hunter/);
});

it("a Node is guarded as the same subject in every form, and has no sensitive imports", async () => {
  const found = await outcomes(
    world,
    `spawn: () => ended(cp.spawn(process.execPath, [child, words])).then(JSON.parse),
     byName: () => ended(cp.spawn("node", [child, words])).then(JSON.parse),
     execFile: () => execute(process.execPath, ["--no-warnings", child, words]).then(({ stdout }) => JSON.parse(stdout)),
     sync: () => JSON.parse(cp.execFileSync(process.execPath, [child, words], { encoding: "utf8" })),
     spawnSync: () => { const { stdout, output } = cp.spawnSync(process.execPath, [child, words], { encoding: "utf8" }); return { ...JSON.parse(stdout), output: output.length }; },
     emptied: () => JSON.parse(cp.execFileSync(process.execPath, [child, words], { env: {}, encoding: "utf8" })),
     fork: () => new Promise((done, failed) => { const forked = cp.fork(child, [words]); forked.on("error", failed); forked.on("message", done); }),
     forkBare: () => new Promise((done, failed) => { const forked = cp.fork(child, [words], { execArgv: [], env: {} }); forked.on("error", failed); forked.on("message", done); }),
     script: () => execute(at.all + "/script", ["said", at.secret + "/a.txt"]).then(({ stdout }) => stdout),
     evaluated: () => cp.execFileSync(process.execPath, ["-p", "try { fs.readFileSync(process.argv[1]) } catch (error) { error.code }", at.secret + "/a.txt"], { encoding: "utf8" }).trim(),
     clustered: () => new Promise((done, failed) => { const cluster = require("cluster"); cluster.setupPrimary({ exec: child, args: [words] }); const worker = cluster.fork(); worker.on("error", failed); worker.on("message", done); })`,
    {
      ...own,
      before: `${BEFORE} const child = path.join(__dirname, "child.cjs"); const words = process.argv[2];`,
    },
  );
  expect(found).toEqual({
    spawn: GUARDED_CHILD,
    byName: GUARDED_CHILD,
    execFile: GUARDED_CHILD,
    sync: GUARDED_CHILD,
    spawnSync: { ...GUARDED_CHILD, output: 3 },
    emptied: GUARDED_CHILD,
    fork: GUARDED_CHILD,
    forkBare: GUARDED_CHILD,
    script: "said ERR_ACCESS_DENIED",
    evaluated: "ERR_ACCESS_DENIED",
    clustered: GUARDED_CHILD,
  });
});

/** Runs the attacks in one process and expects each to be refused. */
async function allRefused(attacks: Record<string, string>): Promise<void> {
  const tasks = Object.entries(attacks).map(
    ([name, work]) => `${JSON.stringify(name)}: async () => { ${work} }`,
  );
  const before = `${BEFORE} const child = path.join(__dirname, "child.cjs"); const words = process.argv[2];`;
  const found = await outcomes(world, tasks.join(",\n"), { ...own, before });
  expect(Object.keys(found)).toEqual(Object.keys(attacks));
  for (const [name, outcome] of Object.entries(found))
    expect(`${name}: ${String(outcome)}`).toMatch(/ERR_ACCESS_DENIED|EBADF/);
}

describe("attack: another program than the one that is declared", () => {
  it("is what it really is", async () => {
    copyFileSync("/bin/ls", join(world.places.secret, "echo"));
    await allRefused({
      "a program that nobody declared": `return cp.execFileSync("id")`,
      "by its path": `return cp.execFileSync("/usr/bin/id")`,
      "a link in a folder where programs may run": `return cp.execFileSync(at.all + "/innocent")`,
      "the declared name in another folder of PATH": `return cp.execFileSync("echo", { env: { PATH: at.secret } })`,
      "the declared name beside the working folder": `return cp.execFileSync("./echo", { cwd: at.secret })`,
      "an empty entry of PATH": `return cp.execFileSync("echo", { cwd: at.secret, env: { PATH: ":" } })`,
      "a file that may be read": `return cp.execFileSync(at.reads + "/tool")`,
      "another shell": `return cp.execSync("id", { shell: "/bin/bash" })`,
      "an interpreter that nobody declared": `fs.writeFileSync(at.all + "/perl", "#!/usr/bin/perl\\n1"); cp.execFileSync("cat"); fs.chmodSync(at.all + "/perl", 0o755); return cp.execFileSync(at.all + "/perl")`,
      "the class of Node's inside": `const inside = new cp.ChildProcess()._handle; return inside.spawn({ file: "/usr/bin/id", args: ["id"], stdio: [] })`,
      "its constructor": `const Inside = new cp.ChildProcess()._handle.constructor; return new Inside().spawn({ file: "/usr/bin/id", args: ["id"], stdio: [] })`,
      "another user": `return cp.execFileSync("echo", { uid: process.getuid() + 1 })`,
    });
  });
});

describe("attack: a Node beside its guard", () => {
  it(
    "does not start",
    () =>
      allRefused({
        "a debugger": `return execute(process.execPath, ["--inspect=0", child, words])`,
        "a debugger behind another flag": `return execute(process.execPath, ["--no-warnings", "--inspect-brk", child, words])`,
        "a debugger behind a value": `return execute(process.execPath, ["-r", child, "--inspect-wait", child, words])`,
        "exposed internals": `return execute(process.execPath, ["--expose-internals", child, words])`,
        "spelled otherwise": `return execute(process.execPath, ["--expose_internals", child, words])`,
        "a loader": `return execute(process.execPath, ["--experimental-loader", child, child, words])`,
        "an environment file, which can hold flags": `return execute(process.execPath, ["--env-file=" + at.all + "/env", child, words])`,
        "a file that Node writes": `return execute(process.execPath, ["--redirect-warnings=" + at.secret + "/w", child, words])`,
        "a profile that Node writes": `return execute(process.execPath, ["--cpu-prof", child, words])`,
        "a snapshot": `return execute(process.execPath, ["--build-snapshot", child])`,
        "flags of fork": `return cp.fork(child, [words], { execArgv: ["--expose-internals"] })`,
        "flags of cluster": `const cluster = require("cluster"); cluster.setupPrimary({ exec: child, execArgv: ["--inspect"] }); return cluster.fork()`,
        "Node as a shell": `return cp.execSync("x", { shell: process.execPath })`,
        "a taken descriptor": `return cp._forkChild(3, "json")`,
      }),
    300_000,
  );

  it("does not run what the environment says in front of it", async () => {
    const { all } = world.places;
    const evil = join(world.places.code, "evil.cjs");
    writeFileSync(evil, `require("fs").appendFileSync(${JSON.stringify(join(all, "evil"))}, "ran");`);
    const found = await outcomes(
      world,
      `options: () => cp.execFileSync(process.execPath, ["-p", "1"], { env: { NODE_OPTIONS: "--require " + evil }, encoding: "utf8" }).trim(),
       process: () => { process.env.NODE_OPTIONS = "--require " + evil; return cp.execFileSync(process.execPath, ["-p", "2"], { encoding: "utf8" }).trim(); },
       pushed: () => { process.execArgv.unshift("--require", evil); return new Promise((done) => cp.fork(path.join(__dirname, "child.cjs"), [process.argv[2]]).on("message", (told) => done(told.secret))); },
       coverage: () => { cp.execFileSync(process.execPath, ["-p", "3"], { env: { NODE_V8_COVERAGE: at.secret } }); return "done"; },
       preload: () => cp.execFileSync("sh", ["-c", "echo $LD_PRELOAD$BASH_ENV$SALLYPORT_GATE_FD."], { env: { LD_PRELOAD: "x", BASH_ENV: "y", SALLYPORT_GATE_FD: "3" }, encoding: "utf8" }).trim()`,
      { ...own, before: `${BEFORE} const evil = ${JSON.stringify(evil)};` },
    );
    expect(found).toEqual({
      options: "1",
      process: "2",
      // WHY: it comes after the guard, as any code of the program does.
      pushed: "ERR_ACCESS_DENIED",
      coverage: "done",
      preload: ".",
    });
    expect(existsSync(join(world.places.secret, "coverage"))).toBe(false);
  });
});

it("attack: a listener on a channel of Node changes what was decided on", async () => {
  const found = await outcomes(
    world,
    `changed: () => {
       const channels = require("diagnostics_channel");
       const change = (message) => {
         const { options } = message;
         if (options === undefined) return;
         options.file = "/usr/bin/id";
         options.args = ["id"];
         options.envPairs?.push("LD_PRELOAD=x", "NODE_OPTIONS=--expose-internals");
         options.cwd = at.secret;
       };
       for (const name of ["child_process", "child_process.spawn", "tracing:child_process.spawn:start"]) channels.subscribe(name, change);
       return ended(cp.spawn("sh", ["-c", "echo own $LD_PRELOAD$NODE_OPTIONS"], { env: { PATH: process.env.PATH } }));
     }`,
    { ...own, before: BEFORE },
  );
  expect(found).toEqual({ changed: "own" });
});

describe("attack: descriptors and signals of a child", () => {
  it("the gate is handed on to nobody", async () => {
    await allRefused({
      "as a number": `return cp.spawnSync("cat", { stdio: ["pipe", "pipe", "pipe", 3] })`,
      "inherited at its own place": `return cp.spawn("cat", { stdio: ["pipe", "pipe", "pipe", "inherit"] })`,
      "as a stream": `return cp.spawn("cat", { stdio: [{ fd: 3 }, "pipe", "pipe"] })`,
      "by a getter that flips": `let reads = 0; return cp.spawn("cat", { stdio: [{ get fd() { return reads++ === 0 ? 3 : 0; } }, "pipe", "pipe"] })`,
    });
    const { open } = await outcomes(
      world,
      `open: () => cp.execFileSync("sh", ["-c", "for fd in 3 4 5 6 7 8 9 10 11 12; do test -e /proc/$$/fd/$fd && echo $fd; done; true"], { encoding: "utf8" }).trim()`,
      { ...own, before: BEFORE },
    );
    expect(open).toBe("");
  });

  it(
    "a signal that opens a debugger is not sent",
    () =>
      allRefused({
        kill: `const started = cp.spawn("cat"); try { return started.kill("SIGUSR1"); } finally { started.kill(); }`,
        "the handle": `const started = cp.spawn("cat"); try { return started._handle.kill(10); } finally { started.kill(); }`,
        "at the end of its time": `return cp.spawnSync("cat", { timeout: 1, killSignal: "SIGUSR1" })`,
        "at the end of its time, in small letters": `return cp.spawnSync("cat", { timeout: 1, killSignal: "sigusr1" })`,
      }),
    300_000,
  );

  it("the kept end of a child's gate cannot be written", async () => {
    const found = await outcomes(
      world,
      `forged: async () => {
         const started = cp.spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
         let written = 0;
         for (let fd = 3; fd < 64; fd++) {
           let isSocket = false;
           try { isSocket = fs.fstatSync(fd).isSocket(); } catch {}
           if (isSocket && fd !== started.stdin._handle.fd) { try { fs.writeSync(fd, "x"); written++; } catch {} }
         }
         started.kill();
         return written;
       }`,
      { ...own, before: BEFORE },
    );
    expect(found).toEqual({ forged: 0 });
  });
});

it("without a listed import every function of the module is refused", async () => {
  const found = await outcomes(world, `spawn: () => require("child_process").spawnSync("echo")`, {
    waitMs: 0,
  });
  expect(found).toEqual({ spawn: "ExternalAccessError ERR_ACCESS_DENIED denied_rule import" });
});
