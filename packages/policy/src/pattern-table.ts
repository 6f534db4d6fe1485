/**
 * Patterns by owner. Which of an owner's patterns covers a target is answered by a few exact look-ups, from the
 * narrowest to the widest, and what an owner does not have is not looked for.
 */
import type { Pattern, PatternKind } from "@sallyport/contract";
import { KeyTable } from "./key-table.ts";
import type { Probe } from "./probe.ts";
import type { HashKey, HashSeed } from "./seeded-hash.ts";

const KINDS = {
  url: 0,
  url_any_query: 1,
  url_prefix: 2,
  origin: 3,
  host_port: 4,
  host: 5,
  socket: 6,
  unix: 7,
  path: 8,
  tree: 9,
  name: 10,
} as const satisfies Readonly<Record<PatternKind, number>>;
/** An https origin is a kind of its own inside the table. */
const SECURE_ORIGIN = 11;
const KIND_COUNT = 16;
const DEEPEST_BIT = 31;

type Accept<T> = ((value: T) => boolean) | undefined;

/** Whether what is looked for would allow or restrict; in doubt the one does not match, and the other does. */
export type Side = "allow" | "restrict";

/** Whose patterns they are: a contract's, a subject's in one scope, everybody's. Held by callers, made by the table. */
export class Owner<T> {
  declare readonly valueType: T;
  readonly id: number;
  size = 0;
  /** Bits of the kinds that this owner has, and of the depths of its folders. */
  kinds = 0;
  depths = 0;

  constructor(id: number) {
    this.id = id;
  }
}

export class PatternTable {
  readonly #keys: KeyTable;
  #owners = 0;

  constructor(seed: HashSeed) {
    this.#keys = new KeyTable(seed, hashedPart);
  }

  get hashKey(): HashKey {
    return this.#keys.hashKey;
  }

  get room(): KeyTable["room"] {
    return this.#keys.room;
  }

  get steps(): number {
    return this.#keys.steps;
  }

  newOwner<T>(): Owner<T> {
    return new Owner<T>(++this.#owners);
  }

  insert<T>(owner: Owner<T>, pair: number, pattern: Pattern, value: T): void {
    const text = textOf(pattern);
    const kind = kindOf(pattern);
    this.#keys.insert(owner.id, pair * KIND_COUNT + kind, portOf(pattern), text, value);
    owner.size++;
    owner.kinds |= 1 << kind;
    if (kind === KINDS.tree || kind === KINDS.url_prefix) owner.depths |= depthBit(depthOf(kind, text));
  }

  remove<T>(owner: Owner<T>, pair: number, pattern: Pattern, value: T): boolean {
    const tag = pair * KIND_COUNT + kindOf(pattern);
    const removed = this.#keys.remove(owner.id, tag, portOf(pattern), textOf(pattern), value);
    if (removed && --owner.size === 0) owner.kinds = owner.depths = 0;
    return removed;
  }

  /** The value of the narrowest pattern of this owner that covers the probe and that `accept` takes. */
  find<T>(owner: Owner<T>, pair: number, probe: Probe, side: Side, accept?: Accept<T>): T | undefined {
    if (owner.kinds === 0) return undefined;
    const tag = pair * KIND_COUNT;
    switch (probe.form) {
      case "path":
        return (
          this.#whole(owner, tag, KINDS.path, probe, accept) ??
          this.#folder(owner, tag, KINDS.tree, probe, accept)
        );
      case "url":
        return this.#url(owner, tag, probe, side, accept);
      case "endpoint":
        return this.#endpoint(owner, tag, probe, accept);
      case "unix":
        return this.#whole(owner, tag, KINDS.unix, probe, accept);
      case "name":
        return this.#whole(owner, tag, KINDS.name, probe, accept);
    }
  }

  #url<T>(owner: Owner<T>, tag: number, probe: Probe, side: Side, accept: Accept<T>): T | undefined {
    const hasFolders = side === "restrict" || !probe.isAmbiguous;
    return (
      this.#whole(owner, tag, KINDS.url, probe, accept) ??
      this.#withoutQuery(owner, tag, probe, accept) ??
      (hasFolders ? this.#folder(owner, tag, KINDS.url_prefix, probe, accept) : undefined) ??
      this.#host(owner, tag, probe.secure ? SECURE_ORIGIN : KINDS.origin, probe.port, probe, accept) ??
      this.#host(owner, tag, KINDS.host_port, probe.port, probe, accept) ??
      this.#host(owner, tag, KINDS.host, 0, probe, accept)
    );
  }

  #endpoint<T>(owner: Owner<T>, tag: number, probe: Probe, accept: Accept<T>): T | undefined {
    const { port } = probe;
    const socket = this.#host(owner, tag, KINDS.socket, port, probe, accept);
    if (socket !== undefined || port === 0)
      return socket ?? this.#host(owner, tag, KINDS.host, 0, probe, accept);
    return (
      this.#host(owner, tag, SECURE_ORIGIN, port, probe, accept) ??
      this.#host(owner, tag, KINDS.origin, port, probe, accept) ??
      this.#host(owner, tag, KINDS.host_port, port, probe, accept) ??
      this.#host(owner, tag, KINDS.host, 0, probe, accept)
    );
  }

