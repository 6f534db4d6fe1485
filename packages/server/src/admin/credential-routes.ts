/**
 * Credentials of remote hosts as a person hands them out: issued once, listed from the log, taken back. The token is told
 * to whoever issues it and is nowhere kept.
 */
import { type UserId, eventWire } from "@sallyport/contract";
import {
  type CredentialView,
  type CredentialWords,
  credentialPageWire,
  credentialWordsWire,
  doneWire,
  reasonWire,
} from "@sallyport/contract/admin";
import { issuedCredentialWire } from "@sallyport/contract/remote";
import type { AccessService } from "@sallyport/service";
import type { EventRow } from "@sallyport/store";
import type { RuntimeCredentials } from "../runtime-api/runtime-credentials.ts";
import { type AdminRoutes, pageAnswer, pageOf, paramOf } from "./admin-call.ts";
import { timestampOr } from "./policy-routes.ts";

export interface CredentialRouteParts {
  readonly service: AccessService;
  readonly credentials: RuntimeCredentials;
  readonly nowMs: () => number;
}

export function credentialRoutes(parts: CredentialRouteParts): AdminRoutes {
  const { service, credentials } = parts;
  const { overview } = service;
  return [
    {
      method: "GET",
      path: "/runtime-credentials",
      summary: "Credentials of remote hosts that persons issued, from the log; never the token itself",
      query: "pages",
      answer: credentialPageWire,
      handle: async ({ caller, query }) => {
        const filter = { type: "policy.changed", code: "issue_credential" };
        const { rows, next } = await service.list.events(caller, filter, pageOf(query));
        const views = await Promise.all(rows.map((row) => credentialView(parts, row)));
        return pageAnswer({ rows: views.filter((view) => view !== null), next });
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
          const after = {
            credential_id: value.credentialId,
            subjects,
            user_id: grant.userId as number | string | null,
            organization_id: grant.organizationId as number | string | null,
            session_key: grant.sessionKey as string | null,
            key_thumbprint: keyThumbprint,
            ends_at_ms: value.endsAtMs,
          };
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

/** As it was put on record; every field but the first may be missing in rows of before. */
interface Issued {
  readonly credential_id: string;
  readonly subjects?: readonly { readonly type: string; readonly name: string; readonly phase: string }[];
  readonly user_id?: number | string | null;
  readonly organization_id?: number | string | null;
  readonly session_key?: string | null;
  readonly key_thumbprint?: string;
  readonly ends_at_ms?: number;
}

/** `null`: a row that this version does not understand is left out, not guessed at. */
async function credentialView(
  { credentials, nowMs }: CredentialRouteParts,
  { body, timeMs, userId }: EventRow,
): Promise<CredentialView | null> {
  const event = eventWire.parse(JSON.parse(body));
  if (!event.ok || event.value.type !== "policy.changed" || event.value.data.after === null) return null;
  const issued = JSON.parse(event.value.data.after) as Issued;
  if (typeof issued.credential_id !== "string") return null;
  const { credential_id: credentialId, ends_at_ms: endsAtMs = timeMs } = issued;
  const isRevoked = await credentials.isRevoked({ tokenId: credentialId, credentialId, issuedAtMs: timeMs });
  return {
    credentialId,
    subjects: (issued.subjects ?? []).map(({ type, name, phase }) => ({
      subject: { type, name },
      phase,
    })) as unknown as CredentialView["subjects"],
    userId: (issued.user_id ?? null) as CredentialView["userId"],
    organizationId: (issued.organization_id ?? null) as CredentialView["organizationId"],
    sessionKey: (issued.session_key ?? null) as CredentialView["sessionKey"],
    keyThumbprint: issued.key_thumbprint ?? "",
    issuedBy: userId as UserId | null,
    issuedAt: timestampOr(timeMs) as CredentialView["issuedAt"],
    endsAt: timestampOr(endsAtMs) as CredentialView["endsAt"],
    state: endsAtMs <= nowMs() ? "ended" : isRevoked ? "revoked" : "live",
  };
}
