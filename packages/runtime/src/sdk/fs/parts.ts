/**
 * The parts of one file operation, each with the real path that it is about. All must pass before anything is done, and
 * every blocked one is told. What is done goes to the path that was checked, never to the text that was handed in.
 * Not a wall: between the check and the act another process can change what a path leads to.
 */
import { lstatSync } from "node:fs";
import {
  type ExternalAccessCheck,
  ExternalAccessError,
  type OperationOf,
  type PathResolution,
  accessTo,
} from "@sallyport/contract";
import { throwBlocked } from "../access-result.ts";
import { askEnforced, normalized } from "../ask-access.ts";
import type { SdkGround } from "../sdk-ground.ts";

export type PathInput = string | URL | Uint8Array;
export type FileOperation = OperationOf<"filesystem">;
type Ending = PathResolution["lastLink"];

/** A place: where the path leads, and what was written. */
export interface Place {
  readonly path: string;
  readonly requested: string;
  /** Something is there; a link that is itself the target counts. */
  readonly exists: boolean;
}

export interface Part {
  readonly operation: FileOperation;
  readonly place: Place;
}

/** Reads the argument once. A path that leads nowhere is refused by the service, which also records it. */
export async function placeOf(ground: SdkGround, input: PathInput, ending: Ending): Promise<Place> {
  const operation = ending === "keep" ? "delete" : "read";
  const question = { resourceType: "filesystem", operation, target: input, lastLink: ending };
  const what = normalized(ground, question);
  const requested = textOf(input);
  if (!("code" in what.access)) {
    const path: string = what.access.target.text;
    // WHY: where a guard decides, a look is a read of its own, and the guard sees for itself what is there.
    return { path, requested, exists: ground.isGuarded || isThere(path) };
  }
  const form = { type: "filesystem", operation, target: requested };
  throw new ExternalAccessError(await askEnforced(ground, what, { requested: form }));
}

/** A path below a place, as it was listed. */
export function below(place: Place, name: string): Place {
  const path = `${place.path === "/" ? "" : place.path}/${name}`;
  return { path, requested: path, exists: true };
}

export function createOrModify(place: Place): Part {
  return { operation: place.exists ? "modify" : "create", place };
}

/** Resolves where every part passes; throws one error that names all that do not. */
export async function requireParts(ground: SdkGround, parts: readonly Part[]): Promise<void> {
  // WHY: looked at first, so that a counted approval of one part is not spent where another one blocks the call.
  const looks = parts.length > 1 ? await inTurn(parts, (part) => check(ground, part, "passive")) : [];
  const isOpen = (index: number): boolean => looks[index]?.allowed === true;
  const enforce = (part: Part): Promise<ExternalAccessCheck> => check(ground, part, "enforced");
  throwBlocked(
    await inTurn(
      parts.filter((_, index) => !isOpen(index)),
      enforce,
    ),
  );
  throwBlocked(
    await inTurn(
      parts.filter((_, index) => isOpen(index)),
      enforce,
    ),
  );
}

/** Whether an operation would pass at a place now. */
export async function wouldPass(ground: SdkGround, part: Part): Promise<boolean> {
  return (await check(ground, part, "passive")).allowed;
}

function check(
  ground: SdkGround,
  { operation, place }: Part,
  how: "passive" | "enforced",
): Promise<ExternalAccessCheck> {
  const { path, requested, exists } = place;
  const targets = { ...ground.targets, realPath: asItIs };
  const question = { resourceType: "filesystem", operation, target: path };
  const what = normalized({ ...ground, targets }, question);
  const access =
    "code" in what.access ? what.access : withRequested(what.access.target, operation, requested);
  const form = { type: "filesystem", operation, target: requested };
  return askEnforced(ground, { ...what, access }, { requested: form, exists, passive: how === "passive" });
}

/** WHY: the path is real already; resolving it again would follow a link that is itself the target. */
function asItIs(realPath: string): string {
  return realPath;
}

function withRequested(target: Parameters<typeof accessTo>[1], operation: string, requested: string) {
  const access = accessTo(operation, Object.freeze({ ...target, requested }));
  return access.ok ? access.value : access;
}

async function inTurn<T, R>(list: readonly T[], fn: (value: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (const value of list) results.push(await fn(value));
  return results;
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function textOf(input: PathInput): string {
  if (typeof input === "string") return input;
  return input instanceof URL ? input.href : Buffer.from(input).toString("utf8");
}
