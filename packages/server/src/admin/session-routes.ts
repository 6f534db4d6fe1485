/**
 * Signing in and out, who is signed in, and the accounts behind it. A sign-in that fails says no more than that it
 * failed, is on record, and is slow to try again.
 */
import {
  type GuideView,
  type AdminSession,
  type SignInLinkWords,
  type SignInWay,
  adminSessionWire,
  doneWire,
  linkSignInWire,
  passwordSignInWire,
  reasonWire,
  signInLinkWire,
  signInLinkWordsWire,
} from "@sallyport/contract/admin";
import type { AccessService } from "@sallyport/service";
import { Problem, jsonResponse } from "../problem.ts";
import type { Accounts } from "../sign-in/accounts.ts";
import { AttemptLimit, SIGN_IN_LIMITS } from "../sign-in/attempt-limit.ts";
import { cookieText, endedCookie, signInCookie } from "../sign-in/cookie.ts";
import { HashingBusyError } from "../sign-in/password-hash.ts";
import { type Person, strangerCaller } from "../sign-in/person.ts";
import type { SignInBook, StartedSignIn } from "../sign-in/sign-in-book.ts";
import { accountRoutes } from "./account-routes.ts";
import type { AdminCall, AdminRoutes } from "./admin-call.ts";
import { linkUrl } from "./link-url.ts";
import { timestampOr } from "./policy-routes.ts";

export interface SessionRouteParts {
  readonly service: AccessService;
  readonly accounts: Accounts;
  readonly signIns: SignInBook;
  /** What the server is reached by; empty where it does not listen. */
  readonly origin: () => string;
  readonly version: string;
  readonly ways: readonly SignInWay[];
  readonly guide?: (() => GuideView) | undefined;
  readonly nowMs: () => number;
}

/** Everybody together: hashing is expensive. */
const EVERYBODY = "everybody";
const EVERYBODY_LIMITS = { burst: 100, everyMs: 500, keysMax: 4 };

export function sessionRoutes(parts: SessionRouteParts): AdminRoutes {
  const { signIns, nowMs } = parts;
  const byName = new AttemptLimit(SIGN_IN_LIMITS, nowMs);
  const byAnybody = new AttemptLimit(EVERYBODY_LIMITS, nowMs);
  const admitted = (name: string | null): void => {
    if (byAnybody.take(EVERYBODY) && (name === null || byName.take(name))) return;
    throw new Problem({ code: "request_limit", detail: "too many tries to sign in: wait, then try again" });
  };
  return [
    {
      method: "GET",
      path: "/session",
      summary: "Who is signed in, and what this server is",
      answer: adminSessionWire,
      open: true,
      handle: async ({ person }) => sessionOf(parts, person),
    },
    {
      method: "POST",
      path: "/sign-in/link",
      summary: "Sign in with the token of a one-time link",
      body: linkSignInWire,
      answer: adminSessionWire,
      open: true,
      handle: async ({ body }) => {
        admitted(null);
        const { token } = body as { readonly token: string };
        return entered(parts, "a link", await signIns.byLink(token));
      },
    },
    {
      method: "POST",
      path: "/sign-in/password",
      summary: "Sign in with a local account",
      body: passwordSignInWire,
      answer: adminSessionWire,
      open: true,
      handle: async ({ body }) => {
        const { name, password } = body as { readonly name: string; readonly password: string };
        admitted(name);
        const started = await signIns.byPassword(name, password).catch((error: unknown) => {
          if (!(error instanceof HashingBusyError)) throw error;
          throw new Problem({ code: "request_limit", detail: "too many sign-ins at a time: try again" });
        });
        if (started !== null) byName.forgive(name);
        return entered(parts, name, started);
      },
    },
    ...signedInRoutes(parts),
    ...accountRoutes(parts, byName),
  ];
}

function signedInRoutes(parts: SessionRouteParts): AdminRoutes {
  const { signIns } = parts;
  return [
    {
      method: "POST",
      path: "/sign-out",
      summary: "End this sign-in",
      body: reasonWire,
      answer: doneWire,
      handle: async ({ person }) => {
        if (person !== null) await signIns.end(person);
        return withCookie(jsonResponse({}), endedCookie(signInCookie(parts.origin())));
      },
    },
    {
      method: "POST",
      path: "/sign-in/links",
      summary: "Make a one-time link for an administrator",
      body: signInLinkWordsWire,
      answer: signInLinkWire,
      handle: (call) => madeLink(parts, call),
    },
  ];
}

/** The id of whoever comes in by a link that was made for an administrator. */
const ADMINISTRATOR = "administrator:";

export const administratorFacts = (name: string) => ({
  id: `${ADMINISTRATOR}${name}`,
  name,
  roles: ["super"],
  accessLevel: null,
  organizationId: null,
});

async function madeLink({ service, signIns, origin }: SessionRouteParts, call: AdminCall): Promise<object> {
  const { name, ttlMs } = call.body as SignInLinkWords;
  const link = await service.overview.act(call.caller, "set_account", async () => {
    const after = { sign_in_link_for: name };
    return { value: true, before: null, after };
  });
  if (link === null || origin() === "")
    throw new Problem({ code: "unavailable", detail: "the server does not listen: start it first" });
  const { token, expiresAt } = await signIns.makeLink(administratorFacts(name), "link", ttlMs);
  return { url: linkUrl(origin(), token), expiresAt };
}

async function entered(
  parts: SessionRouteParts,
  who: string,
  started: StartedSignIn | null,
): Promise<Response> {
  if (started === null) {
    await parts.service.overview.refusedSignIn(strangerCaller(who.slice(0, 128)), "the sign-in is not valid");
    throw new Problem({
      code: "invalid_credential",
      detail: "that did not sign you in: check what you entered, or ask for a new link",
    });
  }
  const { token, person } = started;
  const lastsMs = (person.expiresAtMs ?? 0) - parts.nowMs();
  const answer = jsonResponse(adminSessionWire.format(sessionOf(parts, person)));
  return withCookie(answer, cookieText(signInCookie(parts.origin()), token, lastsMs));
}

function withCookie(response: Response, cookie: string): Response {
  response.headers.append("set-cookie", cookie);
  return response;
}

function sessionOf(parts: SessionRouteParts, person: Person | null): AdminSession {
  const { service, version, origin, ways } = parts;
  const { overview } = service;
  const mayDecide = person !== null && overview.mayDecide(person.caller);
  const facts = mayDecide ? overview.stateUnchecked() : null;
  return {
    user: person === null ? null : (person.facts as NonNullable<AdminSession["user"]>),
    way: person?.way ?? null,
    hasAccount: person?.account !== undefined,
    mayDecide,
    expiresAt: timestampOr(person?.expiresAtMs ?? null),
    csrfToken: person?.csrfToken ?? null,
    server: {
      version,
      node: overview.nodeId,
      engine: overview.engine,
      origin: origin() === "" ? "none" : origin(),
      signInWays: ways,
      ...(facts === null
        ? {}
        : {
            live: facts.live,
            revision: Math.max(0, facts.revision),
            mode: facts.mode,
            frozen: facts.freeze.frozen,
            guided: parts.guide !== undefined,
          }),
    },
  };
}
