/**
 * Generated worlds, contexts and questions in which collisions are likely: every target of a case is derived
 * from one seed target, every subject comes from a handful. Deterministic: all randomness is the argument.
 */
import {
  APPROVAL_SCOPES,
  type Access,
  type Fault,
  type Host,
  type Match,
  OPERATIONS,
  type Operation,
  PERMISSION_MODES,
  PHASES,
  type ResourceType,
  RULE_EFFECTS,
  RULE_SOURCES,
  type Subject,
  parseAccess,
  parseHost,
  parseSubject,
  whatwgUrl,
} from "@sallyport/contract";
import { type Arbitrary, integer, noShrink } from "fast-check";
import type {
  AccessRule,
  Approval,
  BuiltinDeny,
  Context,
  Contract,
  Denial,
  Frame,
  HookAnswer,
  HostRule,
  PrincipalId,
  Question,
} from "../question.ts";
import type { World } from "./reference-decide.ts";

export interface Case {
  readonly world: World;
  readonly context: Context;
  readonly question: Question;
}

/** A number from 0 (included) to 1 (excluded). */
export type Random = () => number;

/** Mulberry32: small, quick and the same everywhere. */
export function prng(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Cases for fast-check; shrinking a seed says nothing, so the counterexample is replayed by `makeCase`. */
export function arbitraryCase(): Arbitrary<Case> {
  return noShrink(integer({ min: 0, max: 0xffffffff })).map((seed) => makeCase(prng(seed)));
}

// --- Pools ---------------------------------------------------------------------------------------

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

const SCHEMES = ["https", "https", "http", "wss", "ws"] as const;
const HOSTS = [
  "a.example",
  "a.example",
  "b.a.example",
  "A.Example.",
  "localhost",
  "127.0.0.1",
  "[::1]",
  "0x7f.1",
  "10.0.0.7",
  "10.0.0.7",
  "169.254.169.254",
  "[::ffff:10.0.0.7]",
  "xn--bcher-kva.example",
  "bücher.example",
] as const;
const PORTS = ["", "", "", ":443", ":80", ":8080"] as const;
const PATHS = [
  "",
  "/",
  "/v1",
  "/v1/",
  "/v1/reports",
  "/v1/reports",
  "/v1/reports/",
  "/v1/reports/7",
  "/v10/x",
  "/v1/./reports",
  "/v1/../v10/x",
  "/v1/%2e%2e/v10/x",
  "/v1\\reports",
  "/v1/reports/...",
  "/v1/reports/a%2fb",
  "/v1/a%2Fb",
  "/v1/%252e%252e/x",
  "/v1/%252E/x",
  "/v1/a%5cb",
  "/v1/a%255Cb",
  "/v1/%25252fx",
  "/v1/%%32e/x",
  "/v1/%zz",
] as const;
const QUERIES = ["", "", "", "?q=1", "?q=2", "?"] as const;
const SOCKETS = ["unix:/run/app.sock", "unix:/run/app.sock.d/x", "unix:/run//app.sock"] as const;
const FILES = [
  "/",
  "/data",
  "/data/app",
  "/data/app",
  "/data/app/x",
  "/data/app/x/y",
  "/data/application",
  "/data/application/x",
  "/data/ap",
  "/data//app/./x",
  "/data/app/x/",
  "/data/app/%2e%2e",
  "/tmp/x",
] as const;
const PROGRAMS = ["ffmpeg", "FFmpeg", "ffmpeg2", "git"] as const;
const PROGRAM_PATHS = [
  "/usr/bin/ffmpeg",
  "/usr/bin/ffmpeg",
  "/usr/bin/ffmpeg2",
  "/usr/bin/git",
  "/usr/bin",
] as const;
/** Rules that do not parse, or that no legal question can meet. */
const BROKEN_RULES: readonly AccessRule[] = [
  { resourceType: "network", operation: "receive", target: "https://user@a.example/" },
  { resourceType: "network", operation: "receive", target: "ftp://a.example/" },
  { resourceType: "network", operation: "send", target: "" },
  { resourceType: "network", operation: "read", target: "a.example" },
  { resourceType: "network", operation: "receive", target: "unix:/run/app.sock" },
  { resourceType: "filesystem", operation: "read", target: "data/app/" },
  { resourceType: "filesystem", operation: "read", target: "/data/../data/app/" },
  { resourceType: "filesystem", operation: "receive", target: "/data/app/" },
  { resourceType: "system_dependency", operation: "execute", target: "/usr/bin/ffmpeg" },
];
const FAULTS: readonly (readonly [unknown, unknown, unknown])[] = [
  ["network", "receive", "https://user:secret@a.example/"],
  ["network", "receive", "file:///data/app"],
  ["network", "receive", "https:///"],
  ["network", "connect", "a.example:70000"],
  ["network", "send", "https://a.example/\u0000"],
  ["network", "receive", "unix:/run/app.sock"],
  ["network", "connect", 443],
  ["network", "read", "https://a.example/"],
  ["url", "receive", "https://a.example/"],
  ["filesystem", "read", "data/app"],
  ["filesystem", "read", "/data/app/../x"],
  ["filesystem", "write", "/data/app"],
  ["filesystem", "delete", "/data/\u0000"],
  ["system_dependency", "execute", "/usr/bin/ffmpeg"],
  ["toString", "execute", "ffmpeg"],
];
const ADDRESSES = ["127.0.0.1", "[::1]", "127.0.0.2", "169.254.169.254", "0.0.0.0", "10.0.0.7"].map(host);
const NAMES = ["a.example", "b.a.example", "localhost", "xn--bcher-kva.example"].map(host);
const MATCHES: readonly Match[] = ["exact", "any_query", "path_prefix", "origin", "endpoint", "directory"];
const FITTING: Readonly<Record<Target["form"], readonly Match[]>> = {
  url: ["exact", "exact", "any_query", "path_prefix", "origin", "endpoint"],
  endpoint: ["exact", "endpoint"],
  unix: ["exact"],
  path: ["exact", "directory"],
  name: ["exact"],
};
const BUILTINS: readonly BuiltinDeny[] = [
  { id: "b-data", resourceType: "filesystem", operation: "read", target: "/var/lib/sallyport/" },
  { id: "b-api", resourceType: "network", operation: "connect", target: "127.0.0.1:7433" },
];
const USERS: readonly PrincipalId[] = [21, "21"];
const ORGANIZATIONS: readonly (PrincipalId | null)[] = [null, null, 0, 1];
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

type Target = Access["target"];

// --- One case ------------------------------------------------------------------------------------

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
  context: Context,
): World {
  const someone = () => pick(random, chance(random, 0.8) ? near : cast);
  return {
    contracts: CONTRACT_IDS.map((id) => makeContract(random, topic, id)),
    registrations: distinct(cast)
      .filter(() => chance(random, 0.8))
      .map((registered) => ({ subject: registered, contracts: [pick(random, CONTRACT_IDS)] })),
    rules: times(random, 0, 3, (index) => makeRule(random, topic, someone, index)),
    builtins: chance(random, 0.08) ? [{ id: "b-topic", ...declare(random, topic) }] : BUILTINS,
    approvals: times(random, 0, 4, (index) => makeApproval(random, topic, someone(), index, context)),
    denials: times(random, 0, 2, (index) => makeDenial(random, topic, someone(), index)),
  };
}

