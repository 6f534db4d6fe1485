/** The gate of a running service: facts in parts, events in bounds, resumes, and the compiled worker. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { connectGate, openPrivateRealm } from "@sallyport/gate";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { CallerContext } from "../caller-context.ts";
import type { GateSession } from "./gate-session.ts";
import {
  type ChildPrograms,
  GatedChild,
  buildChildPrograms,
  buildRealmScript,
  socketPair,
  startChild,
} from "../testing/gate-fixture.ts";
import { RawEnd } from "../testing/raw-end.ts";
import {
  type Fixture,
  READER,
  TestClock,
  adminOf,
  callerOf,
  eventsOf,
  frame,
  logFaults,
  openFixture,
  shown,
} from "../testing/service-fixture.ts";

const network = (target: string) => ({ resourceType: "network", operation: "receive", target });
const DECLARED = network("https://declared.example.com/a");
const UNKNOWN = network("https://unknown.example.com/a");
const CONTRACTS = 30;
const ENTRIES = 200;

const folder = mkdtempSync(join(tmpdir(), "sallyport-gate-server-"));
let script: string;
let programs: ChildPrograms;
let fixture: Fixture;
const clock = new TestClock();
beforeAll(async () => {
  script = await buildRealmScript(join(folder, "realm-script.js"));
  programs = await buildChildPrograms();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  programs.remove();
});
let runs: { readonly context: unknown; readonly caller: CallerContext }[] = [];
const children: GatedChild[] = [];
const ends: RawEnd[] = [];
beforeEach(async () => {
  runs = [];
  fixture = await openFixture();
});
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
  for (const end of ends.splice(0)) end.socket.destroy();
  expect(await logFaults(fixture)).toEqual([]);
  await fixture.close();
});

async function attach(caller = callerOf()): Promise<{ readonly end: RawEnd; readonly session: GateSession }> {
  const { near, far } = await socketPair();
  const end = new RawEnd(far);
  ends.push(end);
  return { end, session: fixture.service.gate.attachChild(near, caller) };
}

/** More than one message holds. */
function declareMuch(): CallerContext {
  const ids = Array.from({ length: CONTRACTS }, (_, contract) => `contract-${contract}`);
  for (const [contract, id] of ids.entries()) {
    const access = Array.from({ length: ENTRIES }, (_, entry) => ({
      resourceType: "network" as const,
      operation: "receive" as const,
      target: `https://h${entry}.c${contract}.example.com/${"long/".repeat(10)}`,
    }));
    fixture.service.applyHost({ kind: "contract_set", contract: { id, access } });
  }
  return callerOf(READER, { frames: [frame(READER, ids)] });
}
const declared = (contract: number, entry: number) =>
  network(`https://h${entry}.c${contract}.example.com/${"long/".repeat(10)}x`);

