/**
 * A bare process that attacks the private realm; one scenario per run: `node realm-process.mjs SCENARIO REALM_SCRIPT`.
 * Prints one line of JSON. While built-ins are replaced it uses operators and its own copies only.
 */
/* oxlint-disable typescript/unbound-method, no-extend-native -- the attack is the point */
import fs from "node:fs";
import module from "node:module";
import path from "node:path";
import url from "node:url";
import util from "node:util";
import vm from "node:vm";
import { parseAccess, RESOURCE_OPERATIONS } from "@sallyport/contract";
import { ActiveContext, type Question, Snapshot, type Verdict, decide } from "@sallyport/policy";
import { UNAVAILABLE, unpackVerdict } from "@sallyport/policy/realm";
import { capturedUrl } from "../captured-url.ts";
import { type PrivateRealm, openPrivateRealm } from "../private-realm.ts";
import { type Hostility, hiddenIntrinsics, tamper } from "./hostile-surroundings.ts";
import { attackLeakedError } from "./leaked-realm-error.ts";
import { CHANGES, CONTEXTS, LATER_CHANGES, QUESTIONS } from "./realm-world.ts";

const [, , scenario = "", scriptFile = ""] = process.argv;
const script = fs.readFileSync(scriptFile, "utf8");
const seed = [0x5a117, 0x90127] as const;
const LATER = JSON.stringify(LATER_CHANGES);

/** Contexts are opened in order, so the handle of context n is n + 1. */
function openWorld(): PrivateRealm {
  const realm = openPrivateRealm({ seed, script });
  const applied = realm.apply(JSON.stringify(CHANGES));
  if (!applied.startsWith(`{"applied":${CHANGES.length},`))
    throw new Error(`the world was refused: ${applied}`);
  for (const context of CONTEXTS)
    if (realm.open(JSON.stringify(context)) === 0) throw new Error("context refused");
  return realm;
}

interface Answers {
  readonly packed: number[];
  readonly texts: string[];
}

/** INVARIANT: arrays are filled in advance, so that no setter of `Array.prototype` is asked. */
function emptyAnswers(): Answers {
  return { packed: QUESTIONS.map(() => 0), texts: QUESTIONS.map(() => "") };
}

function askAll(realm: PrivateRealm, answers: Answers): void {
  for (let index = 0; index < QUESTIONS.length; index++) {
    const { context, pair, target, ask, nowMs, extras } = QUESTIONS[index] as (typeof QUESTIONS)[number];
    answers.packed[index] = realm.check(context + 1, pair, target, ask, nowMs, extras);
    answers.texts[index] = realm.verdict() + realm.explain(context + 1, pair, target, ask, nowMs, extras);
  }
}

function differences(left: Answers, right: Answers): number {
  let count = 0;
  for (let index = 0; index < QUESTIONS.length; index++) {
    if (left.packed[index] !== right.packed[index] || left.texts[index] !== right.texts[index]) count++;
  }
  return count;
}

const builtinModules = [fs, module, path, url, util, vm, vm.Script, module.Module];
/** WHY: our own copies hang on these; everything else that globals and hidden intrinsics lead to is replaced. */
const isLeftOut = (value: object) => value === process.env;
const allRoots = () => [globalThis, ...hiddenIntrinsics(), ...builtinModules];

function tampered(hostility: Hostility, roots: readonly unknown[] = allRoots()): object {
  const [hot, cold, reference] = [openWorld(), openWorld(), openWorld()];
  const [before, later] = [emptyAnswers(), emptyAnswers()];
  askAll(hot, before);
  reference.apply(LATER);
  askAll(reference, later);
  const [nowHot, nowCold, nowLater] = [emptyAnswers(), emptyAnswers(), emptyAnswers()];
  const tampering = tamper(hostility, roots, isLeftOut);
  askAll(hot, nowHot);
  askAll(cold, nowCold);
  cold.apply(LATER);
  askAll(cold, nowLater);
  const calls = tampering.calls();
  tampering.restore();
  const codes = [...new Set(before.packed.map((packed) => unpackVerdict(packed).code))];
  return {
    questions: QUESTIONS.length,
    codes,
    replaced: tampering.replaced,
    hostileCalls: calls,
    changed: differences(before, nowHot) + differences(before, nowCold) + differences(later, nowLater),
    changedByFacts: differences(before, later),
  };
}

