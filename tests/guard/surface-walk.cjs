/**
 * Walks what a program can reach of Node: the functions of modules, and of every class that an export, or an object that a
 * program has, leads to; by prototypes, constructors, and the objects that objects hold. Not loaded as a module: a test puts it in
 * front of `surface-objects.cjs` and runs both in bare Node and under the guard.
 */
"use strict";
const found = {};
/** By prototype, function or object: walked already. */
const labels = new Map();
const walked = new Set();
/** What modules export as a whole. */
const whole = new Set();
const taken = new Set();

const sourceOf = (fn) => Function.prototype.toString.call(fn);
const nameOf = (key) => (typeof key === "symbol" ? `@${String(key.description).replaceAll(" ", "-")}` : key);
const isObject = (value) => typeof value === "object" && value !== null;
const plainOf = (holder, key) => Object.getOwnPropertyDescriptor(holder, key)?.value;

/** Of the language, and what Node's classes stand on: classed once by the tables, as a whole, and not walked. */
const GROUND = new Set();
{
  const { Stream, Readable, Writable, Duplex, Transform, PassThrough } = require("node:stream");
  const classes = [require("node:events"), Stream, Readable, Writable, Duplex, Transform, PassThrough];
  // WHY without one: Node warns where it is looked at.
  const names = Object.getOwnPropertyNames(globalThis).filter((name) => name !== "localStorage");
  const global = names.map((name) => globalThis[name]);
  const own = new Set(given.outside.map((name) => globalThis[name]));
  for (const one of [...classes, ...global])
    if (typeof one === "function" && !own.has(one)) GROUND.add(one).add(plainOf(one, "prototype"));
  const generators = [function* () {}, async function* () {}, async () => {}];
  for (const one of [
    ...generators,
    new Uint8Array(),
    new Map().keys(),
    new Set().keys(),
    [].keys(),
    "".matchAll(""),
  ])
    for (let holder = Object.getPrototypeOf(one); holder !== null; holder = Object.getPrototypeOf(holder))
      GROUND.add(holder).add(plainOf(holder, "prototype"));
  for (const one of [(function* () {})(), (async function* () {})()])
    for (
      let holder = Object.getPrototypeOf(Object.getPrototypeOf(one));
      holder !== null;
      holder = Object.getPrototypeOf(holder)
    )
      GROUND.add(holder);
  for (const one of [undefined, null]) GROUND.delete(one);
}

const record = (label, key, { value, get, set }) => {
  if (typeof value === "function") (found[label] ??= {})[nameOf(key)] = sourceOf(value);
  else if (get !== undefined || set !== undefined)
    (found[label] ??= {})[nameOf(key)] = [get, set]
      .map((fn) => (fn === undefined ? "" : sourceOf(fn)))
      .join("|");
};

const FUNCTION_KEYS = new Set(["length", "name", "prototype", "arguments", "caller"]);
const NATIVE = /^function [\w ]*\(\) \{ \[native code\] \}$/;

const isNative = (value) => typeof value === "function" && NATIVE.test(sourceOf(value));

/** A class that nobody exports has the name of its constructor. WHY the methods, too: the guard refuses some constructors. */
const labelOf = (prototype, behind) => {
  const maker = plainOf(prototype, "constructor");
  const hasName = typeof maker === "function" && maker.name !== "";
  const isJs = hasName && sourceOf(maker).startsWith("class ");
  const isOfNative = !isJs && Reflect.ownKeys(prototype).some((key) => isNative(plainOf(prototype, key)));
  const name = hasName ? `${isOfNative ? "native " : ""}${maker.name}` : `what is behind ${behind}`;
  for (let label = `${name}.prototype`; ; label = `other ${label}`) if (!taken.has(label)) return label;
};

