/**
 * What would happen if a subject asked, and why: the same judgement as a check, without its consequences. Registers,
 * spends and records nothing. For persons with authority.
 */
import type { ExternalAccessCheck } from "@sallyport/contract";
import { ActiveContext, type Explanation, explain } from "@sallyport/policy";
import { maskMessage } from "./audit/event-masking.ts";
import { type Ask, type CallerContext, isAccess, policyContext } from "./caller-context.ts";
import { Judge } from "./judge.ts";
import type { NodeParts } from "./node-parts.ts";
import { nodeState } from "./node-state.ts";
import { requireAuthority } from "./require-authority.ts";

export interface TrialAnswer {
  readonly check: ExternalAccessCheck;
  readonly explanation: {
    readonly because: string;
    readonly steps: readonly string[];
    readonly remedies: readonly string[];
  } | null;
}

/** @param as the subject as it would stand: its frames come from the host's registry */
export async function tryAccess(
  parts: NodeParts,
  caller: CallerContext,
  as: CallerContext,
  ask: Pick<Ask, "access" | "requested">,
  options: { readonly explain: boolean },
): Promise<TrialAnswer> {
  await requireAuthority(parts, caller, "list");
  const asked: Ask = { ...ask, registerRequest: false, attestedBy: "service", enforced: false };
  const judged = await new Judge(parts).judge(as, asked, false);
  const explanation = options.explain && isAccess(ask.access) ? explained(parts, as, asked) : null;
  return Object.freeze({ check: judged.answer(null), explanation });
}

function explained(parts: NodeParts, as: CallerContext, { access }: Ask): TrialAnswer["explanation"] {
  const context = policyContext(as, nodeState(parts));
  const active = new ActiveContext(parts.live.snapshot, context);
  const { because, steps, remedies } = explain(active, {
    access,
    ask: "default",
    nowMs: parts.clock.nowMs(),
  });
  return Object.freeze({
    because: maskMessage(because, parts.maskingKey),
    steps: steps.map(({ frame, step, result, ref }) => {
      const found = ref === undefined ? "" : ` (${ref})`;
      return `frame ${frame}: ${step.replaceAll("_", " ")}: ${result}${found}`;
    }),
    remedies: remedies.map((remedy) => maskMessage(remedyText(remedy), parts.maskingKey)),
  });
}

function remedyText(remedy: Explanation["remedies"][number]): string {
  switch (remedy.kind) {
    case "fix_question":
      return remedy.message;
    case "enter_subject":
      return "call from inside a subject that the host entered";
    case "name_active_subject":
      return `name the active subject ${remedy.subject.type} ${remedy.subject.name}, or none`;
    case "declare": {
      const { resourceType, operation, target } = remedy.rule;
      return `declare ${resourceType} ${operation} \`${target}\` for ${remedy.subject.type} ${remedy.subject.name}`;
    }
    case "approve_session":
      return `approve it for the session of ${remedy.subject.type} ${remedy.subject.name}`;
    case "approve_permanently":
      return `approve it permanently for ${remedy.subject.type} ${remedy.subject.name}`;
    case "lift_denial":
      return `revoke the denial ${remedy.ref}`;
    case "remove_rule":
      return `remove the rule ${remedy.ref}`;
    case "change_mode":
      return `change the mode ${remedy.mode}`;
    case "ask_explicitly":
      return "ask with `require`";
    case "restore_service":
      return "wait until the service can vouch for approvals again";
  }
}
