import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { bundledProgram } from "./testing/bundled-program.ts";
import type { OwnerMessage } from "./testing/owner-program.ts";
import { adminOf, eventsOf, logFaults, openFixture, shown } from "./testing/service-fixture.ts";

const UNKNOWN = "https://unknown.example.com/a";
const APPROVED = "https://approved.example.com/a";
const DECLARED = "https://declared.example.com/a";

interface Answer {
  readonly value?: unknown;
  readonly error?: {
    readonly code?: string;
    readonly message: string;
    readonly owner?: { readonly pid: number };
  };
}

let program: string;
let folder: string;
let children: ChildProcess[];
beforeAll(async () => {
  program = await bundledProgram("owner-program.ts");
});
afterAll(() => rmSync(dirname(program), { recursive: true, force: true }));
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-owner-")));
  children = [];
});
afterEach(async () => {
  for (const child of children) await killed(child);
  rmSync(folder, { recursive: true, force: true });
});

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** A disk of its own for the child; only where this machine lets a process have one. */
const OWN_DISK = ["--user", "--map-root-user", "--mount"];
const hasOwnDisk = (): boolean =>
  spawnSync("unshare", [...OWN_DISK, "mount", "-t", "tmpfs", "disk", tmpdir()]).status === 0;

function start({ disk }: { readonly disk: boolean } = { disk: false }): ChildProcess {
  const mount = 'mount -t tmpfs -o size=3m disk "$1" && exec "$2" "$3" "$1"';
  const words = disk
    ? ["unshare", ...OWN_DISK, "sh", "-c", mount, "sh", folder, process.execPath, program]
    : [process.execPath, program, folder];
  const [command = "", ...rest] = words;
  const child = spawn(command, rest, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  children.push(child);
  return child;
}

async function tell(child: ChildProcess, message: OwnerMessage): Promise<Answer> {
  const answer = once(child, "message");
  child.send(message);
  return (await answer)[0] as Answer;
}

const codeOf = async (child: ChildProcess, target: string) =>
  (await tell(child, { do: "check", target })).value;

describe("a disk that is full", () => {
  it("is unavailable but for the allowlist, and over by itself when there is room", async () => {
    const disk = hasOwnDisk();
    const child = start({ disk });
    expect(await tell(child, { do: "open" })).toEqual({ value: "opened" });
    const limit = (bytes: string) => execFileSync("prlimit", [`--pid=${child.pid}`, `--fsize=${bytes}:`]);
    // WHY: where no disk can be had, the system's own limit of a file makes every write fail in the same way.
    if (disk) await tell(child, { do: "fill" });
    else limit(String(statSync(join(folder, "store.db-wal")).size));
    await expect.poll(() => codeOf(child, UNKNOWN)).toBe("unavailable");
    expect(await codeOf(child, APPROVED)).toBe("unavailable");
    expect(await codeOf(child, DECLARED)).toBe("allowed_sandbox");
    expect((await tell(child, { do: "request", count: 1 })).error).toBeDefined();
    // WHY: what was not indexed yet cannot be now, and is found all the same.
    expect(await tell(child, { do: "find_approvals" })).toEqual({ value: 1 });
    if (disk) await tell(child, { do: "free" });
    else limit("unlimited");
    await expect.poll(() => codeOf(child, APPROVED)).toBe("allowed_permanent");
    expect(await codeOf(child, UNKNOWN)).toBe("approval_required");
    expect(await tell(child, { do: "find_approvals" })).toEqual({ value: 1 });
    expect(await tell(child, { do: "close" })).toEqual({ value: "closed" });
  });
});

describe("a store that is read-only", () => {
  it("is refused in words that say so, and opens in the same process when it may be written", async () => {
    const child = start();
    await tell(child, { do: "open" });
    await tell(child, { do: "close" });
    await tell(child, { do: "protect", as: "read-only" });
    const { error } = await tell(child, { do: "open" });
    expect(error).toMatchObject({ code: "unavailable" });
    expect(error?.message).toMatch(/read-only|right to write|cannot be (made|opened)/);
    await tell(child, { do: "protect", as: "writable" });
    expect(await tell(child, { do: "open" })).toEqual({ value: "opened" });
    expect(await codeOf(child, APPROVED)).toBe("allowed_permanent");
    await tell(child, { do: "close" });
  });
});

describe("a second process on the same store", () => {
  it("is refused with who owns it, and harms nothing", async () => {
    const owner = start();
    await tell(owner, { do: "open" });
    await tell(owner, { do: "request", count: 2 });
    for (let attempt = 0; attempt < 3; attempt++) {
      const { error } = await tell(start(), { do: "open" });
      expect(error).toMatchObject({ code: "store_owned", owner: { pid: owner.pid } });
      expect(error?.message).toContain(`process ${owner.pid}`);
    }
    expect(await codeOf(owner, APPROVED)).toBe("allowed_permanent");
    await tell(owner, { do: "close" });
    const next = await openFixture({ folder });
    expect((await next.service.list.requests(adminOf())).rows).toHaveLength(2);
    expect(await logFaults(next)).toEqual([]);
    await next.close();
  });
});

describe("an owner that is killed in the middle of approvals", () => {
  it("is followed by the next one, with all that it acknowledged and the resumes of it", async () => {
    for (const after of [1, 5, 12]) {
      const owner = start();
      await tell(owner, { do: "open" });
      await tell(owner, { do: "request", count: 20 });
      const acknowledged: string[] = [];
      const exited = once(owner, "exit");
      owner.on("message", ({ value }: Answer) => {
        acknowledged.push(String(value));
        if (acknowledged.length === after) owner.kill("SIGKILL");
      });
      owner.send({ do: "approve_all" });
      await exited;
      expect(acknowledged).not.toContain("all");

      const next = await openFixture({ folder });
      const runs: unknown[] = [];
      next.actions.register({
        name: "demo.resume",
        module: "demo",
        handler: (context) => void runs.push(context),
      });
      for (const id of acknowledged)
        expect(await next.service.list.request(adminOf(), id)).toMatchObject({
          status: "approved_permanent",
        });
      const settled = (await next.service.list.requests(adminOf(), { status: "approved_permanent" })).rows;
      expect(settled.length).toBeGreaterThanOrEqual(acknowledged.length);
      while ((await next.service.executor.runDue()) > 0);
      expect(runs).toHaveLength(settled.length);
      expect(await logFaults(next)).toEqual([]);
      expect((await eventsOf(next)).filter(({ type }) => type === "permission.resolved")).toHaveLength(
        settled.length,
      );
      const { rows } = await next.service.list.requests(adminOf(), { status: "pending" });
      await next.service.approvePermanently(adminOf(), await shown(next.service, rows[0]?.id));
      await next.close();
      rmSync(folder, { recursive: true, force: true });
      folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-owner-")));
    }
  });
});
