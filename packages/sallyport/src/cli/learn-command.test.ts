/** `sallyport learn`: a program is seen, a manifest is drafted, and the program then runs by it and by nothing more. */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runSocketOf } from "../data-folder.ts";
import { type BundledCli, bundleCli, runCli } from "../testing/cli-process.ts";
import { type Fixture, adminCaller, entry, openFixture } from "../testing/sallyport-fixture.ts";
import { type RunDoor, openRunDoor } from "./run-door.ts";

const nodes = new URL("../../../../tools/nodes.mjs", import.meta.url).href;
const CACHE = join(tmpdir(), "sallyport-cache");
const LONG = 300_000;
let cli: BundledCli;
let fixture: Fixture;
let door: RunDoor;
let work: string;

beforeAll(async () => {
  mkdirSync(CACHE, { recursive: true });
  cli = await bundleCli({ runs: true });
}, LONG);
afterAll(() => cli.remove());
beforeEach(async () => {
  fixture = await openFixture();
  work = join(fixture.folder, "work");
  door = await openRunDoor(fixture, runSocketOf(fixture.dataFolder));
  mkdirSync(join(work, "in"));
  mkdirSync(join(work, "private"));
  for (const name of ["in/a.csv", "in/b.csv", "private/key"]) writeFileSync(join(work, name), name);
  writeFileSync(join(work, "manifest.json"), JSON.stringify({ name: "kept", access: [] }));
  writeFileSync(join(work, "app.cjs"), APP);
});
afterEach(async () => {
  await door.close();
  await fixture.close();
});

const APP = `
const fs = require("fs");
const say = (work) => { try { return work(); } catch (error) { return error.code; } };
console.log(say(() => fs.readFileSync("in/a.csv", "utf8")));
console.log(say(() => fs.readFileSync("in/a.csv", "utf8").length));
console.log(say(() => fs.writeFileSync("out.txt", "made")));
console.log(say(() => require("child_process").execFileSync("echo", ["hello"], { encoding: "utf8" }).trim()));
console.log(say(() => fs.readFileSync(process.argv[2] ?? "in/a.csv", "utf8")));
`;

const learn = (...words: readonly string[]) =>
  runCli(cli, ["learn", "--data", fixture.dataFolder, "--manifest", "manifest.json", ...words], {
    cwd: work,
    env: { SALLYPORT_CACHE: CACHE },
  });
const run = (...words: readonly string[]) =>
  runCli(
    cli,
    [
      "run",
      "--no-sandbox",
      "--no-wait",
      "--data",
      fixture.dataFolder,
      "--manifest",
      "manifest.json",
      ...words,
    ],
    { cwd: work },
  );

interface Learned {
  readonly program_exit: number;
  readonly added: readonly {
    readonly resource_type: string;
    readonly operation: string;
    readonly target: string;
    readonly count: number;
    readonly evidence: readonly string[];
  }[];
  readonly added_imports: readonly { readonly name: string }[];
  readonly manifest: object;
}

