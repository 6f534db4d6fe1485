/**
 * Hands the gate of this process to the runtime in it, once: to the first who asks for it outside of every subject that the
 * program runs. Nothing of it is the guard's own object, so that whoever holds it changes no decision by replacing a method.
 * Must never take who acts from the words of a question.
 */
import {
  type AskWords,
  HATCH_MODULE,
  GUARD_MODULE,
  type GateHatch,
  type HostedTerms,
  type SyncGateClient,
  realPath,
} from "@sallyport/gate";
import type { ActingNow } from "./acting.ts";
import { append, bare, freeze } from "./captured.ts";

/** What a name of the guard's own stands for; `undefined` for every other name. */
export type Hatchway = (name: unknown) => { readonly exports: unknown } | undefined;

const PRESENT = freeze(bare({ exports: freeze(bare({})) }));
const TAKEN = freeze(bare({ exports: undefined }));

/** @param opened the program's own code has it: subjects may be run from here on */
export function openHatchway(gate: SyncGateClient, acting: ActingNow, opened: () => void): Hatchway {
  let isTaken = false;
  return (name) => {
    if (name === GUARD_MODULE) return PRESENT;
    if (name !== HATCH_MODULE) return undefined;
    // INVARIANT: a subject that is run finds none, taken or not.
    if (isTaken || acting.now().hosted !== undefined) return TAKEN;
    isTaken = true;
    const hatch = openHatch(gate, acting);
    opened();
    return freeze(bare({ exports: hatch }));
  };
}

function openHatch(gate: SyncGateClient, acting: ActingNow): GateHatch {
  const stage = acting.open();
  const mine = (words: AskWords): AskWords => {
    const { hosted, entered } = acting.now();
    return { ...words, hosted, entered };
  };
  const { hosted } = gate.terms;
  return freeze(
    bare<GateHatch>({
      hosted: namesOf(hosted),
      isLive: () => gate.isLive,
      acting: () => {
        const { hosted: names, entered } = acting.now();
        return freeze(bare({ hosted: names, entered }));
      },
      run: (subject, fn) => stage.run(subject, fn),
      enter: (subject, fn) => stage.enter(subject, fn),
      bind: (fn) => stage.bind(fn),
      realPath: (path, ending) => realPath(path, ending),
      check: (words, options) => gate.check(mine(words), options),
      require: (words, options) => gate.require(mine(words), options),
      facts: () => gate.facts(),
      state: () => {
        const { entered, hosted: names } = acting.now();
        return gate.state(entered, names);
      },
      decided: (requestId, waitMs, signal) => gate.decided(requestId, waitMs, signal, acting.now().hosted),
    }),
  );
}

function namesOf(hosted: readonly HostedTerms[]): GateHatch["hosted"] {
  const names: { readonly type: string; readonly name: string }[] = [];
  for (let index = 0; index < hosted.length; index++) {
    const { type, name } = (hosted[index] as HostedTerms).subject;
    append(names, freeze(bare({ type, name })));
  }
  return freeze(names);
}
