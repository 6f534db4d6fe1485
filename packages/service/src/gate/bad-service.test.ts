/** A child at a service that does not keep to the protocol: it ends the connection and relies on nothing from it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type GateClient,
  type GateFault,
  gateBounds as bounds,
  connectGate,
  openPrivateRealm,
} from "@sallyport/gate";
import type { Change } from "@sallyport/policy";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { policyContext } from "../caller-context.ts";
import {
  type ChildPrograms,
  GatedChild,
  buildChildPrograms,
  buildRealmScript,
  socketPair,
} from "../testing/gate-fixture.ts";
import { type Heard, RawEnd, frameOf } from "../testing/raw-end.ts";
import { READER, callerOf } from "../testing/service-fixture.ts";
import { contextTexts } from "./child-facts.ts";

const network = (target: string) => ({ resourceType: "network", operation: "receive", target }) as const;
const DECLARED = network("https://declared.example.com/a");
const APPROVED = network("https://approved.example.com/a");
const UNKNOWN = network("https://unknown.example.com/a");
const TERMS = {
  kind: "hello",
  protocol: bounds.PROTOCOL_VERSION,
  nonce: "nonce",
  lease_ms: 600_000,
  heartbeat_ms: 600_000,
  memory: "allowlist",
};
const CHANGES: readonly Change[] = [
  {
    kind: "contract_set",
    contract: {
      id: "contract-demo",
      access: [{ resourceType: "network", operation: "receive", target: "https://declared.example.com" }],
    },
  },
  {
    kind: "approval_set",
    approval: {
      id: "approval-1",
      subject: READER,
      ...APPROVED,
      match: "exact",
      scope: "permanent",
      organizationId: null,
      userId: null,
      sessionKey: null,
      expiresAtMs: null,
      usesLeft: null,
    },
  },
];
const context = contextTexts(
  policyContext(callerOf(), { live: true, setup: false, mode: "default", modeExpiresAtMs: null }),
);
const SNAPSHOT = { kind: "snapshot", revision: 5, is_last: true, ...facts(CHANGES), context };
const DELTA = { kind: "delta", from: 5, to: 6, is_last: true, ...facts([]) };

function facts(changes: readonly unknown[]) {
  return { changes: JSON.stringify(changes), count: changes.length };
}

const folder = mkdtempSync(join(tmpdir(), "sallyport-bad-service-"));
let script: string;
let programs: ChildPrograms;
let service: RawEnd;
beforeAll(async () => {
  script = await buildRealmScript(join(folder, "realm-script.js"));
  programs = await buildChildPrograms();
});
afterEach(() => service.socket.destroy());
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  programs.remove();
});

interface Connecting {
  readonly client: Promise<GateClient>;
  readonly faults: GateFault[];
}

async function connecting(): Promise<Connecting> {
  const { near, far } = await socketPair();
  service = new RawEnd(near);
  const faults: GateFault[] = [];
  const client = connectGate(far, {
    realm: openPrivateRealm({ seed: [7, 8], script }),
    onClosed: (fault) => faults.push(fault),
  });
  // WHY: where the service breaks the protocol before the first lease there never is a client.
  client.catch(() => undefined);
  await service.next("hello");
  return { client, faults };
}

/** Greeted, with facts and a lease. */
async function connected() {
  const { client, faults } = await connecting();
  service.say(TERMS);
  service.say(SNAPSHOT);
  expect(await service.next("confirm")).toMatchObject({ revision: 5 });
  const { beat } = await service.next("heartbeat");
  service.say({ kind: "heartbeat", beat, live: true });
  return { client: await client, faults };
}

const answerTo = (asked: Heard, check: object) => ({ kind: "answer", id: asked["id"], check });
const ALLOWED = {
  allowed: true,
  requires_approval: false,
  code: "allowed_permanent",
  message: "is allowed",
  decision: {
    id: "decision-1",
    decision: "allowed",
    decision_reason: "is allowed",
    rule_refs: [],
    updated_input_ref: null,
    approval_action_id: null,
    expires_at: null,
    scope: null,
    destructive: false,
    impact_scope: "none",
    rollback_advice: "none",
    decision_source: "permanent_approval",
  },
};