describe("learning from a Node program", () => {
  it(
    "drafts what it did with where it did it, and by the draft it runs and does nothing else",
    async () => {
      const { code, stdout, stderr } = await learn("--json", process.execPath, "app.cjs");
      expect([code, stderr.split("\n").slice(1, 6)]).toEqual([
        0,
        ["in/a.csv", "8", "undefined", "hello", "in/a.csv"],
      ]);
      const learned = JSON.parse(stdout) as Learned;
      expect(learned.added.map(({ operation, target, count }) => [operation, target, count])).toEqual([
        ["read", "./in/a.csv", 3],
        ["create", "./out.txt", 1],
        ["execute", "echo", 1],
      ]);
      expect(learned.added[0]?.evidence[0]).toMatch(/^open at .*app\.cjs:4/);
      expect(learned.added_imports.map(({ name }) => name)).toEqual(["child_process"]);
      expect(existsSync(join(work, "out.txt"))).toBe(true);
      expect(JSON.parse(readFileSync(join(work, "manifest.json"), "utf8"))).toEqual({
        name: "kept",
        access: [],
      });

      const before = await run(process.execPath, "app.cjs");
      expect(before.stdout.split("\n")).toEqual([
        "ERR_ACCESS_DENIED",
        "ERR_ACCESS_DENIED",
        "ERR_ACCESS_DENIED",
        "ERR_ACCESS_DENIED",
        "ERR_ACCESS_DENIED",
        "",
      ]);
      writeFileSync(join(work, "manifest.json"), JSON.stringify(learned.manifest));
      const after = await run(process.execPath, "app.cjs", "private/key");
      expect(after.stdout.split("\n")).toEqual([
        "in/a.csv",
        "8",
        // WHY: it is there by now, and to modify was not seen.
        "ERR_ACCESS_DENIED",
        "hello",
        "ERR_ACCESS_DENIED",
        "",
      ]);
      const beside = await run(process.execPath, "app.cjs", "in/b.csv");
      expect(beside.stdout.split("\n")[4]).toBe("ERR_ACCESS_DENIED");
    },
    LONG,
  );

  it(
    "adds to the manifest that is there, shows the difference, and writes it where it is told to",
    async () => {
      const declared = [entry("filesystem", "read", "./in/"), entry("filesystem", "create", "./out.txt")];
      writeFileSync(join(work, "manifest.json"), JSON.stringify({ name: "kept", access: declared }));
      const { code, stdout } = await learn("--write", process.execPath, "app.cjs");
      expect(code).toBe(0);
      expect(stdout).toContain(
        '+ {"resource_type":"system_dependency","operation":"execute","target":"echo"}',
      );
      expect(stdout).toContain('+ allowed_imports: "child_process"');
      expect(stdout).toContain("2 to add, 2 declared already, 0 left out");
      expect(JSON.parse(readFileSync(join(work, "manifest.json"), "utf8"))).toEqual({
        name: "kept",
        access: [...declared, entry("system_dependency", "execute", "echo")],
        allowed_imports: ["child_process"],
      });
    },
    LONG,
  );

  it(
    "a deny rule holds while it is learned from, and nobody is asked",
    async () => {
      const denied = await fixture.service.setRule(adminCaller(), {
        effect: "deny",
        resourceType: "filesystem",
        operation: "read",
        target: join(work, "private", "key"),
        source: "host",
      });
      expect(denied.ok).toBe(true);
      const { stderr } = await learn("--json", process.execPath, "app.cjs", "private/key");
      expect(stderr.split("\n")[5]).toBe("ERR_ACCESS_DENIED");
      expect((await fixture.service.list.requests(adminCaller(), { status: "pending" })).rows).toEqual([]);
    },
    LONG,
  );
});

it(
  "`run --node-permission` puts Node's own wall around the guard, without a right to start threads",
  async () => {
    const { obtainNode } = (await import(nodes)) as { obtainNode: (major: number) => Promise<string> };
    const node = join(await obtainNode(24), "node");
    const declared = [entry("filesystem", "modify", "./in/a.csv"), entry("filesystem", "read", "./in/")];
    writeFileSync(join(work, "manifest.json"), JSON.stringify({ access: declared }));
    writeFileSync(
      join(work, "walls.cjs"),
      `const fs = require("fs");
       const say = (work) => { try { return String(work()); } catch (error) { return error.code; } };
       console.log([
         say(() => fs.readFileSync("in/a.csv", "utf8")),
         say(() => fs.appendFileSync("in/a.csv", "!")),
         say(() => fs.writeFileSync("in/b.csv", "!")),
         say(() => process.permission.has("worker")),
         say(() => process.permission.has("child")),
         say(() => process.permission.has("fs.write", ${JSON.stringify(join(work, "in", "a.csv"))})),
         say(() => process.permission.has("fs.write", ${JSON.stringify(join(work, "in", "b.csv"))})),
       ].join());`,
    );
    const walled = await run("--node-permission", node, "walls.cjs");
    expect([walled.stderr.split("\n").slice(1), walled.stdout.trim()]).toEqual([
      [""],
      "in/a.csv,undefined,ERR_ACCESS_DENIED,false,false,true,false",
    ]);
    const old = await run("--node-permission", process.execPath, "walls.cjs");
    if (Number(process.versions.node.split(".")[0]) < 24)
      expect([old.code, old.stderr]).toEqual([11, expect.stringContaining("use Node 24 or newer")]);
  },
  LONG,
);

it(
  "any program is learned from behind the wall, by what the kernel is asked",
  async () => {
    const { code, stdout, stderr } = await learn("--json", "cat", "in/a.csv");
    expect([code, stderr.includes("in/a.csv")]).toEqual([0, true]);
    const learned = JSON.parse(stdout) as Learned;
    expect(learned.added).toContainEqual(
      expect.objectContaining({ resource_type: "filesystem", operation: "read", target: "./in/a.csv" }),
    );
    expect(JSON.stringify(learned.added)).not.toContain("in/b.csv");
    expect(realpathSync(work)).toBe(work);
  },
  LONG,
);