describe("a snapshot of many contracts", () => {
  it("comes in parts, and only the last one has the context", async () => {
    const { end } = await attach(declareMuch());
    const parts = await end.greet();
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.map((part) => part["is_last"] === true)).toEqual(
      parts.map((_, index) => index === parts.length - 1),
    );
    expect(parts.map((part) => "context" in part)).toEqual(parts.map((part) => part["is_last"]));
    expect(new Set(parts.map(({ revision }) => revision)).size).toBe(1);
    const counts = parts.map(({ count }) => count as number);
    const changes = parts.map((part) => JSON.parse(part["changes"] as string) as readonly unknown[]);
    expect(changes.map(({ length }) => length)).toEqual(counts);
  });

  it("is whole for the child, from its first part to its last", async () => {
    const { near, far } = await socketPair();
    fixture.service.gate.attachChild(near, declareMuch());
    const client = await connectGate(far, { realm: openPrivateRealm({ seed: [1, 9], script }) });
    for (const contract of [0, 1, CONTRACTS - 1]) {
      expect(client.foresee(declared(contract, 0)).verdict.code).toBe("allowed_sandbox");
      expect(client.foresee(declared(contract, ENTRIES - 1)).verdict.code).toBe("allowed_sandbox");
    }
    expect(client.foresee(declared(CONTRACTS, 0)).verdict.code).toBe("approval_required");
    client.close();
  });

  it("can be followed by news in parts", async () => {
    const caller = callerOf(READER, {
      frames: [
        frame(
          READER,
          Array.from({ length: CONTRACTS }, (_, contract) => `contract-${contract}`),
        ),
      ],
    });
    const { near, far } = await socketPair();
    const session = fixture.service.gate.attachChild(near, caller);
    const client = await connectGate(far, { realm: openPrivateRealm({ seed: [1, 9], script }) });
    expect(client.foresee(declared(0, 0)).verdict.code).toBe("approval_required");
    declareMuch();
    await expect.poll(() => client.foresee(declared(CONTRACTS - 1, 0)).verdict.code).toBe("allowed_sandbox");
    expect(client.foresee(declared(0, 0)).verdict.code).toBe("allowed_sandbox");
    expect(session.isFenced).toBe(false);
    client.close();
  });

  it("gives nothing to a child that was cut off in the middle of it", async () => {
    const { near, far } = await socketPair();
    const { end } = await attach(declareMuch());
    const service = new RawEnd(near);
    ends.push(service);
    const opening = connectGate(far, { realm: openPrivateRealm({ seed: [1, 9], script }) });
    // The real messages of the service, but for the last one.
    end.hello();
    const { n: _, ...hello } = await end.next("hello");
    service.say(hello);
    const { n: __, ...part } = await end.next("snapshot");
    expect(part["is_last"]).toBe(false);
    service.say(part);
    service.say({ kind: "heartbeat", beat: 1, live: true });
    await expect(opening).rejects.toMatchObject({ code: "out_of_state" });
  });
});

interface Told {
  readonly data: { readonly count: number };
}

describe("events of a child", () => {
  it("are one entry with their number where requests are equal, and none where the service must be asked", async () => {
    const { near, far } = await socketPair();
    fixture.service.gate.attachChild(near, callerOf());
    const client = await connectGate(far, { realm: openPrivateRealm({ seed: [1, 9], script }) });
    for (let time = 0; time < 3; time++) expect(client.passes({ ...DECLARED, enforced: true })).toBe(true);
    await expect.poll(async () => (await eventsOf(fixture)).length).toBeGreaterThan(0);
    const counts = (await eventsOf(fixture)).map(({ body }) => (JSON.parse(body) as Told).data.count);
    expect(counts).toEqual([3]);
    expect(client.passes({ ...UNKNOWN, enforced: true })).toBe(false);
    // WHY not, though it is declared: what destroys something is on record before it goes on.
    const destructive = { resourceType: "filesystem", operation: "modify", target: "/srv/declared/a" };
    expect(client.foresee(destructive).verdict.code).toBe("allowed_sandbox");
    expect(client.passes(destructive)).toBe(false);
    client.close();
  });

  it("are bounded by a rate, and what is left out is counted", async () => {
    await fixture.close();
    fixture = await openFixture({ clock });
    const { end, session } = await attach();
    await end.greet();
    const words = { resource_type: "network", operation: "receive", target: DECLARED.target };
    const entries = Array.from({ length: 100 }, () => ({ kind: "allowed", words }));
    for (let message = 0; message < 25; message++) end.say({ kind: "event", entries });
    await expect.poll(() => session.dropped).toBe(500);
    clock.advance(1000);
    for (let message = 0; message < 6; message++) end.say({ kind: "event", entries });
    await expect.poll(() => session.dropped).toBe(600);
    await fixture.service.audit.flush();
    const head = await fixture.store.read((tx) => tx.events.lastOf("node-a"));
    expect(head?.seq).toBe(2500);
  });

  it("of one subject leave the budget of another alone", async () => {
    await fixture.close();
    fixture = await openFixture({ clock });
    const flooding = await attach();
    await flooding.end.greet();
    const words = { resource_type: "network", operation: "receive", target: DECLARED.target };
    const entries = Array.from({ length: 100 }, () => ({ kind: "allowed", words }));
    for (let message = 0; message < 21; message++) flooding.end.say({ kind: "event", entries });
    await expect.poll(() => flooding.session.dropped).toBe(100);
    const other = await attach(callerOf({ ...READER, name: "demo.other" } as typeof READER));
    await other.end.greet();
    other.end.say({ kind: "event", entries: [{ kind: "violation", words: { ...words, enforced: true } }] });
    await expect
      .poll(async () => {
        const { rows } = await fixture.store.read((tx) =>
          tx.events.search({ subjectName: "demo.other" }, { limit: 5 }),
        );
        await fixture.service.audit.flush();
        return rows.length;
      })
      .toBe(1);
    expect(other.session.dropped).toBe(0);
  });
});

