/** Asking without consequence, and credentials of remote hosts as a person hands them out. */
import { type CallerContext, type UrlParser, parseAccess } from "@sallyport/contract";
import {
  type CredentialWords,
  type Trial,
  credentialWordsWire,
  doneWire,
  reasonWire,
  trialAnswerWire,
  trialWire,
} from "@sallyport/contract/admin";
import { issuedCredentialWire } from "@sallyport/contract/remote";
import type { AccessService } from "@sallyport/service";
import type { FrameOf } from "../runtime-api/remote-caller.ts";
import type { RuntimeCredentials } from "../runtime-api/runtime-credentials.ts";
import { personCaller } from "../sign-in/person.ts";
import { type AdminRoutes, paramOf } from "./admin-call.ts";

export interface TrialRouteParts {
  readonly service: AccessService;
  readonly frameOf: FrameOf;
  readonly parseUrl: UrlParser;
  readonly credentials: RuntimeCredentials;
}

export function trialRoutes({ service, frameOf, parseUrl, credentials }: TrialRouteParts): AdminRoutes {
  const { overview } = service;
  return [
    {
      method: "POST",
      path: "/check",
      summary: "What would happen if this subject asked; registers nothing",
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
    {
      method: "POST",
      path: "/runtime-credentials",
      summary: "Issue a short-lived credential for a remote host, bound to its key and to this server",
      body: credentialWordsWire,
      answer: issuedCredentialWire,
      handle: async ({ caller, body }) => {
        const { grant, keyThumbprint, reason } = body as CredentialWords;
        const issued = await overview.act(caller, "issue_credential", async () => {
          const value = await credentials.issue(grant, keyThumbprint);
          const subjects = grant.subjects.map(({ subject, phase }) => ({
            type: subject.type,
            name: subject.name as string,
            phase,
          }));
          const after = { credential_id: value.credentialId, subjects, ends_at_ms: value.endsAtMs };
          return { value, reason, before: null, after };
        });
        return issued;
      },
    },
    {
      method: "POST",
      path: "/runtime-credentials/:id/revoke",
      summary: "Revoke a credential and everything it was renewed into",
      body: reasonWire,
      answer: doneWire,
      handle: async (call) => {
        const id = paramOf(call, "id");
        const { reason } = call.body as { readonly reason?: string };
        await overview.act(call.caller, "revoke_credential", async () => {
          await credentials.revoke(id);
          return { value: true, reason, before: { credential_id: id }, after: null };
        });
        return {};
      },
    },
  ];
}

/** The subject as it would stand: its own frame, and the session that was named, without any role. */
function trialCaller(frame: CallerContext["frames"][number], session: Trial["session"]): CallerContext {
  const nobody = personCaller({ id: "", name: "", roles: [], accessLevel: null, organizationId: null });
  const userId = session?.userId ?? null;
  return {
    ...nobody,
    frames: [frame],
    user: userId === null ? null : { id: userId, roles: [], accessLevel: null },
    organizationId: session?.organizationId ?? null,
    sessionKey: session?.sessionKey ?? null,
    credential: "runtime",
  };
}
