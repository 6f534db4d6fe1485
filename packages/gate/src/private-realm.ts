/**
 * Opens the private realm in which contract and policy decide, and holds its one function.
 * Must be opened before foreign code runs: from then on nothing that foreign code can replace is used.
 * Only strings and numbers cross, in either direction; everything else is refused on this side and on the other.
 */
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { type Border, NO_ANSWER, OP, UNAVAILABLE } from "@sallyport/policy/realm";
import { capturedUrl } from "./captured-url.ts";

// WHY: copies, since the exports of built-in modules can be replaced after this file was imported.
const { readFileSync } = fs;
const { Script, constants, createContext } = vm;

export interface PrivateRealmOptions {
  /** Two secret 32-bit numbers behind the index; drawn anew for every process. */
  readonly seed: readonly [number, number];
  /** The script, for hosts that carry it with them; read from beside this file where absent. */
  readonly script?: string;
  /** What V8 made of the script once; what it does not take it makes anew. */
  readonly cachedData?: Uint8Array | undefined;
}

/** Methods need no `this` and never throw. Text that comes back empty means that there is no answer. */
export interface PrivateRealm {
  /** Applies a JSON list of changes; the JSON text of `Applied`. */
  apply(changes: string): string;
  /** A context as JSON text; a handle from 1 on, or 0 where it was refused. */
  open(context: string): number;
  close(handle: number): boolean;
  /** A packed verdict; see `unpackVerdict` and `isAllowed`. An empty target is an invalid one. */
  check(handle: number, pair: number, target: string, ask: number, nowMs: number, extras: string): number;
  /** JSON text of the verdict of the last check, its references included. */
  verdict(): string;
  /** JSON text of the explanation of a check. */
  explain(handle: number, pair: number, target: string, ask: number, nowMs: number, extras: string): string;
  /** Revision of the facts, or -1 where it cannot be told. */
  revision(): number;
}

type Boot = (hostUrl: (text: string) => unknown, seedLow: number, seedHigh: number) => Border;

export function openPrivateRealm(options: PrivateRealmOptions): PrivateRealm {
  const context = createContext(
    constants.DONT_CONTEXTIFY,
    bare({ codeGeneration: bare({ strings: false, wasm: false }) }),
  );
  const source = options.script ?? readRealmScript();
  const cachedData = Object.hasOwn(options, "cachedData") ? options.cachedData : undefined;
  const script = new Script(source, bare({ filename: "sallyport:realm", cachedData }));
  const boot = script.runInContext(context) as Boot;
  return hold(boot(capturedUrl, options.seed[0] | 0, options.seed[1] | 0));
}

/** The script that `npm run build` makes; the same place seen from source and from the compiled package. */
export function readRealmScript(): string {
  return readFileSync(fileURLToPath(new URL("../dist/realm-script.js", import.meta.url)), "utf8");
}

/** INVARIANT: `border` stays in this closure; what is returned has no prototype and cannot be changed. */
function hold(border: Border): PrivateRealm {
  function cross(
    op: number,
    handle: number,
    pair: number,
    target: string,
    ask: number,
    nowMs: number,
    extras: string,
  ): number | string {
    try {
      const isPlain =
        typeof handle === "number" &&
        typeof pair === "number" &&
        typeof target === "string" &&
        typeof ask === "number" &&
        typeof nowMs === "number" &&
        typeof extras === "string";
      if (isPlain) return border(op, handle, pair, target, ask, nowMs, extras);
    } catch {
      // INVARIANT: nothing is called here: an error of the realm ends in this place even when the stack is full.
    }
    return op === OP.check ? UNAVAILABLE : NO_ANSWER;
  }
  const realm: PrivateRealm = {
    apply: (changes) => text(cross(OP.apply, 0, 0, changes, 0, 0, "")),
    open: (context) => {
      const handle = cross(OP.open, 0, 0, context, 0, 0, "");
      return typeof handle === "number" && handle > 0 ? handle : 0;
    },
    close: (handle) => cross(OP.close, handle, 0, "", 0, 0, "") === 1,
    check: (handle, pair, target, ask, nowMs, extras) => {
      const packed = cross(OP.check, handle, pair, target, ask, nowMs, extras);
      return typeof packed === "number" ? packed : UNAVAILABLE;
    },
    verdict: () => text(cross(OP.verdict, 0, 0, "", 0, 0, "")),
    explain: (handle, pair, target, ask, nowMs, extras) =>
      text(cross(OP.explain, handle, pair, target, ask, nowMs, extras)),
    revision: () => {
      const revision = cross(OP.revision, 0, 0, "", 0, 0, "");
      return typeof revision === "number" ? revision : NO_ANSWER;
    },
  };
  return Object.freeze(bare(realm));
}

function text(answer: number | string): string {
  return typeof answer === "string" ? answer : "";
}

/** WHY: options that are absent must not be found on a polluted `Object.prototype`. */
function bare<T extends object>(value: T): T {
  return Object.setPrototypeOf(value, null) as T;
}
