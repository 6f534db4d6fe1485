/**
 * A small world with something of every kind, contexts over it, and about five hundred questions that differ in
 * resource, operation, spelling of the target, way of asking and extras. Plain data: it crosses into the realm as text.
 */
import { RESOURCE_OPERATIONS } from "@sallyport/contract";
import { type Change, type Context, type Frame, PLAIN_CONTEXT } from "@sallyport/policy";

export interface RealmQuestion {
  readonly context: number;
  readonly pair: number;
  readonly target: string;
  readonly ask: number;
  readonly nowMs: number;
  readonly extras: string;
}

const subject = (type: string, name: string) => ({ type, name }) as unknown as Frame["subject"];
const READER = subject("tool", "demo.reader");
const AGENT = subject("agent", "demo.agent");
const ODD = subject("tool", "constructor");

const approval = (
  id: string,
  who: Frame["subject"],
  resourceType: string,
  operation: string,
  target: string,
  more: object,
) =>
  ({
    kind: "approval_set",
    approval: {
      id,
      subject: who,
      resourceType,
      operation,
      target,
      match: "exact",
      scope: "permanent",
      organizationId: null,
      userId: null,
      sessionKey: null,
      expiresAtMs: null,
      usesLeft: null,
      ...more,
    },
  }) as Change;

export const CHANGES: readonly Change[] = [
  {
    kind: "contract_set",
    contract: {
      id: "reader",
      access: [
        { resourceType: "network", operation: "receive", target: "https://api.example.com/v1/" },
        { resourceType: "network", operation: "connect", target: "db.example.com:5432" },
        { resourceType: "network", operation: "connect", target: "localhost:8080" },
        { resourceType: "filesystem", operation: "read", target: "/data/app/" },
        { resourceType: "filesystem", operation: "create", target: "/data/app/out.txt" },
        { resourceType: "system_dependency", operation: "execute", target: "ffmpeg" },
      ],
    },
  },
  {
    kind: "contract_set",
    contract: { id: "agent", access: [{ resourceType: "filesystem", operation: "read", target: "/" }] },
  },
  { kind: "subject_registered", registration: { subject: READER, contracts: ["reader"] } },
  {
    kind: "builtin_set",
    builtin: { id: "store", resourceType: "filesystem", operation: "read", target: "/data/app/.store/" },
  },
  {
    kind: "rule_set",
    rule: {
      id: "deny-tmp",
      effect: "deny",
      source: "host",
      resourceType: "filesystem",
      operation: "read",
      target: "/data/app/tmp/",
    },
  },
  {
    kind: "rule_set",
    rule: {
      id: "allow-host",
      effect: "allow",
      source: "host",
      resourceType: "network",
      operation: "send",
      target: "hooks.example.com",
    },
  },
  approval("p1", READER, "network", "send", "https://api.example.com/v1/report?x=1", { match: "any_query" }),
  approval("p2", ODD, "filesystem", "delete", "/data/toString", {}),
  approval("s1", READER, "filesystem", "modify", "/data/app/out.txt", {
    scope: "session",
    organizationId: 7,
    userId: "21",
    sessionKey: "s-1",
  }),
  approval("e1", READER, "filesystem", "execute", "/usr/bin/env", { expiresAtMs: 5000, usesLeft: 3 }),
  {
    kind: "denial_set",
    denial: {
      id: "d1",
      subject: READER,
      resourceType: "network",
      operation: "receive",
      target: "https://evil.example.net/",
      match: "origin",
    },
  },
];

/** Applied later, to see that facts still change behind replaced built-ins. */
export const LATER_CHANGES: readonly Change[] = [
  approval("p3", READER, "filesystem", "read", "/srv/late/", { match: "directory" }),
  { kind: "rule_removed", id: "deny-tmp" },
  { kind: "session_ended", organizationId: 7, userId: "21", sessionKey: "s-1" },
];

const frame = (who: Frame["subject"], entry: Frame["entry"], contracts: readonly string[]): Frame => ({
  subject: who,
  phase: "runtime",
  entry,
  contracts,
});
const base: Context = {
  ...PLAIN_CONTEXT,
  frames: [frame(READER, "host", ["reader"])],
  organizationId: 7,
  userId: "21",
  sessionKey: "s-1",
};

export const CONTEXTS: readonly Context[] = [
  base,
  { ...base, sessionKey: null, mode: "plan" },
  { ...base, frames: [frame(AGENT, "host", ["agent"]), frame(READER, "guarded", ["reader"])] },
  { ...base, frames: [frame(ODD, "host", [])], mode: "never" },
  { ...base, frames: [] },
  { ...base, mode: "bypass", modeExpiresAtMs: 2000 },
];

const TARGETS: Readonly<Record<string, readonly string[]>> = {
  network: [
    ..."https://api.example.com/v1/report?x=2 HTTPS://API.EXAMPLE.COM:443/v1/../v1/%7Ea#f https://api.example.com/v2".split(
      " ",
    ),
    ..."https://user:pw@api.example.com/v1/ https://evil.example.net/a hooks.example.com:443 db.example.com:5432".split(
      " ",
    ),
    ..."http://0x7f.1:8080/ [::ffff:127.0.0.1]:8080 https://b\u00fccher.example/ http://[ unix:/run/x.sock http://a_b.example/".split(
      " ",
    ),
    "",
  ],
  filesystem: [
    ..."/data/app/a.csv /data/app/tmp/x /data/app/.store/db /data/app/out.txt /data/application /srv/late/x".split(
      " ",
    ),
    ..."/usr/bin/env /data/toString /data/app/../x relative /data//app/./b / /__proto__/constructor".split(
      " ",
    ),
  ],
  system_dependency: ["ffmpeg", "FFMPEG", "../ffmpeg", "constructor", "curl", "__proto__"],
};

const EXTRAS = [
  "",
  JSON.stringify({ address: "127.0.0.1" }),
  JSON.stringify({ aliases: ["api.example.com", "hooks.example.com"] }),
  JSON.stringify({ hook: ["deny", "h-1"] }),
  JSON.stringify({ named: ["agent", "demo.agent"], classifier: ["allow", "c-1"] }),
  JSON.stringify({ twin: [8, "ffmpeg"] }),
  '{"unknown":1}',
  "{",
];

export const QUESTIONS: readonly RealmQuestion[] = CONTEXTS.flatMap((_, context) =>
  RESOURCE_OPERATIONS.flatMap(({ resourceType }, pair) =>
    (TARGETS[resourceType] ?? []).map((target, turn) => ({
      context,
      pair,
      target,
      ask: turn % 3,
      nowMs: turn % 2 === 0 ? 1000 : 9000,
      extras: turn % 4 === 3 ? (EXTRAS[(context + pair + turn) % EXTRAS.length] ?? "") : "",
    })),
  ),
);
