import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AskWords, connectGate, openPrivateRealm } from "@sallyport/gate";
import { parseAccess } from "@sallyport/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { GateSession } from "./gate-session.ts";
import { socketPair } from "../testing/gate-fixture.ts";
import { between, pick, prng } from "../testing/seeded-random.ts";
import {
  type Fixture,
  READER,
  adminOf,
  ask,
  callerOf,
  logFaults,
  openFixture,
  parseUrl,
  subject,
} from "../testing/service-fixture.ts";

const SUBJECTS = [READER, READER, READER, subject("module", "demo"), subject("tool", "demo.other")];
const TARGETS = [
  "https://a.example/x",
  "https://a.example/x?q=1",
  "https://b.example/",
  "https://declared.example.com/y",
];
const OPERATIONS = ["receive", "send", "connect"] as const;
const MODES = ["default", "default", "untrusted", "never", "plan", "on_request"] as const;

const folder = mkdtempSync(join(tmpdir(), "sallyport-mirror-"));
let script: string;
let fixture: Fixture;

beforeAll(async () => {
  const tools = (await import(new URL("../../../../tools/build-realm.mjs", import.meta.url).href)) as {
    readonly buildRealm: (places: { output: string }) => Promise<string>;
  };
  script = await tools.buildRealm({ output: join(folder, "realm-script.js") });
  fixture = await openFixture({ limits: { pendingMax: 100_000 } });
});
afterAll(async () => {
  expect(await logFaults(fixture)).toEqual([]);
  await fixture.close();
  rmSync(folder, { recursive: true, force: true });
});

it("a child foresees what the service decides, in a world that changes at random", async () => {
  const { service } = fixture;
  const random = prng(20_261_116);
  const caller = callerOf(READER, {
    frames: [frameOf("demo", []), frameOf("demo.read_file", ["contract-demo"])],
  });
  const { near, far } = await socketPair();
  const session: GateSession = service.gate.attachChild(near, caller);
  const client = await connectGate(far, { realm: openPrivateRealm({ seed: [5, 6], script }) });
  const codes = new Map<string, number>();
  const limited = new Set<string>();
  for (let step = 0; step < 120; step++) {
    const words = {
      resourceType: "network",
      operation: pick(random, OPERATIONS),
      target: pick(random, TARGETS),
    };
    await change(random, accessOf(words), limited);
    await expect.poll(() => session.reached, { interval: 1 }).toBe(service.revision);
    for (const operation of OPERATIONS) {
      for (const target of TARGETS) {
        const asked = { resourceType: "network", operation, target };
        const { code } = await service.check(caller, ask(accessOf(asked), { registerRequest: false }));
        const foreseen = client.foresee(asked, false).verdict.code;
        codes.set(code, (codes.get(code) ?? 0) + 1);
        expect(client.passes(asked)).toBe(code === "allowed_sandbox");
        if (foreseen === code) continue;
        // A limited approval never travels: the child says less, and asks.
        expect(limited.size, `${operation} ${target}: ${foreseen} for ${code}`).toBeGreaterThan(0);
        expect(code).toBe("allowed_permanent");
        expect(foreseen).not.toMatch(/^allowed/);
      }
    }
  }
  client.close();
  expect([...codes.keys()].toSorted()).toEqual([
    "allowed_permanent",
    "allowed_sandbox",
    "approval_required",
    "denied_mode",
    "denied_rule",
    "resource_disabled",
  ]);
});

async function change(
  random: () => number,
  access: ReturnType<typeof accessOf>,
  limited: Set<string>,
): Promise<void> {
  const { service } = fixture;
  const by = { subject: pick(random, SUBJECTS), access };
  switch (between(random, 0, 7)) {
    case 0:
    case 1:
      await service.approvePermanently(adminOf(), by);
      return;
    case 2: {
      const decision = await service.approvePermanently(adminOf(), by, { maxUses: 3 });
      if (decision.ok && decision.approval !== null) limited.add(decision.approval.id);
      return;
    }
    case 3:
      await service.deny(adminOf(), by);
      return;
    case 4:
      if (random() < 0.3) await service.block(adminOf(), by);
      return;
    case 5:
      await service.setMode(adminOf(), { mode: pick(random, MODES) });
      return;
    case 6: {
      const { rows } = await service.list.approvals(adminOf());
      const row = rows[0];
      if (row !== undefined) await service.revokeApproval(adminOf(), { id: row.id });
      return;
    }
    default: {
      const rule = (await fixture.store.read((tx) => tx.rules.list()))[0];
      if (rule !== undefined) await service.removeRule(adminOf(), { id: rule.id });
    }
  }
}

function accessOf({ resourceType, operation, target }: AskWords) {
  const parsed = parseAccess({ resourceType, operation, target }, parseUrl);
  if (!parsed.ok) throw new TypeError(parsed.message);
  return parsed.value;
}

function frameOf(name: string, contracts: readonly string[]) {
  const who = name === "demo" ? subject("module", name) : READER;
  return { subject: who, phase: "runtime", entry: "host", contracts } as const;
}