  #whole<T>(owner: Owner<T>, tag: number, kind: number, probe: Probe, accept: Accept<T>): T | undefined {
    if ((owner.kinds & (1 << kind)) === 0) return undefined;
    const { text, fullHash } = probe;
    return this.#keys.find(owner.id, tag + kind, 0, fullHash, text, 0, text.length, accept) as T | undefined;
  }

  #withoutQuery<T>(owner: Owner<T>, tag: number, probe: Probe, accept: Accept<T>): T | undefined {
    if ((owner.kinds & (1 << KINDS.url_any_query)) === 0) return undefined;
    const { text, pathHash, pathEnd } = probe;
    return this.#keys.find(owner.id, tag + KINDS.url_any_query, 0, pathHash, text, 0, pathEnd, accept) as
      | T
      | undefined;
  }

  #host<T>(
    owner: Owner<T>,
    tag: number,
    kind: number,
    port: number,
    probe: Probe,
    accept: Accept<T>,
  ): T | undefined {
    if ((owner.kinds & (1 << kind)) === 0) return undefined;
    const { text, hostStart, hostEnd, hostHash } = probe;
    return this.#keys.find(owner.id, tag + kind, port, hostHash, text, hostStart, hostEnd, accept) as
      | T
      | undefined;
  }

  /** Folders from the deepest; depths at which the owner has none are passed over. */
  #folder<T>(owner: Owner<T>, tag: number, kind: number, probe: Probe, accept: Accept<T>): T | undefined {
    if ((owner.kinds & (1 << kind)) === 0) return undefined;
    const { folderEnds, folderHashes, text } = probe;
    for (let depth = probe.folders - 1; depth >= 0; depth--) {
      if ((owner.depths & depthBit(depth)) === 0) continue;
      const end = folderEnds[depth] as number;
      const found = this.#keys.find(
        owner.id,
        tag + kind,
        0,
        folderHashes[depth] as number,
        text,
        0,
        end,
        accept,
      );
      if (found !== undefined) return found as T;
    }
    return undefined;
  }
}

function kindOf(pattern: Pattern): number {
  return pattern.kind === "origin" && pattern.secure ? SECURE_ORIGIN : KINDS[pattern.kind];
}

function textOf(pattern: Pattern): string {
  return "host" in pattern ? pattern.host : pattern.text;
}

function portOf(pattern: Pattern): number {
  return "port" in pattern ? (pattern.port ?? 0) : 0;
}

/** WHY: hosts are looked up without a scheme, so the walk of a probe begins at the host. */
function hashedPart(tag: number, text: string): string {
  return tag % KIND_COUNT <= KINDS.url_prefix ? text.slice(text.indexOf("://") + 3) : text;
}

/** How many folders stand above this one in a probe's list; see `Probe`. */
function depthOf(kind: number, text: string): number {
  let slashes = 0;
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) === 0x2f) slashes++;
  // WHY: a URL has two slashes behind its scheme, and its first folder is the root.
  return kind === KINDS.url_prefix ? slashes - 3 : slashes;
}

function depthBit(depth: number): number {
  return 1 << (depth < DEEPEST_BIT ? depth : DEEPEST_BIT);
}
