/** What stands, and taking it back: approvals, denials, rules, mode, freeze. */
import { type Timestamp, type UserId } from "@sallyport/contract";
import {
  type FreezeWordsView,
  type ModeWordsView,
  type RuleView,
  changeAnswerWire,
  denialPageWire,
  freezeViewWire,
  freezeWordsWire,
  grantPageWire,
  modeViewWire,
  modeWordsWire,
  reasonWire,
  rulePageWire,
  ruleWordsWire,
} from "@sallyport/contract/admin";
import {
  type AccessService,
  type ChangeAnswer,
  type Freeze,
  type RuleWords,
  deciderId,
  ruleFact,
} from "@sallyport/service";
import type { RuleRow } from "@sallyport/store";
import {
  type AdminCall,
  type AdminRoutes,
  filterOf,
  pageAnswer,
  pageOf,
  paramOf,
  wholePage,
} from "./admin-call.ts";

export function policyRoutes(service: AccessService): AdminRoutes {
  const { overview } = service;
  return [
    {
      method: "GET",
      path: "/approvals",
      summary: "Approvals with their last use",
      scope: "policy",
      query: "approvals",
      answer: grantPageWire,
      handle: async ({ caller, query }) =>
        pageAnswer(await overview.grants(caller, filterOf(query), pageOf(query))),
    },
    takingBack("/approvals/:id/revoke", "Revoke an approval", (caller, words) =>
      service.revokeApproval(caller, words),
    ),
    {
      method: "GET",
      path: "/denials",
      summary: "Denials",
      scope: "policy",
      query: "denials",
      answer: denialPageWire,
      handle: async ({ caller, query }) =>
        pageAnswer(await overview.denials(caller, filterOf(query), pageOf(query))),
    },
    takingBack("/denials/:id/revoke", "Revoke a denial: it can be asked for again", (caller, words) =>
      service.revokeDenial(caller, words),
    ),
    {
      method: "GET",
      path: "/rules",
      summary: "Every rule of host policy",
      scope: "policy",
      answer: rulePageWire,
      handle: async ({ caller }) => wholePage((await service.list.rules(caller)).map(ruleView)),
    },
    {
      method: "POST",
      path: "/rules",
      summary: "Set a rule",
      body: ruleWordsWire,
      answer: changeAnswerWire,
      handle: async ({ caller, body }) => changed(await service.setRule(caller, body as RuleWords)),
    },
    takingBack("/rules/:id/remove", "Remove a rule", (caller, words) => service.removeRule(caller, words)),
    ...modeRoutes(service),
  ];
}

function modeRoutes(service: AccessService): AdminRoutes {
  const { overview } = service;
  return [
    {
      method: "GET",
      path: "/mode",
      summary: "The mode of the service",
      scope: "policy",
      answer: modeViewWire,
      handle: async ({ caller }) => {
        const { mode, modeExpiresAtMs } = await overview.state(caller);
        return { mode, expiresAt: timestampOr(modeExpiresAtMs) };
      },
    },
    {
      method: "POST",
      path: "/mode",
      summary: "Set the mode of the service",
      body: modeWordsWire,
      answer: changeAnswerWire,
      handle: async ({ caller, body }) => changed(await service.setMode(caller, body as ModeWordsView)),
    },
    {
      method: "GET",
      path: "/freeze",
      summary: "Whether everything outside the allowlist is refused",
      scope: "policy",
      answer: freezeViewWire,
      handle: async ({ caller }) => freezeView((await overview.state(caller)).freeze),
    },
    {
      method: "POST",
      path: "/freeze",
      summary: "Refuse everything outside the allowlist at once, or lift that",
      body: freezeWordsWire,
      answer: changeAnswerWire,
      handle: async ({ caller, body }) => changed(await service.setFreeze(caller, body as FreezeWordsView)),
    },
  ];
}

type Revoke = (
  caller: AdminCall["caller"],
  words: { readonly id: string; readonly reason?: string | undefined },
) => Promise<ChangeAnswer>;

function takingBack(path: string, summary: string, revoke: Revoke): AdminRoutes[number] {
  return {
    method: "POST",
    path,
    summary,
    body: reasonWire,
    answer: changeAnswerWire,
    handle: async (call) => {
      const { reason } = call.body as { readonly reason?: string };
      return changed(await revoke(call.caller, { id: paramOf(call, "id"), reason }));
    },
  };
}

/** Only what travels. */
export function changed(answer: ChangeAnswer & { readonly ruleId?: string }): object {
  if (!answer.ok) return { ok: false, code: answer.code, message: answer.message };
  const { actionId, revision, repeated, ruleId } = answer;
  return { ok: true, actionId, revision, repeated, ...(ruleId === undefined ? {} : { ruleId }) };
}

export function freezeView({ frozen, reason, changedBy, changedMs }: Freeze): object {
  return { frozen, reason, changedBy, changedAt: timestampOr(changedMs) };
}

export const timestampOr = (ms: number | null): Timestamp | null =>
  ms === null ? null : (new Date(ms).toISOString() as Timestamp);

function ruleView(row: RuleRow): RuleView {
  return {
    rule: ruleFact(row) as unknown as RuleView["rule"],
    createdBy: deciderId(row.createdBy) as UserId | null,
    createdAt: timestampOr(row.createdMs) as Timestamp,
  };
}
