/**
 * Generated worlds, contexts and questions in which collisions are likely: every target of a case is derived
 * from one seed target, every subject comes from a handful. Deterministic: all randomness is the argument.
 */
import {
  APPROVAL_SCOPES,
  type Access,
  type Host,
  PERMISSION_MODES,
  PHASES,
  RULE_EFFECTS,
  RULE_SOURCES,
  type Subject,
  parseHost,
  parseSubject,
  whatwgUrl,
} from "@sallyport/contract";
import type * as Q from "../question.ts";
import { type Topic, ask, declare, legal, makeFault, makeTopic, settle } from "./arbitrary-target.ts";
import type { World } from "./reference-decide.ts";
import { type Random, chance, pick, times } from "./seeded-random.ts";

export { type Random, prng } from "./seeded-random.ts";

export interface Case {
  readonly world: World;
  readonly context: Q.Context;
  readonly question: Q.Question;
}

const NOW_MS = 1_800_000_000_000;
const SUBJECTS: readonly Subject[] = [
  subject("module", "system"),
  subject("module", "system"),
  subject("core", "core"),
  subject("core", "core"),
  subject("module", "mail"),
  subject("engine", "whisper"),
  subject("extractor", "yolo"),
  subject("agent", "demo.reader_agent"),
  subject("tool", "demo.read_file"),
  subject("module", "demo.read_file"),
  subject("tool", "system"),
  subject("pipeline", "demo.document_pipeline"),
];

const ADDRESSES = ["127.0.0.1", "[::1]", "127.0.0.2", "169.254.169.254", "0.0.0.0", "10.0.0.7"].map(host);
const NAMES = ["a.example", "b.a.example", "localhost", "xn--bcher-kva.example"].map(host);
const BUILTINS: readonly Q.BuiltinDeny[] = [
  { id: "b-data", resourceType: "filesystem", operation: "read", target: "/var/lib/sallyport/" },
  { id: "b-api", resourceType: "network", operation: "connect", target: "127.0.0.1:7433" },
];
const USERS: readonly Q.PrincipalId[] = [21, "21"];
const ORGANIZATIONS: readonly (Q.PrincipalId | null)[] = [null, null, 0, 1];
const SESSIONS: readonly (string | null)[] = ["sess-1", "sess-1", "sess-1", "sess-2", null, ""];
const EXPIRIES: readonly (number | null)[] = [
  null,
  null,
  null,
  NOW_MS - 1,
  NOW_MS,
  NOW_MS + 1,
  NOW_MS + 1000,
];
const USES: readonly (number | null)[] = [null, null, null, 0, 1, 5];
const ANSWERS = ["allow", "allow", "deny", "ask"] as const;
const ASKS = ["default", "explicit", "passive"] as const;

export function makeCase(random: Random): Case {
  const topic = makeTopic(random);
  const cast = times(random, 2, 4, () => pick(random, SUBJECTS));
  const context = makeContext(random, cast);
  const near = context.frames.length === 0 ? cast : context.frames.map((frame) => frame.subject);
  return {
    world: makeWorld(random, topic, cast, near, context),
    context,
    question: makeQuestion(random, topic, cast, near),
  };
}

function makeWorld(
  random: Random,
  topic: Topic,
  cast: readonly Subject[],
  near: readonly Subject[],
  context: Q.Context,
): World {
  const someone = () => pick(random, chance(random, 0.8) ? near : cast);
  return {
    contracts: CONTRACT_IDS.map((id) => makeContract(random, topic, id)),
    registrations: distinct(cast)
      .filter(() => chance(random, 0.8))
      .map((registered) => ({ subject: registered, contracts: [pick(random, CONTRACT_IDS)] })),
    rules: times(random, 0, 3, (index) => makeRule(random, topic, someone, index, context)),
    builtins: chance(random, 0.08) ? [{ id: "b-topic", ...declare(random, topic) }] : BUILTINS,
    approvals: times(random, 0, 4, (index) => makeApproval(random, topic, someone(), index, context)),
    denials: times(random, 0, 2, (index) => makeDenial(random, topic, someone(), index)),
  };
}

const CONTRACT_IDS = ["c-0", "c-1", "c-2", "c-one-off"] as const;
/** The last one is known to nobody. */
const FRAME_CONTRACTS = ["c-0", "c-0", "c-1", "c-2", "c-unknown"] as const;

function makeContract(random: Random, topic: Topic, id: string): Q.Contract {
  const access = times(random, 0, 2, () => declare(random, topic));
  // A one-off is made from a target by the host, which says how wide it is.
  return { id, access: id === "c-one-off" ? access.map((rule) => ({ ...rule, match: "exact" })) : access };
}

function makeRule(
  random: Random,
  topic: Topic,
  someone: () => Subject,
  index: number,
  context: Q.Context,
): Q.HostRule {
  const some = <T>(own: T, others: readonly T[]): T => (chance(random, 0.6) ? own : pick(random, others));
  const [organizationId, userId, sessionKey] = [
    some(context.organizationId, ORGANIZATIONS),
    some(context.userId, USERS),
    some(context.sessionKey, SESSIONS),
  ];
  return {
    id: `r-${index}`,
    effect: pick(random, RULE_EFFECTS),
    source: chance(random, 0.6) ? "host" : pick(random, RULE_SOURCES),
    ...(chance(random, 0.7) ? { subject: someone() } : {}),
    ...(chance(random, 0.2) && organizationId !== null ? { organizationId } : {}),
    ...(chance(random, 0.2) && userId !== null ? { userId } : {}),
    ...(chance(random, 0.2) && sessionKey ? { sessionKey } : {}),
    ...declare(random, topic),
  };
}

