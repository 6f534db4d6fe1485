/**
 * Hits of the allowlist that the service was not told of yet. They are told in batches: many equal ones are one entry
 * with a count. Runs beside foreign code and uses its own copies of what it needs.
 * INVARIANT: told at the latest with the first hit, or turn of the event loop, that comes `AGE_MS` after the oldest; so
 * what a process that is killed leaves untold is bounded by that time and by `ENTRIES_MAX`.
 */
import { SafeMap, uncurryThis } from "../captured.ts";
import { EVENTS_MAX } from "../protocol/bounds.ts";
import type { AskWords, ChildEvent, HostedNames } from "../protocol/message.ts";
import { monotonicMs } from "./monotonic.ts";

const AGE_MS = 100;
const ENTRIES_MAX = EVENTS_MAX;
/** Looked at the clock once in so many equal hits. */
const HITS_PER_LOOK = 64;

const { apply, defineProperty } = Reflect;
const { setPrototypeOf } = Object;
const { setTimeout: after } = globalThis;
const unref = uncurryThis(unrefOf());

/** WHY: the class of timers has no name of its own. */
function unrefOf(): (this: NodeJS.Timeout) => NodeJS.Timeout {
  const timer = after(() => undefined, 0);
  clearTimeout(timer);
  // oxlint-disable-next-line typescript/unbound-method -- called through a bound `call`
  return (Reflect.getPrototypeOf(timer) as NodeJS.Timeout).unref;
}

interface Hit {
  readonly words: AskWords;
  count: number;
}

export class AllowlistHits {
  readonly #tell: (events: readonly ChildEvent[]) => void;
  /** By who acts (one list for each chain), resource type, operation and target. */
  #hits = new SafeMap<HostedNames, SafeMap<string, SafeMap<string, SafeMap<string, Hit>>>>();
  /** The entry that was counted last. */
  #last: Hit | undefined;
  #entries = 0;
  #looks = 0;
  #sinceMs = 0;
  #isTimed = false;

  constructor(tell: (events: readonly ChildEvent[]) => void) {
    this.#tell = tell;
  }

  /** A hit with all its words. What differs from an equal one in more than its written form is an entry of its own. */
  add(words: AskWords): void {
    const { resourceType, operation, target, requested = target } = words;
    if (words.twin !== undefined) {
      this.#tell([bare<ChildEvent>({ kind: "allowed", words })]);
      return;
    }
    const targets = this.#targetsOf(words.hosted, resourceType, operation);
    const other = targets.get(target);
    // WHY it is told, and not this one: what comes next is like this one.
    if (other !== undefined && !isAlike(other.words, words)) this.#tellOne(targets, other);
    this.count(words.hosted, resourceType, operation, target, requested, words);
  }

  #tellOne(targets: SafeMap<string, Hit>, { words, count }: Hit): void {
    targets.delete(words.target);
    this.#entries -= 1;
    this.#last = undefined;
    this.#tell([bare<ChildEvent>({ kind: "allowed", words, count })]);
  }

  /** A hit whose words may be those of the last one. */
  again(words: AskWords): void {
    const last = this.#last;
    if (last === undefined || last.words !== words) {
      this.add(words);
      this.#last = this.#targetsOf(words.hosted, words.resourceType, words.operation).get(words.target);
    } else this.#countOne(last);
  }

  /** @param words all of them; made of the others where absent */
  count(
    hosted: HostedNames,
    resourceType: string,
    operation: string,
    target: string,
    requested: string,
    words?: AskWords,
  ): void {
    const last = this.#last;
    if (last !== undefined && isOf(last.words, hosted, resourceType, operation, target)) {
      this.#countOne(last);
      return;
    }
    const targets = this.#targetsOf(hosted, resourceType, operation);
    const hit = targets.get(target);
    this.#last = hit;
    if (hit === undefined) {
      const written = requested === target ? undefined : requested;
      const own =
        words ??
        bare<AskWords>({ resourceType, operation, target, requested: written, hosted, enforced: true });
      targets.set(target, bare<Hit>({ words: own, count: 1 }));
      this.#entries += 1;
      if (this.#entries === 1) this.#begin();
      if (this.#entries >= ENTRIES_MAX || monotonicMs() - this.#sinceMs >= AGE_MS) this.flush();
      return;
    }
    this.#countOne(hit);
  }

  #countOne(hit: Hit): void {
    hit.count += 1;
    this.#looks += 1;
    if (this.#looks % HITS_PER_LOOK === 0 && monotonicMs() - this.#sinceMs >= AGE_MS) this.flush();
  }

  flush(): void {
    if (this.#entries === 0) return;
    const hits = this.#hits;
    this.#hits = new SafeMap();
    this.#last = undefined;
    this.#entries = 0;
    const events: ChildEvent[] = [];
    hits.each((types) =>
      types.each((operations) =>
        operations.each((targets) =>
          targets.each(({ words, count }) => {
            const value = bare<ChildEvent>({ kind: "allowed", words, count });
            // WHY: not `push`, which asks setters that foreign code can put on `Array.prototype`.
            defineProperty(
              events,
              events.length,
              bare({ value, enumerable: true, configurable: true, writable: true }),
            );
          }),
        ),
      ),
    );
    this.#tell(events);
  }

  #targetsOf(hosted: HostedNames, resourceType: string, operation: string): SafeMap<string, Hit> {
    let types = this.#hits.get(hosted);
    if (types === undefined) {
      types = new SafeMap();
      this.#hits.set(hosted, types);
    }
    let operations = types.get(resourceType);
    if (operations === undefined) {
      operations = new SafeMap();
      types.set(resourceType, operations);
    }
    let targets = operations.get(operation);
    if (targets === undefined) {
      targets = new SafeMap();
      operations.set(operation, targets);
    }
    return targets;
  }

  #begin(): void {
    this.#sinceMs = monotonicMs();
    if (this.#isTimed) return;
    this.#isTimed = true;
    const timer = apply(after, undefined, [
      () => {
        this.#isTimed = false;
        this.flush();
      },
      AGE_MS,
    ]);
    unref(timer);
  }
}

function isOf(
  words: AskWords,
  hosted: HostedNames,
  resourceType: string,
  operation: string,
  target: string,
): boolean {
  const isSame = words.target === target && words.operation === operation;
  return isSame && words.resourceType === resourceType && words.hosted === hosted;
}

/** Dialled at the same address, which had the same names. */
function isAlike(one: AskWords, other: AskWords): boolean {
  if (one.address !== other.address) return false;
  const { aliases: names = [] } = one;
  const { aliases: otherNames = [] } = other;
  if (names.length !== otherNames.length) return false;
  for (let index = 0; index < names.length; index++) if (names[index] !== otherNames[index]) return false;
  return true;
}

/** WHY: what is absent must not be found on a polluted prototype. */
function bare<T extends object>(value: T): T {
  return setPrototypeOf(value, null) as T;
}
