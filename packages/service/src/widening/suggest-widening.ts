/**
 * What an approver may choose instead of the exact target, from narrow to wide, each with examples of what it would
 * and would not cover. Generators propose; the policy engine decides what is offered and on which side an example goes.
 */
import {
  type Access,
  type Target,
  type UrlParser,
  accessTo,
  parseTarget,
  withHost,
} from "@sallyport/contract";
import { ApprovalTrial, type KnownFacts } from "./approval-trial.ts";
import { networkCandidates } from "./network-widening.ts";
import { type PathFacts, pathCandidates } from "./path-widening.ts";
import { type Candidate, type Suggestion, visible } from "./suggestion.ts";

export interface WideningOptions extends Partial<PathFacts> {
  readonly parseUrl: UrlParser;
  /** What the host knew when the access was blocked: it decides then as it will later. */
  readonly known?: KnownFacts | undefined;
  /** How targets are written in labels and examples; mask credentials here. Hidden characters are made visible after it. */
  readonly show?: ((text: string) => string) | undefined;
}

const EXAMPLES_MAX = 3;

/** The first one is exact. Empty only where not even an exact approval would let the access through. */
export function suggestWidenings(access: Access, options: WideningOptions): readonly Suggestion[] {
  const own = verified(access, candidatesFor(access.target, options), options);
  if (own.length > 0) return own;
  // WHY: a name that leads to a local address is opened by the address only.
  const { target } = access;
  const address = options.known?.address;
  const isNamed = target.form === "url" || target.form === "endpoint";
  if (!isNamed || address === undefined) return own;
  return verified(access, networkCandidates(withHost(target, address)), options);
}

function candidatesFor(target: Target, options: WideningOptions): readonly Candidate[] {
  switch (target.resourceType) {
    case "network":
      return networkCandidates(target);
    case "filesystem":
      return pathCandidates(target.text, { isFolder: options.isFolder ?? false, homes: options.homes ?? [] });
    case "system_dependency":
      return [{ target: target.text, match: "exact", label: "only this program", wide: false, examples: [] }];
  }
}

/** INVARIANT: nothing is offered that the policy engine would not let the request through for. */
function verified(
  access: Access,
  candidates: readonly Candidate[],
  options: WideningOptions,
): readonly Suggestion[] {
  const suggestions = candidates.flatMap((candidate) => {
    const trial = new ApprovalTrial(access, candidate, options.parseUrl);
    if (!trial.covers(access, options.known)) return [];
    return [suggestionOf(access, candidate, trial, options)];
  });
  return Object.freeze(suggestions);
}

function suggestionOf(
  access: Access,
  { target, match, label, wide, examples }: Candidate,
  trial: ApprovalTrial,
  options: WideningOptions,
): Suggestion {
  const show = (text: string): string => visible(options.show?.(text) ?? text);
  const covers = [access.target.text as string];
  const not: string[] = [];
  for (const example of examples) {
    const parsed = parseTarget(access.resourceType, example, options.parseUrl);
    const asked = parsed.ok ? accessTo(access.operation, parsed.value) : parsed;
    if (!asked.ok) continue;
    const side = trial.covers(asked.value) ? covers : not;
    const { text } = asked.value.target;
    if (!side.includes(text) && side.length < EXAMPLES_MAX) side.push(text);
  }
  return Object.freeze({
    target,
    match,
    label: show(label),
    wide,
    covers: Object.freeze(covers.map(show)),
    not: Object.freeze(not.map(show)),
  });
}
