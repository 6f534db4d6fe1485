/** Asking without consequence: what would happen to a subject that asked. */
import { type CallerContext, type UrlParser, parseAccess } from "@sallyport/contract";
import { type Trial, trialAnswerWire, trialWire } from "@sallyport/contract/admin";
import type { AccessService } from "@sallyport/service";
import type { FrameOf } from "../runtime-api/remote-caller.ts";
import { NOBODY } from "../sign-in/person.ts";
import type { AdminRoutes } from "./admin-call.ts";

export interface TrialRouteParts {
  readonly service: AccessService;
  readonly frameOf: FrameOf;
  readonly parseUrl: UrlParser;
}

export function trialRoutes({ service, frameOf, parseUrl }: TrialRouteParts): AdminRoutes {
  const { overview } = service;
  return [
    {
      method: "POST",
      path: "/check",
      summary: "What would happen if this subject asked; registers nothing",
      scope: "check",
      isQuick: true,
      body: trialWire,
      answer: trialAnswerWire,
      handle: async ({ caller, body }) => {
        const { subject, phase = "runtime", resource, session, explain = false } = body as Trial;
        await overview.authorize(caller);
        // WHY: a policy is tested before its subjects are there; who is not registered has declared nothing.
        const frame = frameOf(subject, phase) ?? { subject, phase, contracts: [] };
        const as = trialCaller({ ...frame, entry: "host" }, session);
        const { type: resourceType, operation, target } = resource;
        const parsed = parseAccess({ resourceType, operation, target }, parseUrl);
        const access = parsed.ok ? parsed.value : parsed;
        return overview.tryAccess(caller, as, { access, requested: resource }, { explain });
      },
    },
  ];
}

/** The subject as it would stand: its own frame, and the session that was named, without any role. */
function trialCaller(frame: CallerContext["frames"][number], session: Trial["session"]): CallerContext {
  const userId = session?.userId ?? null;
  return {
    ...NOBODY,
    frames: [frame],
    user: userId === null ? null : { id: userId, roles: [], accessLevel: null },
    organizationId: session?.organizationId ?? null,
    sessionKey: session?.sessionKey ?? null,
    credential: "runtime",
  };
}
