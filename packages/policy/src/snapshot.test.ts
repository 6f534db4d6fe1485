import { whatwgUrl } from "@sallyport/contract";
import { describe, expect, it } from "vitest";
import { ActiveContext } from "./active-context.ts";
import { builtinDenies } from "./builtin-denies.ts";
import type { Change } from "./change.ts";
import { decide } from "./decide.ts";
import { Snapshot } from "./snapshot.ts";
import { type Random, makeCase, prng } from "./testing/arbitrary-world.ts";
import { caseCount } from "./testing/case-count.ts";
import { buildSnapshot } from "./testing/compare-with-reference.ts";
import {
  TOOL,
  activate,
  approval,
  context,
  denial,
  frame,
  question,
  rule,
  sessionApproval,
  snapshotOf,
} from "./testing/fixture-world.ts";

const READ = { resourceType: "filesystem", operation: "read", target: "/data/x" } as const;
const read = (target: string) => question("filesystem", "read", target);

describe("a snapshot", () => {
  it("raises its revision with every change that takes effect, and with no other", () => {
    const snapshot = snapshotOf();
    expect(snapshot.revision).toBe(0);
    snapshot.apply({ kind: "approval_set", approval: approval(READ) });
    expect(snapshot.revision).toBe(1);
    expect(
      snapshot.apply({ kind: "approval_set", approval: approval({ ...READ, target: "not absolute" }) }).ok,
    ).toBe(false);
    expect(snapshot.apply({ kind: "no_such_change" } as unknown as Change).ok).toBe(false);
    expect(snapshot.revision).toBe(1);
  });

  it("takes a change whole or not at all", () => {
    const contract = { id: "manifest", access: [{ ...READ, target: "/data/" }] };
    const active = activate(
      { frames: [frame(TOOL, { contracts: ["manifest"] })] },
      { kind: "contract_set", contract },
    );
    const broken = {
      id: "manifest",
      access: [
        { ...READ, target: "/other/" },
        { ...READ, target: "../x" },
      ],
    };
    expect(active.snapshot.apply({ kind: "contract_set", contract: broken })).toMatchObject({
      ok: false,
      code: "invalid_target",
    });
    expect(decide(active, read("/data/y")).code).toBe("allowed_sandbox");
    expect(decide(active, read("/other/y")).code).toBe("approval_required");
  });

  it("refuses facts that make no sense", () => {
    const snapshot = snapshotOf();
    const refused: Change[] = [
      { kind: "approval_set", approval: sessionApproval(READ, { sessionKey: null }) },
      { kind: "approval_set", approval: sessionApproval(READ, { sessionKey: "" }) },
      { kind: "approval_set", approval: approval(READ, { match: "origin" }) },
      { kind: "approval_set", approval: approval({ ...READ, operation: "send" }) },
      { kind: "denial_set", denial: denial({ ...READ, target: "" }) },
      { kind: "rule_set", rule: rule("allow", READ, { source: "organization" }) },
      { kind: "rule_set", rule: rule("allow", READ, { source: "user" }) },
      { kind: "rule_set", rule: rule("allow", READ, { source: "session" }) },
      { kind: "rule_set", rule: rule("deny", { ...READ, operation: "receive" }) },
      { kind: "builtin_set", builtin: { id: "b", ...READ, target: "relative/" } },
    ];
    for (const change of refused) expect([change, snapshot.apply(change).ok]).toEqual([change, false]);
    expect(snapshot.revision).toBe(0);
  });

  it("replaces a contract whole, and leaves nothing of the old one", () => {
    const active = activate(
      { frames: [frame(TOOL, { contracts: ["manifest"] })] },
      {
        kind: "contract_set",
        contract: { id: "manifest", access: [{ ...READ, target: "/old/" }] },
      },
    );
    active.snapshot.apply({
      kind: "contract_set",
      contract: { id: "manifest", access: [{ ...READ, target: "/new/" }] },
    });
    expect(decide(active, read("/old/x")).allowed).toBe(false);
    expect(decide(active, read("/new/x")).allowed).toBe(true);
    active.snapshot.apply({ kind: "contract_removed", id: "manifest" });
    expect(decide(active, read("/new/x")).allowed).toBe(false);
  });

  it("ends a session with everything that was approved for it, and nothing else", () => {
    const other = sessionApproval({ ...READ, target: "/data/other" }, { id: "other", sessionKey: "sess-22" });
    const active = activate(
      {},
      { kind: "approval_set", approval: sessionApproval(READ) },
      { kind: "approval_set", approval: other },
    );
    const elsewhere = new ActiveContext(active.snapshot, context({ sessionKey: "sess-22" }));
    active.snapshot.apply({ kind: "session_ended", organizationId: null, userId: 21, sessionKey: "sess-21" });
    expect(decide(active, read("/data/x")).allowed).toBe(false);
    expect(decide(elsewhere, read("/data/other")).allowed).toBe(true);
  });

  it("moves an approval whose target changed", () => {
    const active = activate({}, { kind: "approval_set", approval: approval(READ) });
    active.snapshot.apply({ kind: "approval_set", approval: approval({ ...READ, target: "/data/y" }) });
    expect(decide(active, read("/data/x")).allowed).toBe(false);
    expect(decide(active, read("/data/y")).allowed).toBe(true);
  });

  it("is the same whether it was built at once or by many detours", () => {
    for (let seed = 0; seed < caseCount(400) + 20; seed++) {
      const random = prng(seed);
      const { world, context: where, question: asked } = makeCase(random);
      const direct = buildSnapshot(world, () => 0.5);
      const detoured = detour(buildSnapshot(world, random), world, random);
      const answers = [direct, detoured].map(
        (snapshot) => decide(new ActiveContext(snapshot, where), asked).code,
      );
      expect(answers[1]).toBe(answers[0]);
    }
  });
});