function makeApproval(
  random: Random,
  topic: Topic,
  holder: Subject,
  index: number,
  context: Q.Context,
): Q.Approval {
  const scope = pick(random, APPROVAL_SCOPES);
  const tied = scope === "session";
  const own = chance(random, 0.7);
  return {
    id: `a-${index}`,
    subject: holder,
    ...settle(random, topic),
    scope,
    organizationId: tied ? (own ? context.organizationId : pick(random, ORGANIZATIONS)) : null,
    userId: tied ? (own ? context.userId : pick(random, USERS)) : null,
    sessionKey: tied ? (own ? context.sessionKey : pick(random, SESSIONS)) : null,
    expiresAtMs: pick(random, EXPIRIES),
    usesLeft: pick(random, USES),
  };
}

function makeDenial(random: Random, topic: Topic, holder: Subject, index: number): Q.Denial {
  return { id: `d-${index}`, subject: holder, ...settle(random, topic) };
}

function makeContext(random: Random, cast: readonly Subject[]): Q.Context {
  return {
    frames: times(random, chance(random, 0.03) ? 0 : 1, 4, (index) =>
      makeFrame(random, pick(random, cast), index),
    ),
    organizationId: pick(random, ORGANIZATIONS),
    userId: chance(random, 0.9) ? pick(random, USERS) : null,
    sessionKey: pick(random, SESSIONS),
    mode: chance(random, 0.3) ? "default" : pick(random, PERMISSION_MODES),
    modeExpiresAtMs: chance(random, 0.4)
      ? NOW_MS + 1000
      : pick(random, [null, NOW_MS - 1, NOW_MS, NOW_MS + 1]),
    setup: chance(random, 0.25),
    observe: chance(random, 0.12),
    confined: chance(random, 0.5),
    live: chance(random, 0.9),
  };
}

function makeFrame(random: Random, holder: Subject, index: number): Q.Frame {
  const own = pick(random, FRAME_CONTRACTS);
  return {
    subject: holder,
    phase: pick(random, PHASES),
    entry: chance(random, index === 0 ? 0.92 : 0.6) ? "host" : "guarded",
    contracts: chance(random, 0.2) ? [own, "c-one-off"] : [own],
  };
}

function makeQuestion(
  random: Random,
  topic: Topic,
  cast: readonly Subject[],
  near: readonly Subject[],
): Q.Question {
  const access = chance(random, 0.04) ? makeFault(random) : ask(random, topic);
  return {
    access,
    ...("ok" in access ? {} : makeSurroundings(random, access)),
    ...makeNamed(random, cast, near),
    ask: pick(random, ASKS),
    ...(chance(random, 0.15) ? { hook: makeAnswer(random, "hook-1") } : {}),
    ...(chance(random, 0.5) ? { classifier: makeAnswer(random, "classifier-1") } : {}),
    nowMs: chance(random, 0.02) ? Number.NaN : NOW_MS,
  };
}

/** Host code names subjects more often than others do, and mostly such as are not on the chain. */
function makeNamed(random: Random, cast: readonly Subject[], near: readonly Subject[]): Partial<Q.Question> {
  const isHostCode = near.at(-1)?.type === "core";
  if (!chance(random, isHostCode ? 0.6 : 0.2)) return {};
  if (chance(random, isHostCode ? 0.2 : 0.7)) return { named: pick(random, near) };
  return { named: pick(random, chance(random, 0.8) ? cast : SUBJECTS) };
}

function makeAnswer(random: Random, ref: string): Q.HookAnswer {
  return { answer: pick(random, ANSWERS), ref };
}

/** The address and aliases of a host, the twin of an executable. */
function makeSurroundings(random: Random, { target, operation }: Access): Partial<Q.Question> {
  if (target.form === "url" || target.form === "endpoint") return makeResolution(random, target.host);
  if (target.form === "name") return chance(random, 0.7) ? { twin: pathOf(target.text) } : {};
  if (target.form === "unix" || operation !== "execute" || !target.text.startsWith("/usr/bin/")) return {};
  return chance(random, 0.7) ? { twin: legal("system_dependency", "execute", target.text.slice(9)) } : {};
}

function pathOf(program: string): Access {
  return legal("filesystem", "execute", `/usr/bin/${program}`);
}

function makeResolution(random: Random, target: Host): Partial<Q.Question> {
  const literal = /^(?:\[|[0-9.]+$)/.test(target);
  const address = !literal && chance(random, 0.35) ? { address: pick(random, ADDRESSES) } : {};
  if (!chance(random, literal ? 0.6 : 0.1)) return address;
  const names = times(random, 1, 2, () => pick(random, NAMES));
  // The bound of 64 aliases: the names that matter stand just before or behind it.
  const crowd = chance(random, 0.05) ? CROWDS[random() < 0.5 ? 0 : 1] : undefined;
  return { ...address, aliases: crowd === undefined ? names : [...crowd, ...names] };
}

const CROWDS = [63, 64].map((count) =>
  Array.from({ length: count }, (_, index) => host(`n${index}.example`)),
);

function subject(type: string, name: string): Subject {
  const parsed = parseSubject(type, name);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

function host(text: string): Host {
  const parsed = parseHost(text, whatwgUrl);
  if (parsed === undefined) throw new Error(`not a host: ${text}`);
  return parsed;
}

function distinct(subjects: readonly Subject[]): Subject[] {
  return subjects.filter(
    (one, index) => subjects.findIndex(({ type, name }) => type === one.type && name === one.name) === index,
  );
}
