/**
 * `copyFile` where it is asynchronous: a file may be large, so one of Node's threads copies it, from and to places that are
 * pinned. Where nothing can be pinned the call is made at once; then Node says why it cannot be done, too.
 */
import type { AnyFunction } from "../any-function.ts";
import { constants } from "node:fs";
import { SafeMap } from "@sallyport/gate/captured";
import { bare, freeze, inNextTurn } from "../captured.ts";
import { withinNow } from "../within-context.ts";
import { type Act, type Told, atOnce, requireSteady } from "./at-once.ts";
import { asWritten } from "./as-written.ts";
import { nativeFs } from "./native-fs.ts";
import { type Pin, canPin, pinFile, pinName } from "./pinned-place.ts";

const { copyFile, copyFileSync } = nativeFs;
const { COPYFILE_EXCL } = constants;
/** WHY: each takes two descriptors, and Node has four threads to copy with. */
const COPIES_MAX = 16;

const now = atOnce(copyFileSync as AnyFunction);
const waiting = new SafeMap<number, () => void>();
let arrived = 0;
let underWay = 0;

export const copyFileAct: Act = (args, told) => {
  const mode = args[2];
  if (!canPin || typeof mode !== "number") now(args, told);
  else if (underWay < COPIES_MAX) begin(args as Copy, told);
  else {
    const within = withinNow();
    waiting.set(arrived++, () => within(() => begin(args as Copy, told)));
  }
};

type Copy = readonly [source: string, target: string, mode: number];

function begin(args: Copy, told: Told): void {
  const source = args[0];
  const target = args[1];
  const mode = args[2];
  const from = pinFile(source);
  // WHY: what is new is opened exclusively, which follows no link.
  const to =
    from === undefined ? undefined : (mode & COPYFILE_EXCL) === 0 ? pinFile(target) : pinName(target);
  if (from === undefined || to === undefined) {
    from?.release();
    unpinned(args, told);
    return;
  }
  underWay++;
  copyFile(from.path, to.path, mode, (error) => {
    end(from, to);
    told(asWritten(asWritten(error, from.path, source), to.path, target));
  });
}

function unpinned(args: Copy, told: Told): void {
  try {
    requireReal(args[0], args);
    requireReal(args[1], args);
  } catch (error) {
    inNextTurn(told, error, undefined);
    return;
  }
  now(args, told);
}

function requireReal(path: string, args: Copy): void {
  const places = freeze([bare({ path, requested: path, exists: true })]);
  requireSteady(bare({ places, facts: bare({ syscall: "copyfile", path: args[0], dest: args[1] }) }));
}

function end(from: Pin, to: Pin): void {
  from.release();
  to.release();
  underWay--;
  if (waiting.size === 0) return;
  const first = waiting.oldest();
  const next = waiting.get(first);
  waiting.delete(first);
  next?.();
}
