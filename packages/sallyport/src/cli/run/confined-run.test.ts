/** `sallyport run` behind the wall: any program is blocked, asked about, approved, and goes on. */
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { adminSocketOf, runSocketOf } from "../../data-folder.ts";
import { type BundledCli, bundleCli, printed, runCli, startCli } from "../../testing/cli-process.ts";
import { type Fixture, adminCaller, entry, openFixture } from "../../testing/sallyport-fixture.ts";
import { type RunDoor, openRunDoor } from "../run-door.ts";

const CACHE = join(tmpdir(), "sallyport-cache");
const LONG = 300_000;
/** Every program of the system may be started. */
const PROGRAMS = entry("filesystem", "execute", "/usr/");

let cli: BundledCli;
beforeAll(async () => {
  mkdirSync(CACHE, { recursive: true });
  cli = await bundleCli({ runs: true });
}, LONG);
afterAll(() => cli.remove());

let fixture: Fixture;
let door: RunDoor;
let work: string;
beforeEach(async () => {
  fixture = await openFixture();
  work = join(fixture.folder, "work");
  door = await openRunDoor(fixture, runSocketOf(fixture.dataFolder));
  writeFileSync(join(work, "secret"), "worth asking for");
});
afterEach(async () => {
  await door.close();
  await fixture.close();
});

const env = { SALLYPORT_CACHE: CACHE };

function words(access: readonly object[], ...rest: readonly string[]): readonly string[] {
  writeFileSync(join(work, "manifest.json"), JSON.stringify({ access }));
  return ["run", "--data", fixture.dataFolder, "--manifest", "manifest.json", ...rest];
}
const run = (access: readonly object[], ...rest: readonly string[]) =>
  runCli(cli, words(access, ...rest), { cwd: work, env });
const start = (access: readonly object[], ...rest: readonly string[]): ChildProcess =>
  startCli(cli, words(access, ...rest), { cwd: work, env });

async function pending() {
  return (await fixture.service.list.requests(adminCaller(), { status: "pending" })).rows;
}
async function asked(count = 1) {
  await expect.poll(async () => (await pending()).length, { timeout: LONG }).toBe(count);
  return pending();
}
async function approve(request: { readonly id: string } | undefined, options: object = {}): Promise<void> {
  const by = await fixture.shown(request?.id);
  const decided = await fixture.service.approveForSession(adminCaller(), by, options);
  expect(decided.ok).toBe(true);
}
function ended(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (text: Buffer) => (stdout += text.toString()));
  child.stderr?.on("data", (text: Buffer) => (stderr += text.toString()));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
}
const eventsOf = async (type: string): Promise<string[]> =>
  (await fixture.events()).filter((event) => event.type === type).map(({ text }) => text);