it("a child of a service that keeps to the protocol goes on", async () => {
  const { client, faults } = await connected();
  expect(client.foresee(APPROVED).verdict.code).toBe("allowed_permanent");
  const asking = client.check(UNKNOWN);
  service.say(answerTo(await service.next("ask"), ALLOWED));
  expect(await asking).toMatchObject({ allowed: true, code: "allowed_permanent" });
  service.say({ ...DELTA, ...facts([{ kind: "approval_removed", id: "approval-1" }]) });
  expect(await service.next("confirm")).toMatchObject({ revision: 6 });
  expect(client.foresee(APPROVED).verdict.code).toBe("approval_required");
  expect(faults).toEqual([]);
  client.close();
});

describe("attack: a service", () => {
  it.each<[string, string, (open: Heard) => void]>([
    [
      "that answers what nobody asked",
      "duplicate_id",
      (open) => service.say({ ...answerTo(open, ALLOWED), id: 99 }),
    ],
    ["that answers with what is no check", "unknown_message", (open) => service.say(answerTo(open, {}))],
    [
      "that answers with an allow that names no decision",
      "unknown_message",
      (open) => service.say(answerTo(open, { ...ALLOWED, decision: undefined })),
    ],
    ["that says hello again", "out_of_state", () => service.say(TERMS)],
    ["that sends a second snapshot", "out_of_state", () => service.say({ ...SNAPSHOT, revision: 7 })],
    ["that sends a delta to something else", "out_of_state", () => service.say({ ...DELTA, from: 4 })],
    [
      "that goes back to an older revision",
      "out_of_state",
      () => service.say({ ...DELTA, to: 4, ...facts([]) }),
    ],
    ["that replays a frame", "out_of_sequence", () => service.say({ ...DELTA, n: 2 })],
    ["that leaves a frame out", "out_of_sequence", () => service.say({ ...DELTA, n: 9 })],
    [
      "that sends the same delta again under a new number",
      "out_of_state",
      () => (service.say(DELTA), service.say(DELTA)),
    ],
    ["that claims a huge frame", "oversized_frame", () => service.bytes(Buffer.from([0xff, 0, 0, 0]))],
    ["that sends what is no text", "malformed_frame", () => service.bytes(Buffer.from([0, 0, 0, 1, 0xff]))],
    ["that sends what is no JSON", "malformed_frame", () => service.bytes(frameOf("{"))],
    ["that sends an unknown message", "unknown_message", () => service.say({ kind: "trust_me" })],
    ["that sends an unknown field", "unknown_message", () => service.say({ ...DELTA, extra: true })],
    [
      "that answers a heartbeat that was not sent",
      "out_of_state",
      () => service.say({ kind: "heartbeat", beat: 7, live: true }),
    ],
    [
      "that sends facts which are no changes",
      "refused_facts",
      () => service.say({ ...DELTA, changes: '[{"kind":"trust"}]', count: 1 }),
    ],
    [
      "that miscounts its facts",
      "refused_facts",
      () => service.say({ ...DELTA, ...facts(CHANGES), count: 3 }),
    ],
    [
      "that sends a context which cannot be opened",
      "refused_facts",
      () => service.say({ ...DELTA, context: { live: "{}", fenced: "{}" } }),
    ],
  ])("%s is cut off with %s, and nothing of it counts", async (_, code, attack) => {
    const { client, faults } = await connected();
    const asking = client.check(UNKNOWN);
    attack(await service.next("ask"));
    expect(await asking).toMatchObject({ code: "unavailable", allowed: false });
    expect(faults.map((fault) => fault.code)).toEqual([code]);
    expect(client.isLive).toBe(false);
    expect(await client.check(APPROVED)).toMatchObject({ code: "unavailable", allowed: false });
    expect(await client.require(UNKNOWN)).toMatchObject({ code: "unavailable", allowed: false });
    // Facts that were refused leave nothing to decide from; otherwise what is declared goes on.
    const declared = code === "refused_facts" ? "unavailable" : "allowed_sandbox";
    expect(await client.check(DECLARED)).toMatchObject({ code: declared });
  });

  it("that answers twice is cut off, and the first answer stands", async () => {
    const { client, faults } = await connected();
    const asking = client.check(UNKNOWN);
    const asked = await service.next("ask");
    service.say(answerTo(asked, ALLOWED));
    service.say(answerTo(asked, ALLOWED));
    expect(await asking).toMatchObject({ code: "allowed_permanent" });
    await expect.poll(() => faults.map((fault) => fault.code)).toEqual(["duplicate_id"]);
  });

  it.each<[string, string, () => void]>([
    [
      "speaks another version",
      "wrong_version",
      () => service.say({ ...TERMS, protocol: bounds.PROTOCOL_VERSION + 1 }),
    ],
    ["sends facts before its terms", "out_of_state", () => service.say(SNAPSHOT)],
    ["sends a delta in place of a snapshot", "out_of_state", () => (service.say(TERMS), service.say(DELTA))],
    [
      "answers a heartbeat before there was one",
      "out_of_state",
      () => (service.say(TERMS), service.say({ kind: "heartbeat", beat: 1, live: true })),
    ],
  ])("that %s never gets a client", async (_, code, attack) => {
    const { client, faults } = await connecting();
    attack();
    await expect(client).rejects.toMatchObject({ code });
    expect(faults.map((fault) => fault.code)).toEqual([code]);
  });

  it("that never says that it is live leaves the child without a lease, and so without a client", async () => {
    const { client } = await connecting();
    service.say(TERMS);
    service.say(SNAPSHOT);
    const { beat } = await service.next("heartbeat");
    service.say({ kind: "heartbeat", beat, live: false });
    service.say({ kind: "close", code: "closed", message: "over" });
    await expect(client).rejects.toMatchObject({ code: "closed" });
  });

  it("that gives a snapshot without a context leaves the child nothing to decide from", async () => {
    const { client: connectingClient } = await connecting();
    service.say(TERMS);
    const { context: _, ...bare } = SNAPSHOT;
    service.say(bare);
    const { beat } = await service.next("heartbeat");
    service.say({ kind: "heartbeat", beat, live: true });
    const client = await connectingClient;
    for (const words of [DECLARED, APPROVED])
      expect(client.foresee(words).verdict).toMatchObject({ allowed: false });
    client.close();
  });

  it("that repeats the answer to a heartbeat renews nothing", async () => {
    const { near, far } = await socketPair();
    service = new RawEnd(near);
    const opening = connectGate(far, { realm: openPrivateRealm({ seed: [7, 8], script }) });
    service.say({ ...TERMS, lease_ms: 1000 });
    service.say(SNAPSHOT);
    const { beat } = await service.next("heartbeat");
    service.say({ kind: "heartbeat", beat, live: true });
    const client = await opening;
    const echo = setInterval(() => service.say({ kind: "heartbeat", beat, live: true }), 20);
    try {
      await expect.poll(() => client.isLive, { timeout: 30_000 }).toBe(false);
      expect(await client.check(APPROVED)).toMatchObject({ code: "unavailable" });
    } finally {
      clearInterval(echo);
      client.close();
    }
  });

  it("that sends bad facts leaves a process that asks synchronously without any", async () => {
    const child = new GatedChild(programs, "sync");
    try {
      const ready = child.ready();
      service = new RawEnd(child.socket);
      service.say(TERMS);
      service.say(SNAPSHOT);
      const { beat } = await service.next("heartbeat");
      service.say({ kind: "heartbeat", beat, live: true });
      await ready;
      // That of the snapshot; the next one is that of the delta.
      await service.next("confirm");
      expect(await child.foreseen(APPROVED)).toBe("allowed_permanent");
      service.say({ ...DELTA, changes: '[{"kind":"trust"}]', count: 1 });
      await service.next("confirm");
      expect(await child.foreseen(APPROVED)).toBe("unavailable");
      expect(await child.foreseen(DECLARED)).toBe("unavailable");
    } finally {
      await child.kill();
    }
  });
});
