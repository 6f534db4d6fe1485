/**
 * Whether the examples of a manifest hold. Asks the engine that will decide: with the entry alone for what it is meant
 * to match, with the whole list for what must not match. Changes nothing and allows nothing.
 */
import {
  type ManifestFault,
  type ManifestRule,
  type RuleExample,
  type Subject,
  type UrlParser,
  parseSubject,
  quoted,
} from "@sallyport/contract";
import { ActiveContext } from "./active-context.ts";
import { decide } from "./decide.ts";
import { PLAIN_CONTEXT } from "./question.ts";
import type { HashSeed } from "./seeded-hash.ts";
import { Snapshot } from "./snapshot.ts";

export interface ExampleResult {
  readonly example: RuleExample;
  readonly list: "match" | "no_match";
  readonly holds: boolean;
}

const WHOLE = "whole";

/** One result for each example, in the order of the list. `access`: the rules of one phase. */
export function tryExamples(
  access: readonly ManifestRule[],
  { seed, parseUrl }: { readonly seed: HashSeed; readonly parseUrl: UrlParser },
): readonly ExampleResult[] {
  if (!access.some((rule) => Object.hasOwn(rule, "examples"))) return [];
  const snapshot = new Snapshot({ seed, parseUrl });
  snapshot.apply({ kind: "contract_set", contract: { id: WHOLE, access } });
  const whole = new ActiveContext(snapshot, contextOf(WHOLE));
  const results: ExampleResult[] = [];
  for (const rule of access) {
    const examples = Object.hasOwn(rule, "examples") ? rule.examples : undefined;
    if (examples === undefined) continue;
    snapshot.apply({ kind: "contract_set", contract: { id: rule.pointer, access: [rule] } });
    const alone = new ActiveContext(snapshot, contextOf(rule.pointer));
    for (const example of examples.match)
      results.push({ example, list: "match", holds: isAllowed(alone, example) });
    for (const example of examples.noMatch)
      results.push({ example, list: "no_match", holds: !isAllowed(whole, example) });
  }
  return results;
}

/** A fault for each example that does not hold: such a manifest does not mean what its author thinks. */
export function exampleFaults(
  access: readonly ManifestRule[],
  options: { readonly seed: HashSeed; readonly parseUrl: UrlParser },
): readonly ManifestFault[] {
  return tryExamples(access, options)
    .filter(({ holds }) => !holds)
    .map(({ example, list }) => {
      const shown = quoted(example.declared);
      return Object.freeze({
        pointer: example.pointer,
        ...(list === "match"
          ? {
              message: `${shown} is not matched by the entry that it is an example of`,
              instead: "correct the target of the entry, or the example",
            }
          : {
              message: `${shown} is matched by an entry of this list, and must not be`,
              instead: "make that entry narrower, or remove the example",
            }),
      });
    });
}

function isAllowed(active: ActiveContext, { access }: RuleExample): boolean {
  return decide(active, { access, ask: "passive", nowMs: 0 }).code === "allowed_sandbox";
}

/** WHY not the subject of the manifest: host code would be allowed without any rule. */
const SUBJECT = exampleSubject();

function exampleSubject(): Subject {
  const parsed = parseSubject("tool", "example");
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

function contextOf(contract: string) {
  return {
    frames: [{ subject: SUBJECT, phase: "runtime" as const, entry: "host" as const, contracts: [contract] }],
    ...PLAIN_CONTEXT,
  };
}
