/**
 * For a process that the kernel holds to the same file rules, with every call trapped: a synchronous call cannot wait for a
 * person, the kernel can. So what is allowed or undecided is left to the kernel, which asks, waits and counts; what is denied
 * is told here, where the error says why.
 * Must never be used without that wall: it lets undecided calls through.
 */
import type { AccessPart } from "./access-part.ts";
import { append, bare, freeze } from "./captured.ts";
import type { Decider } from "./decide-call.ts";

export function leftToKernel(decider: Decider): Decider {
  return freeze<Decider>(
    bare({
      ...decider,
      now: (parts, facts) => {
        const own: AccessPart[] = [];
        for (let index = 0; index < parts.length; index++) {
          const part = parts[index] as AccessPart;
          if (part.resourceType === "network" || !isLeft(decider.codeOf(part))) append(own, part);
        }
        if (own.length > 0) decider.now(own, facts);
      },
    }),
  );
}

type Code = ReturnType<Decider["codeOf"]>;

/** Allowed or undecided. A bare table: a polluted prototype adds nothing to it. */
const LEFT: Partial<Readonly<Record<Code, true>>> = freeze(
  bare({
    allowed_setup: true,
    allowed_sandbox: true,
    allowed_session: true,
    allowed_permanent: true,
    allowed_rule: true,
    allowed_mode: true,
    approval_required: true,
  } as const),
);

function isLeft(code: Code): boolean {
  return LEFT[code] === true;
}