const CONTRACT_IDS = ["c-0", "c-1", "c-2", "c-one-off"] as const;
/** The last one is known to nobody. */
const FRAME_CONTRACTS = ["c-0", "c-0", "c-1", "c-2", "c-unknown"] as const;

function makeContract(random: Random, topic: Topic, id: string): Contract {
  return { id, access: times(random, 0, 2, () => declare(random, topic)) };
}

function makeRule(random: Random, topic: Topic, someone: () => Subject, index: number): HostRule {
  return {
    id: `r-${index}`,
    effect: pick(random, RULE_EFFECTS),
    source: chance(random, 0.6) ? "host" : pick(random, RULE_SOURCES),
    ...(chance(random, 0.7) ? { subject: someone() } : {}),
    ...declare(random, topic),
  };
}

function makeApproval(
  random: Random,
  topic: Topic,
  holder: Subject,
  index: number,
  context: Context,
): Approval {
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

function makeDenial(random: Random, topic: Topic, holder: Subject, index: number): Denial {
  return { id: `d-${index}`, subject: holder, ...settle(random, topic) };
}

function makeContext(random: Random, cast: readonly Subject[]): Context {
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

function makeFrame(random: Random, holder: Subject, index: number): Frame {
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
): Question {
  const access = chance(random, 0.04) ? makeFault(random) : ask(random, topic);
  return {
    access,
    ...("ok" in access ? {} : makeSurroundings(random, access)),
    ...makeNamed(random, cast, near),
    ask: pick(random, ASKS),
    ...(chance(random, 0.15) ? { hook: makeAnswer(random, "hook-1") } : {}),
    ...(chance(random, 0.5) ? { classifier: makeAnswer(random, "classifier-1") } : {}),
    nowMs: NOW_MS,
  };
}

/** Host code names subjects more often than others do, and mostly such as are not on the chain. */
function makeNamed(random: Random, cast: readonly Subject[], near: readonly Subject[]): Partial<Question> {
  const isHostCode = near.at(-1)?.type === "core";
  if (!chance(random, isHostCode ? 0.6 : 0.2)) return {};
  if (chance(random, isHostCode ? 0.2 : 0.7)) return { named: pick(random, near) };
  return { named: pick(random, chance(random, 0.8) ? cast : SUBJECTS) };
}

function makeAnswer(random: Random, ref: string): HookAnswer {
  return { answer: pick(random, ANSWERS), ref };
}

function makeFault(random: Random): Access | Fault {
  const [resourceType, operation, target] = pick(random, FAULTS);
  return parse({ resourceType, operation, target });
}

/** The address and aliases of a host, the twin of an executable. */
function makeSurroundings(random: Random, { target, operation }: Access): Partial<Question> {
  if (target.form === "url" || target.form === "endpoint") return makeResolution(random, target.host);
  if (target.form === "name") return chance(random, 0.7) ? { twin: pathOf(target.text) } : {};
  if (target.form === "unix" || operation !== "execute" || !target.text.startsWith("/usr/bin/")) return {};
  return chance(random, 0.7) ? { twin: legal("system_dependency", "execute", target.text.slice(9)) } : {};
}

function pathOf(program: string): Access {
  return legal("filesystem", "execute", `/usr/bin/${program}`);
}

function makeResolution(random: Random, target: Host): Partial<Question> {
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

// --- Topics: what all targets of a case are derived from -----------------------------------------

type Topic = NetworkTopic | FileTopic | ProgramTopic;

interface NetworkTopic {
  readonly kind: "network";
  readonly operation: Operation;
  readonly scheme: string;
  readonly host: string;
  readonly port: string;
  readonly path: string;
  readonly query: string;
  readonly socket: string;
}

interface FileTopic {
  readonly kind: "filesystem";
  readonly operation: Operation;
  readonly path: string;
}

interface ProgramTopic {
  readonly kind: "program";
  readonly name: string;
  readonly path: string;
}

function makeTopic(random: Random): Topic {
  const roll = random();
  if (roll < 0.5) {
    return {
      kind: "network",
      operation: pick(random, OPERATIONS.network),
      scheme: pick(random, SCHEMES),
      host: pick(random, HOSTS),
      port: pick(random, PORTS),
      path: pick(random, PATHS),
      query: pick(random, QUERIES),
      socket: pick(random, SOCKETS),
    };
  }
  if (roll < 0.82) {
    return { kind: "filesystem", operation: pick(random, OPERATIONS.filesystem), path: pick(random, FILES) };
  }
  return { kind: "program", name: pick(random, PROGRAMS), path: pick(random, PROGRAM_PATHS) };
}

/** A neighbour of the topic: the same, or with one or two of its parts drawn again. */
function vary(random: Random, topic: Topic): Topic {
  const changed = (share: number) => chance(random, share);
  if (topic.kind === "program") {
    return {
      kind: "program",
      name: changed(0.25) ? pick(random, PROGRAMS) : topic.name,
      path: changed(0.25) ? pick(random, PROGRAM_PATHS) : topic.path,
    };
  }
  if (topic.kind === "filesystem") {
    return {
      kind: "filesystem",
      operation: changed(0.15) ? pick(random, OPERATIONS.filesystem) : topic.operation,
      path: changed(0.4) ? pick(random, FILES) : topic.path,
    };
  }
  return {
    kind: "network",
    operation: changed(0.15) ? pick(random, OPERATIONS.network) : topic.operation,
    scheme: changed(0.15) ? pick(random, SCHEMES) : topic.scheme,
    host: changed(0.15) ? pick(random, HOSTS) : topic.host,
    port: changed(0.15) ? pick(random, PORTS) : topic.port,
    path: changed(0.25) ? pick(random, PATHS) : topic.path,
    query: changed(0.25) ? pick(random, QUERIES) : topic.query,
    socket: changed(0.25) ? pick(random, SOCKETS) : topic.socket,
  };
}

/** A declared rule near the topic, in any of the spellings that section 2 knows. */
function declare(random: Random, topic: Topic): AccessRule {
  if (chance(random, 0.03)) return pick(random, BROKEN_RULES);
  const near = vary(random, topic);
  if (near.kind === "network") return declareNetwork(random, near);
  if (near.kind === "filesystem") {
    return { resourceType: "filesystem", operation: near.operation, target: folderOrFile(random, near.path) };
  }
  if (chance(random, 0.5)) {
    return { resourceType: "system_dependency", operation: "execute", target: near.name };
  }
  return { resourceType: "filesystem", operation: "execute", target: folderOrFile(random, near.path) };
}

function declareNetwork(random: Random, near: NetworkTopic): AccessRule {
  if (near.operation === "connect" && chance(random, 0.2)) return connectTo(near.socket);
  return { resourceType: "network", operation: near.operation, target: spell(random, near) };
}

function spell(random: Random, near: NetworkTopic): string {
  const { scheme, port, path, query } = near;
  const origin = `${scheme}://${near.host}${port}`;
  switch (Math.floor(random() * 8)) {
    case 0:
      return near.host;
    case 1:
      return `${near.host}${port === "" ? ":443" : port}`;
    case 2:
      return origin;
    case 3:
      return `${origin}/`;
    case 4:
      return `${origin}${folderOf(path)}`;
    case 5:
      return `${origin}${path}${query}`;
    default:
      return `${origin}${path}`;
  }
}

function connectTo(target: string): AccessRule {
  return { resourceType: "network", operation: "connect", target };
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

function folderOrFile(random: Random, path: string): string {
  const roll = random();
  if (roll < 0.5) return path;
  if (roll < 0.75) return `${path}/`;
  return folderOf(path);
}

/** What is asked: a legal access near the topic. */
function ask(random: Random, topic: Topic): Access | Fault {
  const near = chance(random, 0.6) ? topic : vary(random, topic);
  if (near.kind === "filesystem") {
    return parse({ resourceType: "filesystem", operation: near.operation, target: near.path });
  }
  if (near.kind === "program") {
    return chance(random, 0.5)
      ? parse({ resourceType: "system_dependency", operation: "execute", target: near.name })
      : parse({ resourceType: "filesystem", operation: "execute", target: near.path });
  }
  return parse({ resourceType: "network", operation: near.operation, target: networkText(random, near) });
}

function networkText(random: Random, near: NetworkTopic): string {
  const roll = random();
  if (near.operation === "connect") {
    if (roll < 0.2) return near.socket;
    if (roll < 0.35) return near.host;
    if (roll < 0.75) return `${near.host}${near.port === "" ? ":443" : near.port}`;
  } else if (roll < 0.15) {
    return `${near.host}${near.port}`;
  }
  const fragment = roll > 0.95 ? "#top" : "";
  return `${near.scheme}://${near.host}${near.port}${near.path}${near.query}${fragment}`;
}

type Settled = Pick<Approval, "resourceType" | "operation" | "target" | "match">;

/** What a person decided on: a normalized target near the topic, and a match that mostly fits it. */
function settle(random: Random, topic: Topic): Settled {
  const access = ask(random, vary(random, topic));
  if ("ok" in access) throw new Error(`the pools of targets hold a bad one: ${access.message}`);
  const { resourceType, operation, target } = access;
  const match = pick(random, chance(random, 0.9) ? FITTING[target.form] : MATCHES);
  const isFile = resourceType === "filesystem" && chance(random, 0.2);
  return { resourceType, operation, target: isFile ? parentOf(target.text) : target.text, match };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

// --- Small tools ---------------------------------------------------------------------------------

/** Raw texts come from small pools, so that each is parsed once. */
const PARSED = new Map<unknown, Map<unknown, Map<unknown, Access | Fault>>>();

function parse(raw: { resourceType: unknown; operation: unknown; target: unknown }): Access | Fault {
  const byOperation = inner(PARSED, raw.resourceType);
  const byTarget = inner(byOperation, raw.operation);
  const known = byTarget.get(raw.target);
  if (known !== undefined) return known;
  const parsed = parseAccess(raw, whatwgUrl);
  const access = parsed.ok ? parsed.value : parsed;
  byTarget.set(raw.target, access);
  return access;
}

function inner<V>(outer: Map<unknown, Map<unknown, V>>, key: unknown): Map<unknown, V> {
  const known = outer.get(key);
  if (known !== undefined) return known;
  const made = new Map<unknown, V>();
  outer.set(key, made);
  return made;
}

function legal(resourceType: ResourceType, operation: Operation, target: string): Access {
  const access = parse({ resourceType, operation, target });
  if ("ok" in access) throw new Error(access.message);
  return access;
}

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

function pick<T>(random: Random, pool: readonly T[]): T {
  return pool[Math.floor(random() * pool.length)] as T;
}

function chance(random: Random, share: number): boolean {
  return random() < share;
}

function times<T>(random: Random, least: number, most: number, make: (index: number) => T): T[] {
  const count = least + Math.floor(random() * (most - least + 1));
  const made: T[] = [];
  for (let index = 0; index < count; index++) made.push(make(index));
  return made;
}

function distinct(subjects: readonly Subject[]): Subject[] {
  return subjects.filter(
    (one, index) => subjects.findIndex(({ type, name }) => type === one.type && name === one.name) === index,
  );
}
