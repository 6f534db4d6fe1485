/**
 * A URL that the host allows for one call: a contract beside those of the active subject, gone with the call.
 * Must never cover more than that URL, nor outlive the call.
 */
import { type CallerFrame, type OperationOf, type UrlParser, oneOffRules } from "@sallyport/contract";
import type { PolicyLink } from "./policy-link.ts";
import { plainRule } from "./real-rules.ts";
import { type OneOff, type RegistryRefusal, refusal } from "./registry-answer.ts";

export type OneOffOperation = OperationOf<"network">;

interface OneOffParts {
  readonly link: PolicyLink;
  readonly parseUrl: UrlParser;
  readonly newContractId: () => string;
}

export function openOneOff(
  { link, parseUrl, newContractId }: OneOffParts,
  url: unknown,
  operation: OneOffOperation,
): OneOff | RegistryRefusal {
  const { rules, faults } = oneOffRules(url, parseUrl, operation);
  const [fault] = faults;
  if (fault !== undefined) return refusal("invalid_url", `${fault.message}: pass the whole URL of the call`);
  const id = newContractId();
  const access = Object.freeze(rules.map((rule) => plainRule(rule, rule.target)));
  const remove = { kind: "contract_removed", id } as const;
  if (!link.applyAll([{ kind: "contract_set", contract: Object.freeze({ id, access }) }], [remove]))
    return refusal("unavailable", "the URL could not be handed on to the policy: try again");
  let isOpen = true;
  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    link.applyAll([remove]);
  };
  return Object.freeze({ ok: true, contract: id, end });
}

/** The same frame for that one call: the subject stays. */
export function withOneOff(frame: CallerFrame, { contract }: OneOff): CallerFrame {
  return Object.freeze({ ...frame, contracts: Object.freeze([...frame.contracts, contract]) });
}
