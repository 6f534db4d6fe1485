/** Programs that a child starts: bound to the child's own caller, inside its gate, and gone with it. */
import { type BranchMessage, BranchDuplex, connectGate, openPrivateRealm } from "@sallyport/gate";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { buildRealmScript, socketPair } from "../testing/gate-fixture.ts";
import { RawEnd } from "../testing/raw-end.ts";
import {
  type Fixture,
  READER,
  adminOf,
  callerOf,
  logFaults,
  openFixture,
} from "../testing/service-fixture.ts";
import type { AskedOfChild } from "./gate-node.ts";
import type { GateSession } from "./gate-session.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-branches-"));
let script: string;
let fixture: Fixture;
const ends: RawEnd[] = [];
beforeAll(async () => {
  script = await buildRealmScript(join(folder, "realm-script.js"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(async () => {
  for (const end of ends.splice(0)) end.socket.destroy();
  expect(await logFaults(fixture)).toEqual([]);
  await fixture.close();
});

interface Parent {
  readonly end: RawEnd;
  readonly session: GateSession;
  readonly faults: string[];
}

async function parent(onAsked?: (asked: AskedOfChild) => void): Promise<Parent> {
  const { near, far } = await socketPair();
  const end = new RawEnd(far);
  ends.push(end);
  const faults: string[] = [];
  const session = fixture.service.gate.attachChild(near, callerOf(READER), {
    imports: ["child_process"],
    onAsked,
    onClosed: ({ code }) => faults.push(code),
  });
  await end.greet();
  return { end, session, faults };
}

/** The stream of a branch, carried by hand. */
function branchOf({ end }: Parent, branch: number): BranchDuplex {
  end.say({ kind: "branch", branch });
  const stream: BranchDuplex = new BranchDuplex(branch, (message) => end.say(message));
  end.socket.on("data", () => {
    const own = end.heard.filter(({ kind }) => kind.startsWith("branch_"));
    for (const message of own) {
      end.heard.splice(end.heard.indexOf(message), 1);
      stream.hear(message as unknown as BranchMessage);
    }
  });
  end.socket.once("close", () => stream.destroy());
  return stream;
}

const realm = () => openPrivateRealm({ seed: [7, 8], script });
const UNKNOWN = { resourceType: "network", operation: "receive", target: "https://unknown.example.com/a" };

it("a started program is the subject of the child that started it, and its requests are that subject's", async () => {
  const client = await connectGate(branchOf(await parent(), 1), { realm: realm() });
  expect((await client.facts())?.chain).toEqual([{ subject: READER, phase: "runtime", entry: "host" }]);
  const check = await client.check(UNKNOWN);
  expect(check.code).toBe("approval_required");
  const { rows } = await fixture.service.list.requests(adminOf(), { status: "pending" });
  expect(rows.map(({ subject }) => subject)).toEqual([READER]);
});

it("sensitive imports do not travel: the child has them, what it starts has none", async () => {
  const { end } = await parent();
  const hello = await end.next("hello");
  expect(hello["imports"]).toEqual(["child_process"]);
  const inner = new RawEnd(branchOf({ end } as Parent, 1));
  inner.hello();
  expect(await inner.next("hello")).not.toHaveProperty("imports");
});

it("what it asks is heard by whoever learns from the child, and nothing is answered from memory", async () => {
  const heard: AskedOfChild[] = [];
  const above = await parent((asked) => heard.push(asked));
  expect(await above.end.next("hello")).toMatchObject({ memory: "nothing", evidence: true });
  above.end.say({ kind: "imported", name: "vm", evidence: "app.js:1" });
  const client = await connectGate(branchOf(above, 1), { realm: realm() });
  await client.check({ ...UNKNOWN, evidence: "connect at app.js:2" });
  await client.check(UNKNOWN, { registerRequest: false });
  expect(heard).toEqual([
    { kind: "import", name: "vm", evidence: "app.js:1" },
    { kind: "access", words: { ...UNKNOWN, evidence: "connect at app.js:2" } },
  ]);
});

it("goes with its child: it relies on nothing once its own lease has run out", async () => {
  const above = await parent();
  const client = await connectGate(branchOf(above, 1), { realm: realm() });
  expect(client.isLive).toBe(true);
  above.session.close();
  await expect.poll(() => client.isLive).toBe(false);
  expect((await client.check(UNKNOWN)).code).toBe("unavailable");
});

it.each<[string, string, (end: RawEnd) => void]>([
  [
    "opens one number twice",
    "duplicate_id",
    (end) => [1, 1].forEach((branch) => end.say({ kind: "branch", branch })),
  ],
  [
    "opens too many",
    "out_of_state",
    (end) =>
      Array.from({ length: 257 }).forEach((_, index) => end.say({ kind: "branch", branch: index + 1 })),
  ],
])("attack: a child that %s is cut off with %s", async (_, code, attack) => {
  const above = await parent();
  attack(above.end);
  await expect.poll(() => above.faults).toEqual([code]);
});

it("attack: bytes for a branch that is not there reach nobody, and what is no gate ends the branch alone", async () => {
  const above = await parent();
  above.end.say({ kind: "branch_bytes", branch: 9, bytes: "AAAA" });
  const stream = branchOf(above, 10);
  stream.resume();
  stream.write(Buffer.from("no frame at all"));
  await new Promise((resolve) => stream.once("end", resolve));
  above.end.say({ kind: "heartbeat", beat: 2 });
  await expect.poll(() => above.end.heard.some(({ kind }) => kind === "heartbeat")).toBe(true);
  expect(above.faults).toEqual([]);
});
