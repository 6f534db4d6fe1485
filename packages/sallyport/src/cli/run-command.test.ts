/** `sallyport run`: a real program behind a real gate, and what it cannot do. */
import { statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type BundledCli, bundleCli, printed, runCli, startCli } from "../testing/cli-process.ts";
import { type GatedPrograms, buildPrograms } from "../testing/gated-children.ts";
import type { GatedAnswers, GatedTask } from "../testing/gated-program.ts";
import { type Fixture, MEMBER, TOOL, adminCaller, openFixture } from "../testing/sallyport-fixture.ts";
import { adminSocketOf, runSocketOf } from "../data-folder.ts";
import { type RunDoor, openRunDoor } from "./run-door.ts";

let cli: BundledCli;
let programs: GatedPrograms;
beforeAll(async () => {
  [cli, programs] = await Promise.all([bundleCli(), buildPrograms()]);
});
afterAll(() => {
  cli.remove();
  programs.remove();
});

let fixture: Fixture;
let door: RunDoor;
let workspace: string;
beforeEach(async () => {
  fixture = await openFixture();
  workspace = join(fixture.folder, "work");
  door = await openRunDoor(fixture, runSocketOf(fixture.dataFolder));
});
afterEach(async () => {
  await door.close();
  await fixture.close();
});

/** A gate and nothing else: these programs speak to it themselves. The wall has tests of its own. */
const BARE = ["--no-sandbox", "--no-guard"];

const MANIFEST = {
  access: [{ resource_type: "network", operation: "receive", target: "https://declared.example.com" }],
};

function runArgs(task: GatedTask, ...options: string[]): string[] {
  writeFileSync(join(workspace, "manifest.json"), JSON.stringify(MANIFEST));
  const program = [process.execPath, programs.program, programs.realmFile, JSON.stringify(task)];
  return [
    "run",
    ...BARE,
    "--data",
    fixture.dataFolder,
    "--manifest",
    "manifest.json",
    ...options,
    ...program,
  ];
}

const run = async (task: GatedTask, ...options: string[]) => {
  const ended = await runCli(cli, runArgs(task, ...options), { cwd: workspace });
  return { ...ended, answers: (ended.code === 0 ? JSON.parse(ended.stdout) : {}) as GatedAnswers };
};

describe("a program that is run", () => {
  it("may what its manifest declares, and asks for the rest", async () => {
    const { code, answers, stderr } = await run({
      targets: ["https://declared.example.com/x", "https://other.example.com/x"],
    });
    expect([code, answers.codes]).toEqual([0, ["allowed_sandbox", "approval_required"]]);
    expect(stderr).toMatch(/running as tool local\.[0-9a-f]{64}, session run-/);
  });

  it("waits for a person, and goes on when they approve", async () => {
    const child = startCli(cli, runArgs({ waitsFor: "https://other.example.com/x" }), { cwd: workspace });
    const out = printed(child, /\{.*\}/);
    await expect.poll(async () => (await pending()).length).toBe(1);
    const [request] = await pending();
    const by = { requestId: request?.id ?? "", digest: request?.digest ?? "" };
    expect(request?.subject.name).toMatch(/^local\./);
    expect((await fixture.service.approveForSession(adminCaller(), by)).ok).toBe(true);
    expect(JSON.parse((await out)[0])).toMatchObject({ codes: ["allowed_session"] });
  });

  it("takes its session with it: what was approved for one run is asked again in the next", async () => {
    const child = startCli(cli, runArgs({ waitsFor: "https://other.example.com/x" }), { cwd: workspace });
    const ended = new Promise((resolve) => child.once("close", resolve));
    await expect.poll(async () => (await pending()).length).toBe(1);
    const [request] = await pending();
    const by = { requestId: request?.id ?? "", digest: request?.digest ?? "" };
    await fixture.service.approveForSession(adminCaller(), by);
    await ended;
    const left = async () => (await fixture.service.list.approvals(adminCaller())).rows;
    await expect.poll(left).toEqual([]);
    expect((await run({ targets: ["https://other.example.com/x"] })).answers.codes).toEqual([
      "approval_required",
    ]);
  });

  it("ends as its program ends, and says so where it cannot be started", async () => {
    const at = (...program: string[]) =>
      runCli(cli, ["run", ...BARE, "--data", fixture.dataFolder, ...program], { cwd: workspace });
    expect((await at(process.execPath, "-e", "process.exit(7)")).code).toBe(7);
    expect((await at(process.execPath, "-e", "process.kill(process.pid, 'SIGKILL')")).code).toBe(137);
    expect(await at("no-such-program")).toMatchObject({
      code: 127,
      stderr: expect.stringContaining("is not there"),
    });
  });

  it("hands every argument on, also those that look like its own", async () => {
    const { stdout } = await runCli(
      cli,
      [
        "run",
        ...BARE,
        "--data",
        fixture.dataFolder,
        process.execPath,
        "-p",
        "JSON.stringify(process.argv.slice(1))",
        "--",
        "--json",
        "--data",
        "x",
      ],
      { cwd: workspace },
    );
    expect(JSON.parse(stdout)).toEqual(["--json", "--data", "x"]);
  });

  it("is not run by a manifest with faults, or by one whose examples do not hold", async () => {
    const program = [
      "run",
      ...BARE,
      "--data",
      fixture.dataFolder,
      "--manifest",
      "bad.json",
      process.execPath,
      "-e",
      "0",
    ];
    writeFileSync(join(workspace, "bad.json"), '{"access":[{"resource_type":"url"}]}');
    expect(await runCli(cli, program, { cwd: workspace })).toMatchObject({ code: 6 });
    const [rule] = MANIFEST.access;
    const examples = { no_match: ["https://declared.example.com/admin"] };
    writeFileSync(join(workspace, "bad.json"), JSON.stringify({ access: [{ ...rule, examples }] }));
    const { code, stderr } = await runCli(cli, program, { cwd: workspace });
    expect([code, stderr]).toEqual([6, expect.stringContaining("and must not be")]);
  });
});