/** Adds the facts of other worlds and takes them away again. */
function detour(snapshot: Snapshot, world: ReturnType<typeof makeCase>["world"], random: Random): Snapshot {
  for (let round = 0; round < 5; round++) {
    const other = makeCase(random).world;
    for (const one of other.approvals)
      snapshot.apply({ kind: "approval_set", approval: { ...one, id: `other-${one.id}` } });
    for (const one of other.denials)
      snapshot.apply({ kind: "denial_set", denial: { ...one, id: `other-${one.id}` } });
    for (const one of other.rules)
      snapshot.apply({ kind: "rule_set", rule: { ...one, id: `other-${one.id}` } });
    for (const one of other.rules) snapshot.apply({ kind: "rule_removed", id: `other-${one.id}` });
    for (const one of other.approvals) snapshot.apply({ kind: "approval_removed", id: `other-${one.id}` });
    for (const one of other.denials) snapshot.apply({ kind: "denial_removed", id: `other-${one.id}` });
  }
  for (const one of world.approvals) snapshot.apply({ kind: "approval_set", approval: one });
  return snapshot;
}

describe("built-in denies", () => {
  const snapshot = (): Snapshot => {
    const own = builtinDenies({
      folders: ["/var/lib/sallyport"],
      sockets: ["/run/sallyport/admin.sock"],
      apiPorts: [7777],
      apiHosts: ["10.0.0.5"],
      apiOrigins: ["sallyport.example.com:443"],
    });
    const made = new Snapshot({ seed: [1, 2], parseUrl: whatwgUrl });
    for (const builtin of own) expect(made.apply({ kind: "builtin_set", builtin }).ok).toBe(true);
    for (const operation of ["read", "create", "modify", "delete", "execute"] as const) {
      made.apply({
        kind: "rule_set",
        rule: rule("allow", { resourceType: "filesystem", operation, target: "/" }, { id: operation }),
      });
    }
    for (const operation of ["connect", "receive", "send"] as const) {
      for (const host of ["localhost", "0.0.0.0", "[::]", "10.0.0.5", "sallyport.example.com"]) {
        made.apply({
          kind: "rule_set",
          rule: rule("allow", { resourceType: "network", operation, target: host }, { id: operation + host }),
        });
      }
    }
    return made;
  };
  const ask = (resourceType: string, operation: string, target: string, more = {}): string =>
    decide(
      new ActiveContext(snapshot(), context({ mode: "bypass", modeExpiresAtMs: Infinity })),
      question(resourceType, operation, target, more),
    ).code;

  it.each(["read", "create", "modify", "delete", "execute"])(
    "keep the data folder from every subject: %s",
    (operation) => {
      expect(ask("filesystem", operation, "/var/lib/sallyport/store.db")).toBe("denied_rule");
      expect(ask("filesystem", operation, "/var/lib/sallyport")).toBe("denied_rule");
      expect(ask("filesystem", operation, "/run/sallyport/admin.sock")).toBe("denied_rule");
      expect(ask("filesystem", operation, "/var/lib/other")).toBe("allowed_rule");
    },
  );

  it("moved parent: no folder above the data folder can be renamed away", () => {
    expect(ask("filesystem", "delete", "/var/lib")).toBe("denied_rule");
    expect(ask("filesystem", "delete", "/var")).toBe("denied_rule");
    expect(ask("filesystem", "delete", "/run/sallyport")).toBe("denied_rule");
    expect(ask("filesystem", "delete", "/var/lib2")).toBe("allowed_rule");
  });

  it.each([
    "http://localhost:7777/",
    "http://127.0.0.1:7777/",
    "http://[::1]:7777/x",
    "http://0.0.0.0:7777/",
    "http://[::]:7777/",
    "http://0x7f.1:7777/",
    "http://[::ffff:127.0.0.1]:7777/",
    "http://10.0.0.5:7777/",
    "ws://localhost:7777/",
    "localhost:7777",
  ])("keep the API port, however it is written: %s", (target) =>
    expect(ask("network", "connect", target)).toBe("denied_rule"),
  );

  it("rebound name: keep the API port from a name that resolves to it", () => {
    const address = "127.0.0.1";
    expect(ask("network", "send", "http://evil.example:7777/approve", { address })).toBe("denied_rule");
    expect(ask("network", "send", "http://evil.example:7778/approve", { address })).toBe("allowed_rule");
    const beyond = { address: "10.0.0.5" };
    expect(ask("network", "send", "http://evil.example:7777/approve", beyond)).toBe("denied_rule");
  });

  it.each([
    "https://sallyport.example.com/v1/decisions",
    "https://SALLYPORT.example.com:443/",
    "https://sallyport.example.com./",
    "wss://sallyport.example.com/",
    "sallyport.example.com:443",
  ])("keep the public origin of the API in every mode, however it is written: %s", (target) => {
    for (const operation of ["connect", "receive", "send"])
      expect(ask("network", operation, target)).toBe("denied_rule");
  });

  it("leave another port of that host alone", () =>
    expect(ask("network", "send", "https://sallyport.example.com:8443/")).toBe("allowed_rule"));

  it("keep the admin socket", () => {
    expect(ask("network", "connect", "unix:/run/sallyport/admin.sock")).toBe("denied_rule");
  });
});
