/**
 * Listeners of event targets (abort signals, message ports, web sockets …) run in the context of whoever registered
 * them. A target tells listeners apart by type, function and phase of capture, so the book keeps what stands for which.
 * Options are read once, and what was read is handed on.
 */
import { type Listener, bindNow, call, isFollowing } from "./bound-listener.ts";
import { SafeWeakMap, bare, hasOwn, ownKeys, put, toText } from "./captured.ts";
import type { Replacement } from "./replaced-methods.ts";

type Callback = Listener | { handleEvent?: Listener };

interface Registration {
  readonly bound: Listener;
  readonly signal: { readonly aborted: boolean } | undefined;
}

/** Capturing and not capturing are two registrations. */
interface Pair {
  capturing: Registration | undefined;
  bubbling: Registration | undefined;
}

interface Words {
  readonly place: keyof Pair;
  readonly once: boolean;
  readonly signal: { readonly aborted: boolean } | undefined;
  readonly options: unknown;
}

/** By target, then type, then function; never joined. */
const book = new SafeWeakMap<object, Record<string, SafeWeakMap<Callback, Pair>>>();

export function targetReplacements(): readonly Replacement[] {
  const holder = EventTarget.prototype;
  const native = holder as unknown as { addEventListener: Listener; removeEventListener: Listener };
  const { addEventListener: add, removeEventListener: remove } = native;
  function addEventListener(this: object, type: unknown, callback: unknown, options?: unknown): unknown {
    if (!isFollowing() || !isCallback(callback)) return call(add, this, [type, callback, options]);
    const name = toText(type);
    const words = readWords(options);
    const pair = pairOf(this, name, callback);
    const known = pair[words.place];
    if (known !== undefined && known.signal?.aborted !== true) {
      return call(add, this, [name, known.bound, words.options]);
    }
    const bound = bindCallback(callback, words.once ? () => (pair[words.place] = undefined) : undefined);
    const answer = call(add, this, [name, bound, words.options]);
    if (words.signal?.aborted !== true) pair[words.place] = { bound, signal: words.signal };
    return answer;
  }
  function removeEventListener(this: object, type: unknown, callback: unknown, options?: unknown): unknown {
    if (!isCallback(callback)) return call(remove, this, [type, callback, options]);
    const name = toText(type);
    const { place } = readWords(options);
    const types = book.get(this);
    const pair = types !== undefined && hasOwn(types, name) ? types[name]?.get(callback) : undefined;
    const known = pair?.[place];
    if (pair === undefined || known === undefined) return call(remove, this, [name, callback, options]);
    pair[place] = undefined;
    return call(remove, this, [name, known.bound, bare({ capture: place === "capturing" })]);
  }
  return [
    { holder, name: "addEventListener", method: addEventListener },
    // WHY: stays when following ends, or what was bound before could not be removed any more.
    { holder, name: "removeEventListener", method: removeEventListener, stays: true },
  ];
}

function isCallback(callback: unknown): callback is Callback {
  return typeof callback === "function" || (typeof callback === "object" && callback !== null);
}

function readWords(options: unknown): Words {
  if (typeof options !== "object" || options === null) {
    const place = options === true ? "capturing" : "bubbling";
    return { place, once: false, signal: undefined, options };
  }
  const given = options as Record<PropertyKey, unknown>;
  const capture = Boolean(given["capture"]);
  const once = Boolean(given["once"]);
  const signal = given["signal"];
  const copy = bare({ capture, once, passive: Boolean(given["passive"]) }) as Record<PropertyKey, unknown>;
  if (signal !== undefined) put(copy, "signal", signal);
  // WHY: Node's own callers say more by symbols, such as that a listener is held weakly.
  const keys = ownKeys(options);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as PropertyKey;
    if (typeof key === "symbol") put(copy, key, given[key]);
  }
  return {
    place: capture ? "capturing" : "bubbling",
    once,
    signal: signal as Words["signal"],
    options: copy,
  };
}

function pairOf(target: object, name: string, callback: Callback): Pair {
  let types = book.get(target);
  if (types === undefined) {
    types = bare({});
    book.set(target, types);
  }
  let callbacks = types[name];
  if (callbacks === undefined) {
    callbacks = new SafeWeakMap();
    put(types, name, callbacks);
  }
  let pair = callbacks.get(callback);
  if (pair === undefined) {
    pair = bare({ capturing: undefined, bubbling: undefined });
    callbacks.set(callback, pair);
  }
  return pair;
}

function bindCallback(callback: Callback, spend: (() => void) | undefined): Listener {
  const bound = bindNow(function listener(this: unknown, ...args: unknown[]): unknown {
    if (typeof callback === "function") return call(callback, this, args);
    const { handleEvent } = callback;
    return typeof handleEvent === "function" ? call(handleEvent, callback, args) : undefined;
  });
  if (spend === undefined) return bound;
  return function once(this: unknown, ...args: unknown[]): unknown {
    spend();
    return call(bound, this, args);
  };
}
