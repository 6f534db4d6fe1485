/**
 * Changes that take something away, leave nothing behind, or are refused.
 */
import { describe, expect, it } from "vitest";
import { ActiveContext } from "./active-context.ts";
import { builtinDenies } from "./builtin-denies.ts";
import type { Change } from "./change.ts";
import { decide } from "./decide.ts";
import type { Question } from "./question.ts";
import {
  AGENT,
  CORE,
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
const read = (more: Partial<Question> = {}): Question => question("filesystem", "read", "/data/x", more);
const ended = (sessionKey: string): Change => ({
  kind: "session_ended",
  organizationId: null,
  userId: 21,
  sessionKey,
});

describe("what is taken away", () => {
  it("a denial that is lifted lets the access be asked for again", () => {
    const active = activate({}, { kind: "denial_set", denial: denial(READ) });
    expect(decide(active, read()).code).toBe("resource_disabled");
    expect(active.snapshot.apply({ kind: "denial_removed", id: "denial" }).ok).toBe(true);
    expect(decide(active, read()).code).toBe("approval_required");
  });

  it("a subject that is unregistered can no longer be named by host code", () => {
    const active = activate(
      { frames: [frame(CORE)] },
      { kind: "subject_registered", registration: { subject: TOOL, contracts: [] } },
    );
    expect(decide(active, read({ named: TOOL })).code).toBe("approval_required");
    expect(active.snapshot.apply({ kind: "subject_unregistered", subject: TOOL }).ok).toBe(true);
    expect(decide(active, read({ named: TOOL })).code).toBe("subject_not_active");
    expect(active.snapshot.apply({ kind: "subject_unregistered", subject: AGENT }).ok).toBe(true);
  });

  it("a session that ended takes its own approvals, and a session that never was takes none", () => {
    const active = activate({}, { kind: "approval_set", approval: sessionApproval(READ) });
    expect(active.snapshot.apply(ended("never-was")).ok).toBe(true);
    expect(decide(active, read()).code).toBe("allowed_session");
    expect(active.snapshot.apply(ended("sess-21")).ok).toBe(true);
    expect(decide(active, read()).code).toBe("approval_required");
  });

  it("an approval that moved to another session does not go with the former one", () => {
    const moved = sessionApproval(READ, { sessionKey: "sess-22" });
    const active = activate(
      { sessionKey: "sess-22" },
      { kind: "approval_set", approval: sessionApproval(READ) },
      { kind: "approval_set", approval: moved },
      ended("sess-21"),
    );
    expect(decide(active, read()).code).toBe("allowed_session");
  });

  it("leaves no room taken: facts that come and go a thousand times use what one uses", () => {
    const snapshot = snapshotOf();
    for (let index = 0; index < 1000; index++) {
      const sessionKey = `s-${index}`;
      const changes: Change[] = [
        { kind: "approval_set", approval: sessionApproval(READ, { id: `a-${index}`, sessionKey }) },
        ended(sessionKey),
        { kind: "contract_set", contract: { id: `c-${index}`, access: [READ] } },
        { kind: "contract_removed", id: `c-${index}` },
        { kind: "rule_set", rule: rule("deny", READ, { id: `r-${index}` }) },
        { kind: "rule_removed", id: `r-${index}` },
        { kind: "denial_set", denial: denial(READ, { id: `d-${index}` }) },
        { kind: "denial_removed", id: `d-${index}` },
      ];
      for (const change of changes) expect(snapshot.apply(change).ok).toBe(true);
    }
    expect(snapshot.table.room.entries).toBe(1);
  });
});

describe("what is refused", () => {
  const pairless = { ...READ, operation: "send" } as unknown as typeof READ;
  it.each<[string, Change, object]>([
    [
      "an unknown kind",
      { kind: "no_such_change" } as unknown as Change,
      { code: "invalid_operation", field: "kind", message: "unknown kind of change" },
    ],
    [
      "an allow of an organization",
      { kind: "rule_set", rule: rule("allow", READ, { source: "organization" }) },
      {
        code: "invalid_operation",
        field: "effect",
        message: "a rule of source `organization` may only deny or ask",
      },
    ],
    [
      "a rule for an empty session key",
      { kind: "rule_set", rule: rule("deny", READ, { sessionKey: "" }) },
      {
        code: "invalid_operation",
        field: "session_key",
        message: "an empty session key is none: leave it out",
      },
    ],
    [
      "a session approval without a key",
      { kind: "approval_set", approval: sessionApproval(READ, { sessionKey: "" }) },
      { code: "invalid_operation", field: "session_key", message: "a session approval needs a session key" },
    ],
    [
      "a pair that does not belong together",
      { kind: "approval_set", approval: approval(pairless) },
      {
        code: "invalid_operation",
        field: "operation",
        message: "resource type and operation do not belong together",
      },
    ],
  ])("%s, with what to write instead", (_, change, fault) => {
    const snapshot = snapshotOf();
    expect(snapshot.apply(change)).toEqual({ ok: false, ...fault });
    expect(snapshot.revision).toBe(0);
  });
});

describe("what is looked for in more than one place", () => {
  it("an allow rule for everybody is found beside one for the subject that does not cover", () => {
    const active = activate(
      {},
      { kind: "rule_set", rule: rule("allow", { ...READ, target: "/other" }, { id: "own", subject: TOOL }) },
      { kind: "rule_set", rule: rule("allow", READ, { id: "all" }) },
    );
    expect(decide(active, read())).toMatchObject({ code: "allowed_rule", refs: ["all"] });
  });

  it("a frame that names a contract nobody knows is decided on the others", () => {
    const contract: Change = { kind: "contract_set", contract: { id: "known", access: [READ] } };
    const only = activate({ frames: [frame(TOOL, { contracts: ["gone"] })] }, contract);
    expect(decide(only, read()).code).toBe("approval_required");
    const both = activate({ frames: [frame(TOOL, { contracts: ["gone", "known"] })] }, contract);
    expect(decide(both, read()).code).toBe("allowed_sandbox");
  });

  it("a deny rule on a named subject of the chain is told of the active frame", () => {
    const active = new ActiveContext(
      snapshotOf({ kind: "rule_set", rule: rule("deny", READ, { subject: AGENT }) }),
      context({ frames: [frame(AGENT), frame(TOOL)] }),
    );
    expect(decide(active, read({ named: AGENT }))).toMatchObject({ code: "denied_rule", frame: 1 });
  });

  it("a path is decided alike with and without an address that belongs to nothing", () => {
    const active = activate({}, { kind: "approval_set", approval: approval(READ) });
    const address = "10.0.0.1" as NonNullable<Question["address"]>;
    expect(decide(active, read({ address })).code).toBe("allowed_permanent");
  });
});

describe("rebound name of an endpoint", () => {
  const address = "127.0.0.1" as NonNullable<Question["address"]>;
  const connect = (more: Partial<Question>) => question("network", "connect", "db.example.com:5432", more);
  const declared: Change = {
    kind: "contract_set",
    contract: {
      id: "manifest",
      access: [{ resourceType: "network", operation: "connect", target: "db.example.com:5432" }],
    },
  };

  it("a name that resolves to the local host opens nothing", () => {
    const active = activate({ frames: [frame(TOOL, { contracts: ["manifest"] })] }, declared);
    expect(decide(active, connect({})).code).toBe("allowed_sandbox");
    expect(decide(active, connect({ address })).code).toBe("approval_required");
  });

  it("a denial of the address restricts the name", () => {
    const aimed = { resourceType: "network", operation: "connect", target: "10.1.2.3:5432" } as const;
    const active = activate({}, { kind: "denial_set", denial: denial(aimed, { match: "endpoint" }) });
    const dialled = "10.1.2.3" as NonNullable<Question["address"]>;
    expect(decide(active, connect({ address: dialled })).code).toBe("resource_disabled");
  });
});

describe("built-in denies", () => {
  it("have ids of their own and name every folder above down to the root's children", () => {
    const denies = builtinDenies({
      folders: ["/var/lib/ours"],
      sockets: [],
      apiPorts: [],
      apiHosts: [],
      apiOrigins: [],
    });
    expect(new Set(denies.map(({ id }) => id)).size).toBe(denies.length);
    const above = denies.filter(({ operation, target }) => operation === "delete" && !target.endsWith("/"));
    expect(above.map(({ target }) => target)).toEqual(["/var/lib", "/var"]);
  });
});