/** The same engine, imported into this realm: what the private realm saves us from. */
function control(replace: () => { restore(): void }): object {
  const ask = () => {
    const snapshot = new Snapshot({ seed, parseUrl: capturedUrl });
    for (const change of CHANGES) snapshot.apply(change);
    return CONTEXTS.map((context) => new ActiveContext(snapshot, context));
  };
  const questions = QUESTIONS.map(({ pair, target, ask: kind, nowMs }): Question => {
    const parsed = parseAccess({ ...RESOURCE_OPERATIONS[pair]!, target }, capturedUrl);
    return {
      access: parsed.ok ? parsed.value : parsed,
      ask: (["default", "explicit", "passive"] as const)[kind]!,
      nowMs,
    };
  });
  const [before, after] = [ask(), ask()];
  const first = questions.map((question, index) => decide(before[QUESTIONS[index]!.context]!, question).code);
  const second: string[] = questions.map(() => "");
  const tampering = replace();
  for (let index = 0; index < questions.length; index++) {
    const active = after[(QUESTIONS[index] as (typeof QUESTIONS)[number]).context] as ActiveContext;
    current = questions[index] as Question;
    second[index] = decide(active, current).code;
  }
  tampering.restore();
  const opened = second.filter(
    (code, index) => code.startsWith("allowed") && !first[index]!.startsWith("allowed"),
  );
  return { changed: second.filter((code, index) => code !== first[index]).length, opened: opened.length };
}

/** What the attacker asks at the moment; it knows that much of its own call. */
let current: Question | undefined;

function replaceMapGet(): { restore(): void } {
  const original = Map.prototype.get;
  const verdict = Object.freeze({ code: "allowed_rule", allowed: true }) as unknown as Verdict;
  Map.prototype.get = () => ({ access: current?.access, ask: current?.ask, verdict });
  return { restore: () => void (Map.prototype.get = original) };
}

function exhaustStack(): object {
  const realm = openWorld();
  const before = emptyAnswers();
  askAll(realm, before);
  let [asked, refused, wrong] = [0, 0, 0];
  const escaped: unknown[] = [];
  const dive = (padding: number, budget: { left: number }): number => {
    try {
      dive(padding, budget);
    } catch {
      // The edge of the stack: from here on every frame on the way back asks with a little more room.
    }
    if (budget.left-- <= 0) return padding;
    const index = asked++ % QUESTIONS.length;
    const { context, pair, target, ask, nowMs, extras } = QUESTIONS[index]!;
    try {
      const fresh = target.startsWith("https://api") ? `${target}&fresh=${asked}` : target;
      const packed = realm.check(context + 1, pair, fresh, ask, nowMs, extras);
      if (packed === UNAVAILABLE) refused++;
      else if (fresh === target && packed !== before.packed[index]) wrong++;
    } catch (error) {
      escaped.push(error);
    }
    return padding;
  };
  for (let round = 0; round < 200; round++) dive(round, { left: 150 });
  const after = emptyAnswers();
  askAll(realm, after);
  const foreign = escaped.filter((error) => !(error instanceof RangeError)).length;
  return { asked, refused, wrong, escaped: escaped.length, foreign, changed: differences(before, after) };
}