describe("without an owner", () => {
  it("this process owns the folder while the program runs, and another terminal decides", async () => {
    const data = join(fixture.folder, "fresh");
    const program = [process.execPath, programs.program, programs.realmFile];
    const task = JSON.stringify({ waitsFor: "https://other.example.com/x" });
    const child = startCli(cli, ["run", ...BARE, "--data", data, ...program, task], { cwd: workspace });
    const out = printed(child, /\{.*\}/);
    const ended = new Promise((resolve) => child.once("close", resolve));
    await printed(child, /running as/, "stderr");
    type Page = { rows: { id: string; digest: string }[] };
    const listed = async () => {
      const { stdout } = await runCli(cli, ["requests", "--data", data, "--json"], { cwd: workspace });
      return (JSON.parse(stdout) as Page).rows;
    };
    await expect.poll(async () => (await listed()).length).toBe(1);
    const [request] = await listed();
    const approve = ["approve", request?.id ?? "", "--digest", request?.digest ?? "", "--data", data];
    expect((await runCli(cli, approve, { cwd: workspace })).code).toBe(0);
    expect(JSON.parse((await out)[0])).toMatchObject({ codes: ["allowed_session"] });
    expect(await ended).toBe(0);
    expect(await listed()).toEqual([]);
  });
});

describe("the door of `run`", () => {
  it("is open to its owner alone", () => {
    const { mode } = statSync(runSocketOf(fixture.dataFolder));
    expect(mode & 0o777).toBe(0o600);
    expect(statSync(fixture.dataFolder).mode & 0o777).toBe(0o700);
  });

  it("attack: a first line that never ends, is no JSON, or claims to be a person is cut off", async () => {
    for (const line of ["x".repeat(3_000_000), "{no json}\n", '{"user":{"id":1,"roles":["super"]}}\n']) {
      const socket = connect(runSocketOf(fixture.dataFolder));
      socket.on("error", () => undefined);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      let answer = "";
      socket.on("data", (chunk) => (answer += String(chunk)));
      socket.write(line);
      await closed;
      expect(answer).not.toContain('"ok":true');
    }
  });
});

describe("attack: guarded code approves itself through the command line", () => {
  it("the service denies it the admin socket, the door and the data folder, whatever is approved", async () => {
    const sockets = [adminSocketOf(fixture.dataFolder), runSocketOf(fixture.dataFolder)];
    const { answers } = await run({
      connects: sockets.map((socket) => `unix:${socket}`),
      file: join(fixture.dataFolder, "store.db"),
      approves: true,
    });
    expect(answers).toMatchObject({
      codes: ["denied_rule", "denied_rule"],
      approval: "PermissionError",
      file: "ExternalAccessError",
    });
    expect(await pending()).toEqual([]);
  });

  it("the command refuses a program that has a gate, and nothing is decided", async () => {
    const { runtime } = fixture;
    await runtime.run(TOOL, MEMBER, (sdk) =>
      sdk.access.checkExternalAccess(sdk.access.network.receive("https://other.example.com/x")),
    );
    const [request] = await pending();
    const approve = [process.execPath, cli.file, "approve", request?.id ?? "", "--permanent", "--yes"];
    const inner = ["run", ...BARE, "--data", fixture.dataFolder, ...approve, "--data", fixture.dataFolder];
    const { code, stderr } = await runCli(cli, inner, { cwd: workspace });
    expect([code, stderr]).toEqual([4, expect.stringContaining("guarded code may not decide")]);
    for (const words of [
      ["run", "--manifest", "wide.json", process.execPath],
      ["admin", "rotate-key"],
      ["up"],
    ]) {
      const own = [process.execPath, cli.file, ...words];
      expect(
        (await runCli(cli, ["run", ...BARE, "--data", fixture.dataFolder, ...own], { cwd: workspace })).code,
      ).toBe(4);
    }
    expect(await pending()).toHaveLength(1);
  });
});

async function pending() {
  return (await fixture.service.list.requests(adminCaller(), { status: "pending" })).rows;
}