describe("a program behind the wall", () => {
  it(
    "that nobody wrote for it is blocked, asked about by the kernel, approved, and goes on",
    async () => {
      const end = ended(start([], "/bin/cat", "secret"));
      const [request] = await asked();
      expect(request).toMatchObject({
        attestedBy: "kernel",
        resource: { type: "filesystem", operation: "read", target: join(work, "secret") },
      });
      await approve(request);
      expect(await end).toMatchObject({ code: 0, stdout: "worth asking for" });
      const [applied] = await eventsOf("sandbox.applied");
      expect(applied).toContain('"enforced_by":["landlock","seccomp","namespaces","gateway"]');
      expect(applied).toContain('"not_enforced":["stat","interpreter_choice","execute_race"]');
    },
    LONG,
  );

  it(
    "gets a plain refusal where nobody waits, and the violation is on record with the wall that saw it",
    async () => {
      const { code, stderr } = await run([], "--no-wait", "/bin/cat", "secret");
      expect([code, stderr]).toEqual([1, expect.stringContaining("Permission denied")]);
      const [violation] = await eventsOf("sandbox.violation");
      expect(violation).toContain('"attested_by":"kernel"');
      expect(violation).toContain('"mode":"os"');
    },
    LONG,
  );

  it(
    "leaves an event for each declared act that destroys something, all of them when it has ended",
    async () => {
      for (const name of ["f1", "f2", "f3"]) writeFileSync(join(work, name), "text");
      const declared = ["read", "modify", "delete"].map((what) => entry("filesystem", what, `${work}/`));
      const script = "rm f1 f2; : > f3; : > /dev/null";
      const { code, stderr } = await run([PROGRAMS, ...declared], "/bin/sh", "-c", script);
      expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringContaining("rm:") });
      const events = (await eventsOf("permission.evaluated")).filter((text) =>
        text.includes('"destructive":true'),
      );
      const seen = (operation: string, target: string): number =>
        events.filter((text) => text.includes(`"operation":"${operation}","target":"${target}"`)).length;
      expect(["f1", "f2"].map((name) => seen("delete", join(work, name)))).toEqual([1, 1]);
      expect([seen("modify", join(work, "f3")), seen("modify", "/dev/null")]).toEqual([1, 0]);
      expect(events.every((text) => text.includes('"attested_by":"kernel"'))).toBe(true);
    },
    LONG,
  );

  it(
    "ends as it ends: by its code, by a signal, by its wall clock; and limits are its own",
    async () => {
      const script = (text: string, ...options: string[]) =>
        run([PROGRAMS], ...options, "/bin/sh", "-c", text);
      expect((await script("exit 7")).code).toBe(7);
      expect((await script("kill -9 $$")).code).toBe(137);
      expect(await script("sleep 1000", "--wall", "1s")).toMatchObject({
        code: 125,
        stderr: expect.stringContaining("wall_clock"),
      });
      const given = ["--limit", "open-files=40", "--env", "GIVEN=given"];
      expect((await script("ulimit -n; echo $GIVEN$HIDDEN", ...given)).stdout).toBe("40\ngiven\n");
      expect((await run([], "no-such-program")).code).toBe(127);
    },
    LONG,
  );

  it(
    "runs as a registered subject where one is named, and as nobody where none is",
    async () => {
      fixture.registry.registerModule({
        name: "files",
        root: work,
        manifest: { access: [entry("filesystem", "read", "./")] },
      });
      const named = (name: string) =>
        runCli(cli, ["run", "--data", fixture.dataFolder, "--subject", name, "/bin/cat", "secret"], {
          cwd: work,
          env,
        });
      expect(await named("module:files")).toMatchObject({ code: 0, stdout: "worth asking for" });
      expect(await named("module:strangers")).toMatchObject({
        code: 6,
        stderr: expect.stringContaining("is not registered"),
      });
    },
    LONG,
  );

  it(
    "is known to guard and kernel as the same subject: a synchronous call waits in the kernel, an asynchronous one in the guard",
    async () => {
      writeFileSync(join(work, "other"), "and this");
      const source = `
        const fs = require("node:fs");
        console.log(fs.readFileSync("secret", "utf8"));
        fs.promises.readFile("other", "utf8").then((text) => console.log(text));
      `;
      writeFileSync(join(work, "program.js"), source);
      const end = ended(start([], process.execPath, "program.js"));
      const [first] = await asked();
      expect(first).toMatchObject({ attestedBy: "kernel", resource: { target: join(work, "secret") } });
      await approve(first);
      const [second] = await asked();
      expect(second).toMatchObject({ attestedBy: "guard", resource: { target: join(work, "other") } });
      expect(second?.subject).toEqual(first?.subject);
      // Spent once, although guard and kernel both see the call.
      await approve(second, { maxUses: 1 });
      expect(await end).toMatchObject({ code: 0, stdout: "worth asking for\nand this\n" });
    },
    LONG,
  );
});

describe("what changes while it runs", () => {
  const READER =
    'while read line; do if text=$(cat secret 2> /dev/null); then echo "read $text"; else echo refused; fi; done';
  it(
    "a deny rule is acknowledged when the wall holds to it: from then on nothing that was declared is read",
    async () => {
      const child = start([PROGRAMS, entry("filesystem", "read", "./")], "/bin/sh", "-c", READER);
      const answer = async (): Promise<string> => {
        const shown = printed(child, /(read .*|refused)\n/);
        child.stdin?.write("\n");
        return (await shown)[1] ?? "";
      };
      expect(await answer()).toBe("read worth asking for");
      const rule = await fixture.service.setRule(adminCaller(), {
        effect: "deny",
        resourceType: "filesystem",
        operation: "read",
        target: join(work, "secret"),
        source: "host",
      } as never);
      expect(rule.ok).toBe(true);
      expect(await answer()).toBe("refused");
      child.stdin?.end();
      await ended(child);
    },
    LONG,
  );

  it(
    "an approval opens at once and its revocation closes at once",
    async () => {
      const child = start([PROGRAMS], "--no-wait", "/bin/sh", "-c", READER);
      const answer = async (): Promise<string> => {
        const shown = printed(child, /(read .*|refused)\n/);
        child.stdin?.write("\n");
        return (await shown)[1] ?? "";
      };
      expect(await answer()).toBe("refused");
      await approve((await asked())[0]);
      expect(await answer()).toBe("read worth asking for");
      const [approval] = (await fixture.service.list.approvals(adminCaller())).rows;
      const revoked = await fixture.service.revokeApproval(adminCaller(), { id: approval?.id ?? "" });
      expect(revoked.ok).toBe(true);
      expect(await answer()).toBe("refused");
      child.stdin?.end();
      await ended(child);
    },
    LONG,
  );

  it(
    "in `on_failure` nothing waits: the violation becomes the request, and an approval runs it again",
    async () => {
      await fixture.service.setMode(adminCaller(), { mode: "on_failure" } as never);
      const child = start([PROGRAMS], "/bin/sh", "-c", "echo tried; cat secret");
      const end = ended(child);
      await printed(child, /blocked, asked and waiting/, "stderr");
      const [request] = await asked();
      expect(request?.attestedBy).toBe("kernel");
      await approve(request);
      expect(await end).toMatchObject({ code: 0, stdout: "tried\ntried\nworth asking for" });
    },
    LONG,
  );
});