function terminate(): object {
  const realm = openWorld();
  const before = emptyAnswers();
  askAll(realm, before);
  let asked = 0;
  (globalThis as Record<string, unknown>)["attack"] = () => {
    for (;;) {
      const { context, pair, target, ask, nowMs, extras } = QUESTIONS[asked % QUESTIONS.length]!;
      realm.check(context + 1, pair, `${target}${asked++ % 7}`, ask, nowMs, extras);
    }
  };
  let stopped = 0;
  for (let round = 0; round < 60; round++) {
    try {
      vm.runInThisContext("attack()", { timeout: 1 + (round % 3) });
    } catch {
      stopped++;
    }
  }
  const after = emptyAnswers();
  askAll(realm, after);
  return { asked, stopped, changed: differences(before, after) };
}

function refuseObjects(): object {
  const realm = openWorld();
  let touched = 0;
  const touch = () => {
    touched++;
    return "/data/app/a.csv";
  };
  const trap = new Proxy(() => undefined, {
    get: touch,
    apply: touch,
    getPrototypeOf: () => (touched++, null),
    has: () => (touched++, true),
    ownKeys: () => (touched++, []),
  });
  const objects: unknown[] = [
    { toString: touch, valueOf: touch, [Symbol.toPrimitive]: touch },
    {
      get length() {
        return touch();
      },
    },
    trap,
    Object("/data/app/a.csv"),
    ["/data/app/a.csv"],
    Symbol("/data/app/a.csv"),
    10n,
    undefined,
    null,
    true,
    new Date(),
  ];
  let [asked, answered] = [0, 0];
  for (const object of objects) {
    for (let position = 0; position < 6; position++) {
      const args: unknown[] = [1, 3, "/data/app/a.csv", 0, 1000, ""];
      args[position] = object;
      asked++;
      const loose = realm as unknown as Record<string, (...args: unknown[]) => unknown>;
      if (loose["check"]!(...args) !== UNAVAILABLE || loose["explain"]!(...args) !== "") answered++;
    }
    const loose = realm as unknown as Record<string, (arg: unknown) => unknown>;
    if (loose["open"]!(object) !== 0 || loose["close"]!(object) !== false || loose["apply"]!(object) !== "")
      answered++;
  }
  return { asked, answered, touched, revision: realm.revision() };
}

function pollutedBeforeLoad(): object {
  const reference = openWorld();
  const expected = emptyAnswers();
  askAll(reference, expected);
  const applied = JSON.stringify(CHANGES);
  const contexts = CONTEXTS.map((context) => JSON.stringify(context));
  const names =
    "microtaskMode importModuleDynamically cachedData produceCachedData name origin mode allowed address twin".split(
      " ",
    );
  for (const name of names)
    Object.defineProperty(Object.prototype, name, {
      __proto__: null,
      configurable: true,
      value: "default",
    } as PropertyDescriptor);
  const realm = openPrivateRealm({ seed, script });
  realm.apply(applied);
  for (let index = 0; index < contexts.length; index++) realm.open(contexts[index] as string);
  const answers = emptyAnswers();
  askAll(realm, answers);
  for (const name of names) Reflect.deleteProperty(Object.prototype, name);
  return { questions: QUESTIONS.length, changed: differences(expected, answers) };
}

const SCENARIOS: Readonly<Record<string, () => object>> = {
  attacker: () => tampered("attacker"),
  throw: () => tampered("throw"),
  modules: () => tampered("attacker", builtinModules),
  control_throw: () => control(() => tamper("throw", allRoots(), isLeftOut)),
  control_map_get: () => control(replaceMapGet),
  stack: exhaustStack,
  terminate,
  objects: refuseObjects,
  polluted: pollutedBeforeLoad,
  leak: () => attackLeakedError(script, seed),
  control_leak: () => attackLeakedError(script.replace(/Object\.freeze\(value\d*\)/, "0"), seed),
};

const run = SCENARIOS[scenario];
if (run === undefined) throw new Error(`unknown scenario \`${scenario}\``);
fs.writeSync(1, `${JSON.stringify(run())}\n`);