/** A prototype and those behind it, to the ground. */
const walkPrototype = (prototype, behind, given) => {
  for (
    let holder = prototype, label = given;
    holder !== null && !GROUND.has(holder) && !labels.has(holder);
    holder = Object.getPrototypeOf(holder), label = undefined
  ) {
    label ??= labelOf(holder, behind);
    taken.add(label);
    labels.set(holder, label);
    found[label] ??= {};
    for (const key of Reflect.ownKeys(holder))
      record(label, key, Object.getOwnPropertyDescriptor(holder, key));
    const maker = plainOf(holder, "constructor");
    if (typeof maker === "function" && !whole.has(maker))
      walkFunction(maker, label.slice(0, -".prototype".length));
    behind = label;
  }
};

/** What a function holds, and the class that it is. */
const walkFunction = (fn, label) => {
  if (GROUND.has(fn) || walked.has(fn)) return;
  walked.add(fn);
  const prototype = plainOf(fn, "prototype");
  if (isObject(prototype) && !GROUND.has(prototype)) {
    const isClass =
      Reflect.ownKeys(prototype).length > 1 || Object.getPrototypeOf(prototype) !== Object.prototype;
    if (isClass) walkPrototype(prototype, label, `${label}.prototype`);
  }
  for (const key of Reflect.ownKeys(fn)) {
    if (FUNCTION_KEYS.has(key)) continue;
    const property = Object.getOwnPropertyDescriptor(fn, key);
    record(label, key, property);
    if (typeof property.value === "function") walkFunction(property.value, `${label}.${nameOf(key)}`);
  }
  const above = Object.getPrototypeOf(fn);
  if (typeof above === "function") walkFunction(above, above.name);
};

/** An object that a program has: its class, and what it holds. */
const walkObject = (object, name, depth = 0) => {
  if (!isObject(object) || walked.has(object) || object === globalThis || object === process || depth > DEPTH)
    return;
  walked.add(object);
  if (ArrayBuffer.isView(object)) return;
  const prototype = Object.getPrototypeOf(object);
  if (prototype !== null) walkPrototype(prototype, name);
  const label = labels.get(prototype)?.replace(/prototype$/, "own");
  for (const key of Reflect.ownKeys(object)) {
    const property = Object.getOwnPropertyDescriptor(object, key) ?? {};
    if (label !== undefined) record(label, key, property);
    walkObject(property.value, `${name}.${nameOf(key)}`, depth + 1);
  }
  if (object instanceof Map || object instanceof Set)
    for (const one of object.values()) walkObject(one, name, depth + 1);
};
/** As deep as handles lie: from a pool of connections to the handle of one. */
const DEPTH = 7;

/** What a program has put there, or others have. */
const NOT_WALKED = new Set(["_events", "_cache", "_pathCache", "env", "mainModule"]);

/** What a module exports. WHY in three rounds: a class is called what it is exported as, wherever else it is found. */
// oxlint-disable-next-line no-unused-vars -- called by the part that follows
const walkModules = (modules) => {
  for (const exports of Object.values(modules)) whole.add(exports);
  const each = (work) => {
    for (const [label, exports] of Object.entries(modules))
      for (const key of Reflect.ownKeys(exports)) {
        if (typeof exports === "function" && FUNCTION_KEYS.has(key)) continue;
        let value;
        try {
          value = exports[key];
        } catch {
          continue;
        }
        work(value, label, key);
      }
  };
  each((value, label, key) => {
    if (typeof value === "function") (found[label] ??= {})[nameOf(key)] = sourceOf(value);
  });
  each((value, label, key) => {
    if (typeof value !== "function") return;
    if (whole.has(value)) walkPrototype(value.prototype, label, `${label}.${nameOf(key)}.prototype`);
    else walkFunction(value, `${label}.${nameOf(key)}`);
  });
  each((value, label, key) => {
    if (!isObject(value) || walked.has(value) || whole.has(value) || NOT_WALKED.has(key)) return;
    const prototype = Object.getPrototypeOf(value);
    if (prototype === null || prototype === Object.prototype)
      for (const one of Reflect.ownKeys(value))
        record(`${label}.${nameOf(key)}`, one, Object.getOwnPropertyDescriptor(value, one));
    walkObject(value, `${label}.${nameOf(key)}`);
  });
};
