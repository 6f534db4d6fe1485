/**
 * What the surfaces of the guard stand on. Made once by the preload, before foreign code, and handed to nobody else.
 */
import type { MessagePort } from "node:worker_threads";
import { type Branch, pathText } from "@sallyport/gate";
import type { Actor } from "./acting.ts";
import { beginsWith, charCodeAt } from "./captured.ts";
import type { Decider } from "./decide-call.ts";
import type { Hatchway } from "./open-hatch.ts";

const SLASH = 0x2f;

export interface Ground {
  readonly decider: Decider;
  /** Who acts now. */
  readonly actor: () => Actor;
  /** The descriptor of the gate: nobody but its worker reads or writes it. */
  readonly gateFd: number;
  /** Real folders, without a closing slash, from which code is loaded without a question. */
  readonly codeRoots: readonly string[];
  /** The kernel holds the rules as well: it sees where a link leads, and the guard does not look again. */
  readonly isConfined: boolean;
  /** What Node itself does next on behalf of a decision that was made; see `imports/load-code.ts`. */
  readonly loading: Loading;
  readonly imports: Imports;
  /** See `open-hatch.ts`. */
  readonly hatchway: Hatchway;
  /** How a Node that this process starts is guarded: the file of the guard, and what it is told. */
  readonly launch: { readonly preload: string; readonly facts: string };
  /** A gate for a program that is about to start. `undefined`: there is none, and it must not start unguarded. */
  openBranch(): Branch | undefined;
  /** The same for a thread. */
  openBranchPort(): MessagePort | undefined;
}

/** Sensitive imports of the subject that acts, by the name that a manifest lists. */
export interface Imports {
  readonly listed: readonly string[];
  allows(listed: string): boolean;
  /** One of them was used; told where the host wants to know. */
  note(listed: string): void;
}

/** INVARIANT: each expectation is for one path and holds once. */
export interface Loading {
  /** The module loader reads this real path next, as code. `undefined`: it reads nothing. */
  expectCode(path: string | undefined): void;
  takeCode(path: unknown): boolean;
  /** The arguments of `readFile` are those of the module loader, for code. */
  isImport(args: readonly unknown[]): boolean;
}

export function isCode({ codeRoots }: Pick<Ground, "codeRoots">, path: string): boolean {
  for (let index = 0; index < codeRoots.length; index++) {
    const root = codeRoots[index] as string;
    if (beginsWith(path, root) && (path.length === root.length || charCodeAt(path, root.length) === SLASH))
      return true;
  }
  return false;
}

/** @param isImport see {@link Loading} */
export function openLoading(isImport: Loading["isImport"]): Loading {
  let expected: string | undefined;
  return Object.freeze<Loading>({
    isImport,
    expectCode: (path) => void (expected = path),
    takeCode: (path) => {
      const isExpected = expected !== undefined && pathText(path) === expected;
      expected = undefined;
      return isExpected;
    },
  });
}
