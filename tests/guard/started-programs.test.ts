/** Libraries and programs of others that start programs, threads and native code: they work with a fitting manifest. */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { obtainPackage } from "../../tools/cached-package.mjs";
import { type GuardedWorld, openWorld, outcomes, start } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));
const own = { isOwn: true, waitMs: 0 } as const;
let world: GuardedWorld;
let packages: Record<"execa" | "fsExtra", string>;

worldOfFile(async (preload) => {
  packages = {
    execa: await obtainPackage("execa", "9.6.0"),
    fsExtra: await obtainPackage("fs-extra", "11.3.2"),
  };
  world = await openWorld(
    preload,
    (folder) => [
      ...viteLooks(folder).map((path) => entry("filesystem", "read", path)),
      entry("filesystem", "execute", realpathSync(process.execPath)),
      entry("system_dependency", "execute", "echo"),
      entry("filesystem", "read", `${modules}/`),
      entry("filesystem", "execute", `${modules}/`),
    ],
    {},
    ["child_process", "worker_threads", "module", "vm", "native_addons"],
  );
  return world;
});

/** Where vite looks by itself: what system this is, and which workspace the project may belong to. */
function viteLooks(places: string): readonly string[] {
  const above = [places, dirname(places), dirname(dirname(places)), ""];
  const names = ["package.json", "pnpm-workspace.yaml", "lerna.json", ".git", "node_modules"];
  const system = [
    "/proc/sys/fs/binfmt_misc/WSLInterop",
    "/proc/version",
    "/.dockerenv",
    "/run/.containerenv",
    "/run/WSL",
  ];
  return [
    ...above.flatMap((folder) => names.map((name) => `${folder}/${name}`)),
    ...system,
    "/proc/self/cgroup",
  ];
}

const roots = () => [modules, ...Object.values(packages).map((folder) => dirname(folder))];
const REFUSED = expect.stringMatching(/ERR_ACCESS_DENIED/);

it("execa runs what is declared, with a guarded Node among it, and is blocked outside", async () => {
  const url = pathToFileURL(join(packages.execa, "index.js")).href;
  const found = await outcomes(
    world,
    `echo: async () => (await (await execa())("echo", ["by execa"])).stdout,
     node: async () => (await (await execa())(process.execPath, ["-p", "try { fs.readFileSync(process.argv[1]) } catch (error) { error.code }", at.secret + "/a.txt"])).stdout,
     sync: async () => (await import(${JSON.stringify(url)})).execaSync("echo", ["sync"]).stdout,
     blocked: async () => { try { return (await (await execa())("id")).stdout; } catch (error) { return String(error.cause?.code ?? error.code); } },
     missing: async () => { try { await (await execa())("no-such-program"); } catch (error) { return error.code; } }`,
    {
      ...own,
      before: `const execa = async () => (await import(${JSON.stringify(url)})).execa;`,
      codeRoots: roots(),
    },
  );
  expect(found).toEqual({
    echo: "by execa",
    node: "ERR_ACCESS_DENIED",
    sync: "sync",
    blocked: REFUSED,
    missing: "ENOENT",
  });
});

it("fs-extra copies and removes what is declared, and is blocked outside", async () => {
  const found = await outcomes(
    world,
    `written: () => extra.outputFile(at.all + "/deep/er/x.txt", "deep"),
     copied: () => extra.copy(at.all + "/deep", at.all + "/copied"),
     read: () => extra.readFile(at.all + "/copied/er/x.txt", "utf8"),
     removed: () => extra.remove(at.all + "/copied"),
     blocked: () => extra.copy(at.secret, at.all + "/stolen")`,
    {
      ...own,
      before: `const extra = require(${JSON.stringify(packages.fsExtra)});`,
      codeRoots: roots(),
    },
  );
  expect(found).toEqual({
    written: "done",
    copied: "done",
    read: "deep",
    removed: "done",
    blocked: REFUSED,
  });
});

it("vite builds with its native add-on where that is declared, and does not begin where it is not", async () => {
  const { all } = world.places;
  mkdirSync(join(all, "site"), { recursive: true });
  writeFileSync(join(all, "site", "index.html"), '<script type="module" src="./main.js"></script>');
  writeFileSync(join(all, "site", "main.js"), 'import { one } from "./one.js"; document.title = one;');
  writeFileSync(join(all, "site", "one.js"), 'export const one = "built";');
  const vite = pathToFileURL(join(modules, "vite", "dist", "node", "index.js")).href;
  const build = (isOwn: boolean) =>
    start(
      world,
      `const at = JSON.parse(process.argv[2]);
       import(${JSON.stringify(vite)}).then(({ build }) => build({ root: at.all + "/site", configFile: false, envFile: false, logLevel: "silent" })).then(() => console.log("built"), (error) => { console.log(error.code + " " + error.message); process.exitCode = 1; });`,
      { isOwn, waitMs: 0, codeRoots: roots() },
    ).ended;
  // WHY: a task subprocess has no sensitive imports. What a loaded add-on writes, the guard does not see.
  const blocked = await build(false);
  expect(blocked.stdout).toContain("ERR_ACCESS_DENIED");
  expect(existsSync(join(all, "site", "dist"))).toBe(false);
  const built = await build(true);
  expect([built.stdout.trim(), built.stderr]).toEqual(["built", ""]);
  expect(readFileSync(join(all, "site", "dist", "index.html"), "utf8")).toContain("assets/");
});

it("libsql, which is native code, opens a database where add-ons are listed, and is refused where they are not", async () => {
  const tasks = `
    rows: () => { const db = new (require(${JSON.stringify(join(modules, "libsql"))}))(at.all + "/x.db"); db.exec("create table if not exists t (a); insert into t values (7)"); const row = db.prepare("select a from t").get(); db.close(); return row.a; },
    elsewhere: () => process.dlopen({ exports: {} }, at.all + "/x.node")`;
  const { all } = world.places;
  writeFileSync(join(all, "x.node"), "");
  expect(await outcomes(world, tasks, { isOwn: false, waitMs: 0, codeRoots: roots() })).toEqual({
    rows: REFUSED,
    elsewhere: REFUSED,
  });
  expect(existsSync(join(all, "x.db"))).toBe(false);
  expect(await outcomes(world, tasks, { ...own, codeRoots: roots() })).toEqual({
    rows: 7,
    elsewhere: REFUSED,
  });
  expect(existsSync(join(all, "x.db"))).toBe(true);
});