describe("without the wall", () => {
  it(
    "it runs only where the person says so, is told so, and the record says what stands around it",
    async () => {
      const { stderr, code } = await run([], "--no-sandbox", "/bin/cat", "secret");
      expect([code, stderr]).toEqual([0, expect.stringContaining("what does not ask is not stopped")]);
      const [applied] = await eventsOf("sandbox.applied");
      expect(applied).toContain('"mode":"none"');
      expect(applied).toContain('"not_enforced":["kernel_wall","guard"]');
    },
    LONG,
  );

  it(
    "attack: a machine that cannot build the wall refuses by name, and nothing has run",
    async () => {
      const { code, stderr } = await runCli(cli, words([], "/usr/bin/touch", "made"), {
        cwd: work,
        env: { SALLYPORT_CC: "no-such-compiler", SALLYPORT_CACHE: join(work, "cache") },
      });
      expect([code, stderr]).toEqual([11, expect.stringContaining("[sandbox_unavailable]")]);
      expect(existsSync(join(work, "made"))).toBe(false);
      expect((await run([], "--require-sandbox", "--no-sandbox", "/bin/true")).code).toBe(2);
    },
    LONG,
  );

  it(
    "attack: in mode `untrusted` the wall cannot be left out, and what is declared to be written is asked",
    async () => {
      await fixture.service.setMode(adminCaller(), { mode: "untrusted" } as never);
      expect((await run([], "--no-sandbox", "/bin/true")).code).toBe(11);
      const all = ["create", "modify", "read"].map((operation) => entry("filesystem", operation, "./"));
      const end = ended(start([PROGRAMS, ...all], "--no-wait", "/bin/sh", "-c", "echo x > made"));
      expect((await end).code).not.toBe(0);
      expect(existsSync(join(work, "made"))).toBe(false);
    },
    LONG,
  );

  it(
    "attack: rules that the wall cannot hold are a refusal, never a lesser wall",
    async () => {
      const access = [PROGRAMS, entry("filesystem", "create", "./")];
      expect(await run(access, "--trap", "none", "/bin/true")).toMatchObject({
        code: 11,
        stderr: expect.stringContaining("[sandbox_profile]"),
      });
    },
    LONG,
  );
});

describe("attack: a program of the same user that has no guard", () => {
  it(
    "reaches neither the admin socket nor the door nor the store of its owner",
    async () => {
      const source = `
        const { connect } = require("node:net");
        const fs = require("node:fs");
        const tried = (name, act) => { try { act(); console.log(name, "reached"); } catch (error) { console.log(name, error.code); } };
        const [admin, door, store, data] = process.argv.slice(1);
        tried("store", () => fs.readFileSync(store));
        tried("folder", () => fs.readdirSync(data));
        tried("write", () => fs.writeFileSync(data + "/x", "x"));
        for (const [name, path] of [["admin", admin], ["door", door]])
          connect(path).on("connect", () => console.log(name, "reached")).on("error", (error) => console.log(name, error.code));
      `;
      const data = fixture.dataFolder;
      const paths = [adminSocketOf(data), runSocketOf(data), join(data, "store.db"), data];
      const all = ["read", "create", "modify", "delete"].map((one) =>
        entry("filesystem", one, `${fixture.folder}/`),
      );
      const { stdout } = await run(all, "--no-wait", "--no-guard", process.execPath, "-e", source, ...paths);
      const lines = stdout.trim().split("\n").toSorted();
      expect(lines.map((line) => line.split(" ")[0])).toEqual(["admin", "door", "folder", "store", "write"]);
      expect(stdout).not.toContain("reached");
      expect(existsSync(join(data, "x"))).toBe(false);
      expect(await pending()).toEqual([]);
    },
    LONG,
  );

  it(
    "attack: a manifest that a repository brings along gives nothing that the person did not name",
    async () => {
      const wide = ["read", "execute"].map((one) => entry("filesystem", one, "/"));
      writeFileSync(join(work, "manifest.json"), JSON.stringify({ access: wide }));
      writeFileSync(join(work, ".sallyport.json"), JSON.stringify({ access: wide, sandbox: false }));
      const args = ["run", "--data", fixture.dataFolder, "--no-wait", "/bin/cat", "secret"];
      const { code, stdout } = await runCli(cli, args, { cwd: work, env });
      expect([code, stdout]).toEqual([1, ""]);
    },
    LONG,
  );
});