describe.each(["async", "sync"] as const)("a guarded process that leaves a resume (%s)", (mode) => {
  it("is answered at once, and what it left runs for its own user once it is approved", async () => {
    const { service, actions } = fixture;
    actions.register({
      name: "demo.resume",
      module: "demo",
      handler: (context, { caller }) => void runs.push({ context, caller }),
    });
    const { child } = await startChild(service, programs, callerOf(), mode);
    children.push(child);
    const resume = { resumeAction: "demo.resume", resumeContext: { page: 3 } };
    const answer = await child.run("require", UNKNOWN, resume);
    expect(answer).toMatchObject({ code: "approval_required", allowed: false });
    const { rows } = await service.list.requests(adminOf());
    expect(rows).toMatchObject([
      { id: answer.requestId, attestedBy: "guard", resume: { action: "demo.resume", context: "encrypted" } },
    ]);
    await service.executor.runDue();
    expect(runs).toEqual([]);
    await service.approvePermanently(adminOf(), await shown(service, answer.requestId));
    await service.executor.runDue();
    expect(runs).toMatchObject([
      {
        context: { page: 3 },
        caller: {
          user: { id: 21 },
          organizationId: 7,
          sessionKey: "sess-21",
          interactive: false,
          frames: [{ subject: { type: "module", name: "demo" }, entry: "host" }],
        },
      },
    ]);
    expect(await child.code(UNKNOWN)).toBe("allowed_permanent");
  });

  it("cannot name an action of another module, nor a context without an action", async () => {
    const { service, actions } = fixture;
    actions.register({ name: "other.resume", module: "other", handler: () => void runs.push({} as never) });
    const { child } = await startChild(service, programs, callerOf(), mode);
    children.push(child);
    for (const options of [{ resumeAction: "other.resume" }, { resumeContext: { page: 1 } }]) {
      const answer = await child.run("require", UNKNOWN, options);
      expect(answer).toMatchObject({ code: "invalid_operation", allowed: false });
    }
    expect((await service.list.requests(adminOf())).rows).toEqual([]);
  });
});

describe("the compiled package", () => {
  const root = fileURLToPath(new URL("../../../../", import.meta.url));

  it("finds its worker beside itself, in a bare Node", async () => {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    await promisify(execFile)(process.execPath, [tsc, "-b", join(root, "packages", "gate")]);
    const entry = pathToFileURL(join(root, "packages", "gate", "dist", "index.js")).href;
    const program = join(folder, "compiled.mjs");
    writeFileSync(
      program,
      `import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { SyncGateClient, openPrivateRealm } from ${JSON.stringify(entry)};
const realm = openPrivateRealm({ seed: [3, 4], script: readFileSync(process.argv[3], "utf8") });
const client = SyncGateClient.open({ gate: 3, openRealm: () => realm });
const say = (id, value) => process.stdout.write(JSON.stringify({ id, value }) + "\\n");
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, words } = JSON.parse(line);
  if (words.target !== "facts") return say(id, client.checkSync(words));
  void client.facts().then((facts) => say(id, { code: facts.chain[0].subject.name }));
});
say(0, "ready");
`,
    );
    const { child } = await startChild(fixture.service, { ...programs, child: program }, callerOf(), "sync");
    children.push(child);
    expect(await child.code(DECLARED)).toBe("allowed_sandbox");
    expect(await child.code(UNKNOWN)).toBe("approval_required");
    expect(await child.code({ ...UNKNOWN, target: "facts" })).toBe(READER.name);
    const rows = await eventsOf(fixture);
    expect(rows.map(({ type }) => type)).toContain("permission.requested");
  });
});
