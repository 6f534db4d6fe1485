/**
 * Targets that all derive from one topic, so that rules, decisions and questions of a case meet each other.
 */
import {
  type Access,
  type Fault,
  type Match,
  OPERATIONS,
  type Operation,
  type ResourceType,
  parseAccess,
  urlText,
  whatwgUrl,
} from "@sallyport/contract";
import type { AccessRule, Approval } from "../question.ts";
import { type Random, chance, pick } from "./seeded-random.ts";
import {
  BROKEN_RULES,
  FAULTS,
  FILES,
  HOSTS,
  PATHS,
  PORTS,
  PROGRAMS,
  PROGRAM_PATHS,
  QUERIES,
  SCHEMES,
  SOCKETS,
} from "./target-pools.ts";

const MATCHES: readonly Match[] = ["exact", "any_query", "path_prefix", "origin", "endpoint", "directory"];
const FITTING: Readonly<Record<Access["target"]["form"], readonly Match[]>> = {
  url: ["exact", "exact", "any_query", "path_prefix", "origin", "endpoint"],
  endpoint: ["exact", "endpoint"],
  unix: ["exact"],
  path: ["exact", "directory"],
  name: ["exact"],
};

export type Topic = NetworkTopic | FileTopic | ProgramTopic;

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

export function makeTopic(random: Random): Topic {
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
export function declare(random: Random, topic: Topic): AccessRule {
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
export function ask(random: Random, topic: Topic): Access | Fault {
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
export function settle(random: Random, topic: Topic): Settled {
  const access = ask(random, vary(random, topic));
  if ("ok" in access) throw new Error(`the pools of targets hold a bad one: ${access.message}`);
  const { resourceType, operation, target } = access;
  const match = pick(random, chance(random, 0.9) ? FITTING[target.form] : MATCHES);
  return { resourceType, operation, target: placed(random, target, match), match };
}

/** A prefix is mostly a folder, as it must be; a file is at times the folder that it lies in. */
function placed(random: Random, target: Access["target"], match: Match): string {
  if (target.form === "path" && chance(random, 0.2)) return parentOf(target.text);
  if (target.form !== "url" || match !== "path_prefix" || !chance(random, 0.7)) return target.text;
  return urlText({ ...target, path: folderOf(target.path), query: undefined });
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

export function makeFault(random: Random): Access | Fault {
  const [resourceType, operation, target] = pick(random, FAULTS);
  return parse({ resourceType, operation, target });
}

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

export function legal(resourceType: ResourceType, operation: Operation, target: string): Access {
  const access = parse({ resourceType, operation, target });
  if ("ok" in access) throw new Error(access.message);
  return access;
}
