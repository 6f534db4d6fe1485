/**
 * Runs the engine beside the reference model on generated cases. Each world is built in random order and by detours
 * (facts that come and go), so that the incremental index is compared too; each question is asked three times, so
 * that memory is.
 */
import { PERMISSION_MODES, type PermissionMode, type UrlParser, whatwgUrl } from "@sallyport/contract";
import { ActiveContext } from "../active-context.ts";
import type { Change } from "../change.ts";
import { decide } from "../decide.ts";
import { explain } from "../explain.ts";
import type { AccessRule } from "../question.ts";
import { Snapshot } from "../snapshot.ts";
import type { Verdict } from "../verdict.ts";
import { type Case, type Random, makeCase, prng } from "./arbitrary-world.ts";
import { type ReferenceVerdict, type World, referenceDecide } from "./reference-decide.ts";

export interface Disagreement {
  /** Replays the case: `makeCase(prng(seed))`. */
  readonly seed: number;
  readonly mode: PermissionMode;
  readonly engine: ReferenceVerdict;
  readonly reference: ReferenceVerdict;
  readonly how: "first" | "second" | "third" | "explained";
}

export interface Comparison {
  readonly cases: number;
  readonly disagreements: readonly Disagreement[];
}

export interface ComparisonOptions {
  readonly cases: number;
  /** Seed of the first world; the others follow it. */
  readonly first: number;
  readonly onProgress?: (done: number) => void;
}

const DISAGREEMENTS_MAX = 5;
const PROGRESS_EVERY = 10_000;

export function compareCases(options: ComparisonOptions): Comparison {
  const disagreements: Disagreement[] = [];
  let done = 0;
  let shown = 0;
  for (let seed = options.first; done < options.cases && disagreements.length < DISAGREEMENTS_MAX; seed++) {
    disagreements.push(...compareCase(seed | 0));
    done += PERMISSION_MODES.length;
    if (done - shown < PROGRESS_EVERY) continue;
    shown = done;
    options.onProgress?.(done);
  }
  return { cases: done, disagreements };
}

/** One world and question in every mode: as many cases as there are modes, for the price of one index. */
export function compareCase(seed: number): Disagreement[] {
  const random = prng(seed);
  const { world, context, question } = makeCase(random);
  const snapshot = buildSnapshot(world, random);
  const modes = [context.mode, ...PERMISSION_MODES.filter((mode) => mode !== context.mode)];
  return modes.flatMap((mode) => {
    const there = { ...context, mode };
    const reference = referenceDecide(world, there, question);
    const active = new ActiveContext(snapshot, there);
    const answers: [Disagreement["how"], Verdict][] = [
      ["first", decide(active, question)],
      ["second", decide(active, question)],
      ["third", decide(active, question)],
      ["explained", explain(active, question).verdict],
    ];
    const wrong = answers.filter(([, verdict]) => !isSame(verdict, reference));
    return wrong.map(([how, verdict]) => ({ seed, mode, how, engine: essence(verdict), reference }));
  });
}

/** A case in full, for `npm run fuzz -- --replay`. @public */
export function describeCase(seed: number): Case & { readonly reference: ReferenceVerdict } {
  const made = makeCase(prng(seed));
  return { ...made, reference: referenceDecide(made.world, made.context, made.question) };
}

function essence({ code, frame, limited, registers }: Verdict): ReferenceVerdict {
  return { code, frame, limited, registers };
}

function isSame(verdict: Verdict, reference: ReferenceVerdict): boolean {
  return (
    verdict.code === reference.code &&
    verdict.frame === reference.frame &&
    verdict.limited === reference.limited &&
    verdict.registers === reference.registers
  );
}

/** Facts in random order; some are set, removed and set again, some set twice. */
export function buildSnapshot(world: World, random: Random, parseUrl: UrlParser = whatwgUrl): Snapshot {
  const snapshot = new Snapshot({ seed: [random() * 2 ** 32, random() * 2 ** 32], parseUrl });
  for (const { set, removed } of shuffled(factsOf(world), random)) {
    snapshot.apply(set);
    const detour = random();
    if (detour < 0.15 && removed !== undefined) {
      snapshot.apply(removed);
      snapshot.apply(set);
    } else if (detour < 0.25 && set.kind !== "builtin_set") {
      snapshot.apply(set);
    }
  }
  return snapshot;
}

interface Fact {
  readonly set: Change;
  readonly removed: Change | undefined;
}

const SCRATCH = new Snapshot({ seed: [0, 0], parseUrl: whatwgUrl });

/** WHY: the reference passes over a declared rule that cannot be parsed; the engine refuses its contract whole. */
function factsOf(world: World): Fact[] {
  const isSound = (rule: AccessRule): boolean =>
    SCRATCH.apply({ kind: "contract_set", contract: { id: "one rule", access: [rule] } }).ok;
  return [
    ...world.contracts.map((contract): Fact => {
      const sound = { ...contract, access: contract.access.filter(isSound) };
      return {
        set: { kind: "contract_set", contract: sound },
        removed: { kind: "contract_removed", id: contract.id },
      };
    }),
    ...world.registrations.map((registration): Fact => ({
      set: { kind: "subject_registered", registration },
      removed: { kind: "subject_unregistered", subject: registration.subject },
    })),
    ...world.builtins.map((builtin): Fact => ({ set: { kind: "builtin_set", builtin }, removed: undefined })),
    ...world.rules.map((rule): Fact => ({
      set: { kind: "rule_set", rule },
      removed: { kind: "rule_removed", id: rule.id },
    })),
    ...world.approvals.map((approval): Fact => ({
      set: { kind: "approval_set", approval },
      removed: { kind: "approval_removed", id: approval.id },
    })),
    ...world.denials.map((denial): Fact => ({
      set: { kind: "denial_set", denial },
      removed: { kind: "denial_removed", id: denial.id },
    })),
  ];
}

function shuffled<T>(items: T[], random: Random): T[] {
  for (let index = items.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    [items[index], items[other]] = [items[other] as T, items[index] as T];
  }
  return items;
}
