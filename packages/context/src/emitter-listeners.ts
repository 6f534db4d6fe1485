/**
 * Listeners of event emitters run in the context of whoever registered them, not of whoever emits. Replaces the six
 * methods of `EventEmitter.prototype` that store or show listeners; all streams, sockets, requests and servers inherit
 * them. Must keep what a program can tell: which function is removed, counted, listed and announced.
 */
import { EventEmitter } from "node:events";
import { type Listener, bindNow, bindingOf, call, isFollowing, standFor } from "./bound-listener.ts";
import { hasOwn } from "./captured.ts";
import type { Replacement } from "./replaced-methods.ts";

type Event = string | symbol;
type Registering = (this: EventEmitter, event: Event, listener: Listener) => unknown;

/** Node's own, as found when following began. */
interface EmitterMethods {
  readonly addListener: Registering;
  readonly prependListener: Registering;
  readonly once: Registering;
  readonly prependOnceListener: Registering;
  readonly removeListener: Registering;
  readonly rawListeners: (this: EventEmitter, event: Event) => unknown;
}

export function emitterReplacements(): readonly Replacement[] {
  const prototype = EventEmitter.prototype as unknown as EmitterMethods;
  const { addListener, prependListener, once, prependOnceListener, removeListener, rawListeners } = prototype;
  const bound = boundMethods({
    addListener,
    prependListener,
    once,
    prependOnceListener,
    removeListener,
    rawListeners,
  });
  const holder = EventEmitter.prototype;
  return [
    { holder, name: "addListener", method: bound.addListener },
    { holder, name: "on", method: bound.addListener },
    { holder, name: "prependListener", method: bound.prependListener },
    { holder, name: "once", method: bound.once },
    { holder, name: "prependOnceListener", method: bound.prependOnceListener },
    { holder, name: "removeListener", method: bound.removeListener },
    { holder, name: "off", method: bound.removeListener },
    { holder, name: "rawListeners", method: bound.rawListeners },
  ];
}

function boundMethods(native: EmitterMethods): EmitterMethods {
  return {
    addListener(event, listener) {
      return call(native.addListener, this, [event, always(listener)]);
    },
    prependListener(event, listener) {
      return call(native.prependListener, this, [event, always(listener)]);
    },
    once(event, listener) {
      if (!isBindable(listener)) return call(native.once, this, [event, listener]);
      // WHY: by name, as Node does: streams and sockets have an `on` of their own that begins to read.
      this.on(event, onlyOnce(this, event, listener));
      return this;
    },
    prependOnceListener(event, listener) {
      if (!isBindable(listener)) return call(native.prependOnceListener, this, [event, listener]);
      this.prependListener(event, onlyOnce(this, event, listener));
      return this;
    },
    removeListener(event, listener) {
      return call(native.removeListener, this, [event, stored(native, this, event, listener)]);
    },
    rawListeners(event) {
      const list = call(native.rawListeners, this, [event]) as Listener[];
      for (let index = 0; index < list.length; index++) list[index] = unhidden(list[index] as Listener);
      return list;
    },
  };
}

function isBindable(listener: unknown): listener is Listener {
  return typeof listener === "function" && isFollowing();
}

function always(listener: Listener): Listener {
  if (!isBindable(listener) || bindingOf(listener) !== undefined) return listener;
  // WHY: a function that stands for another (`listener`) is shown and removed as that other one.
  const shown = inner(listener) ?? listener;
  return standFor(bindNow(listener), { kind: "always", original: listener }, shown);
}

function onlyOnce(emitter: EventEmitter, event: Event, listener: Listener): Listener {
  const bound = bindNow(listener);
  let isFired = false;
  function wrapper(this: unknown, ...args: unknown[]): unknown {
    if (isFired) return undefined;
    isFired = true;
    emitter.removeListener(event, wrapper);
    return call(bound, emitter, args);
  }
  return standFor(wrapper, { kind: "once", original: listener }, listener);
}

/** What Node has to be asked to remove. */
function stored(native: EmitterMethods, emitter: EventEmitter, event: Event, listener: Listener): Listener {
  if (typeof listener !== "function") return listener;
  const binding = bindingOf(listener);
  // WHY: `removeAllListeners` hands over what is stored; announced is the original.
  if (binding?.kind === "always") return inner(listener) ?? listener;
  if (binding !== undefined || inner(listener) === undefined) return listener;
  const list = call(native.rawListeners, emitter, [event]) as Listener[];
  for (let index = list.length - 1; index >= 0; index--) {
    const entry = list[index] as Listener;
    if (entry === listener) return entry;
    if (bindingOf(entry)?.original === listener) return entry;
  }
  return listener;
}

function unhidden(entry: Listener): Listener {
  const binding = bindingOf(entry);
  return binding?.kind === "always" ? binding.original : entry;
}

function inner(listener: Listener): Listener | undefined {
  if (!hasOwn(listener, "listener")) return undefined;
  const { listener: other } = listener as Listener & { readonly listener: unknown };
  return typeof other === "function" ? (other as Listener) : undefined;
}
