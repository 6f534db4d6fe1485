/**
 * Local accounts as administrators see and change them, and one's own password. Authority comes first; a link and a
 * password are told once or never, and neither is on record.
 */
import {
  type AccountAccess,
  type Invite,
  type NewAccount,
  type OwnPassword,
  accountAccessWire,
  accountLinkWordsWire,
  accountPageWire,
  accountWire,
  disableAccountWire,
  doneWire,
  inviteWire,
  invitedWire,
  newAccountWire,
  newPasswordWire,
  ownPasswordWire,
  reasonWire,
} from "@sallyport/contract/admin";
import type { AccessService } from "@sallyport/service";
import { Problem } from "../problem.ts";
import type { Accounts } from "../sign-in/accounts.ts";
import type { AttemptLimit } from "../sign-in/attempt-limit.ts";
import type { SignInBook } from "../sign-in/sign-in-book.ts";
import { type AdminCall, type AdminRoutes, pageAnswer, pageOf, paramOf } from "./admin-call.ts";
import { linkUrl } from "./link-url.ts";

export interface AccountRouteParts {
  readonly service: AccessService;
  readonly accounts: Accounts;
  readonly signIns: SignInBook;
  readonly origin: () => string;
}

const INVITE_TTL_MS = 86_400_000;

/** @param byName how often a password may be tried for one name, wherever it is tried */
export function accountRoutes(parts: AccountRouteParts, byName: AttemptLimit): AdminRoutes {
  const { service, accounts } = parts;
  return [
    {
      method: "GET",
      path: "/accounts",
      summary: "Local accounts",
      query: "pages",
      answer: accountPageWire,
      handle: async ({ caller, query }) => {
        await service.overview.authorize(caller);
        return pageAnswer(await accounts.list(pageOf(query)));
      },
    },
    {
      method: "POST",
      path: "/accounts",
      summary: "Make a local account",
      body: newAccountWire,
      answer: accountWire,
      handle: async ({ caller, body }) => {
        // WHY: hashing takes a while, and is not done for whoever may not ask.
        await service.overview.authorize(caller);
        return accounts.create(caller, body as NewAccount);
      },
    },
    ...invitationRoutes(parts),
    ...changeRoutes(parts),
    ownPasswordRoute(parts, byName),
  ];
}

function invitationRoutes(parts: AccountRouteParts): AdminRoutes {
  const { accounts } = parts;
  return [
    {
      method: "POST",
      path: "/accounts/invite",
      summary: "Make a local account without a password, and the one-time link that its person comes in by",
      body: inviteWire,
      answer: invitedWire,
      handle: async (call) => {
        const words = call.body as Invite;
        mustListen(parts);
        const { id } = await accounts.invite(call.caller, words);
        return madeLink(parts, call, id, words.ttlMs);
      },
    },
    {
      method: "POST",
      path: "/accounts/:id/link",
      summary: "Make a one-time link for the person of an account",
      body: accountLinkWordsWire,
      answer: invitedWire,
      handle: async (call) => {
        mustListen(parts);
        const { ttlMs } = call.body as { readonly ttlMs?: number };
        return madeLink(parts, call, paramOf(call, "id"), ttlMs);
      },
    },
  ];
}

async function madeLink(
  { service, accounts, signIns, origin }: AccountRouteParts,
  call: AdminCall,
  id: string,
  ttlMs = INVITE_TTL_MS,
): Promise<object> {
  const { account, known } = await accounts.byId(call.caller, id);
  if (known.disabled)
    throw new Problem({ code: "store_conflict", detail: "the account is disabled: enable it first" });
  await service.overview.act(call.caller, "set_account", async () => ({
    value: true,
    before: null,
    after: { sign_in_link_for: account.name, id: account.id },
  }));
  const hold = { name: account.name, epoch: known.epoch };
  const { token, expiresAt } = await signIns.makeLink(known.facts, "link", ttlMs, hold);
  return { account, link: { url: linkUrl(origin(), token), expiresAt } };
}

function changeRoutes({ accounts }: AccountRouteParts): AdminRoutes {
  return [
    {
      method: "POST",
      path: "/accounts/:id/access",
      summary: "Change the roles and the organization of an account; holds from its next call on",
      body: accountAccessWire,
      answer: accountWire,
      handle: (call) => accounts.setAccess(call.caller, paramOf(call, "id"), call.body as AccountAccess),
    },
    {
      method: "POST",
      path: "/accounts/:id/password",
      summary: "Set the password of an account; its sign-ins end",
      body: newPasswordWire,
      answer: accountWire,
      handle: (call) => {
        const { password } = call.body as { readonly password: string };
        return accounts.setPassword(call.caller, paramOf(call, "id"), password);
      },
    },
    {
      method: "POST",
      path: "/accounts/:id/end-sign-ins",
      summary: "End every sign-in of an account, and its links that were not used",
      body: reasonWire,
      answer: accountWire,
      handle: (call) => {
        const { reason } = call.body as { readonly reason?: string };
        return accounts.endSignIns(call.caller, paramOf(call, "id"), reason);
      },
    },
    {
      method: "POST",
      path: "/accounts/:id/disable",
      summary: "Disable or enable an account; its sign-ins end",
      body: disableAccountWire,
      answer: accountWire,
      handle: (call) => {
        const words = call.body as { readonly disabled: boolean; readonly reason?: string };
        return accounts.disable(call.caller, paramOf(call, "id"), words);
      },
    },
  ];
}

/** INVARIANT: a sign-in that somebody else got hold of does not get the account: the present password is asked for. */
function ownPasswordRoute({ accounts }: AccountRouteParts, byName: AttemptLimit): AdminRoutes[number] {
  return {
    method: "POST",
    path: "/session/password",
    summary: "Set one's own password; every sign-in of the account ends, also this one",
    body: ownPasswordWire,
    answer: doneWire,
    handle: async ({ caller, person, body }) => {
      const name = person?.account;
      if (name === undefined)
        throw new Problem({
          code: "permission_error",
          detail: "you did not come in by a local account: it has no password here",
        });
      const { password, present } = body as OwnPassword;
      if (person?.way !== "link") {
        if (!byName.take(name))
          throw new Problem({
            code: "request_limit",
            detail: "too many tries with a password: wait, then try again",
          });
        if (present === undefined || (await accounts.verified(name, present)) === null)
          throw new Problem({ code: "permission_error", detail: "the present password is not right" });
        byName.forgive(name);
      }
      if ((await accounts.setOwnPassword(caller, name, password)) === null)
        throw new Problem({ code: "store_conflict", detail: "the account changed meanwhile: try again" });
      return {};
    },
  };
}

function mustListen({ origin }: AccountRouteParts): void {
  if (origin() === "")
    throw new Problem({ code: "unavailable", detail: "the server does not listen: start it first" });
}
