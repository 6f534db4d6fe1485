/**
 * Sign-in at an identity provider: authorization code with PKCE, state and nonce, bound to the browser that began it.
 * What the provider says becomes roles by an exact table of the host; nothing it says becomes a role by itself.
 * The way back ends in a one-time link of this server, so that no cookie of a sign-in is set by a page of somebody else.
 */
import type { Hono } from "hono";
import * as oidc from "openid-client";
import { ANSWER_HEADERS, Problem, malformed } from "../problem.ts";
import { cookieValue } from "./cookie.ts";
import type { PersonFacts } from "./person.ts";
import { isSameSecret, newToken } from "./secret-token.ts";
import type { SignInBook } from "./sign-in-book.ts";

export interface OidcOptions {
  /** Https, or http on this machine. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** `openid profile` unless said. */
  readonly scope?: string | undefined;
  /** Which claim holds what roles are made from; `groups` unless said. */
  readonly rolesClaim?: string | undefined;
  /** From an exact value of the claim to the roles it gives. */
  readonly roles: Readonly<Record<string, readonly string[]>>;
  /** Which claim names the organization; a person who has one decides nothing for others. */
  readonly organizationClaim?: string | undefined;
}

interface OidcParts {
  readonly options: OidcOptions;
  readonly signIns: SignInBook;
  readonly origin: () => string;
  readonly nowMs: () => number;
}

interface Begun {
  readonly verifier: string;
  readonly nonce: string;
  readonly untilMs: number;
}

const BEGUN_MS = 600_000;
const BEGUN_MAX = 1000;
const LINK_MS = 60_000;
const CALLBACK = "/v1/sign-in/oidc/callback";
const COOKIE = "sallyport_oidc";

export function addOidcRoutes(app: Hono, { options, signIns, origin, nowMs }: OidcParts): void {
  const begun = new Map<string, Begun>();
  let discovered: Promise<oidc.Configuration> | undefined;
  const configuration = (): Promise<oidc.Configuration> => {
    discovered ??= discover(options).catch((error: unknown) => {
      discovered = undefined;
      throw error;
    });
    return discovered;
  };

  app.get("/v1/sign-in/oidc/start", async () => {
    const config = await configuration().catch(() => {
      throw new Problem({
        code: "unavailable",
        detail: "the identity provider cannot be reached: try again",
      });
    });
    forget(begun, nowMs());
    const state = newToken();
    const verifier = oidc.randomPKCECodeVerifier();
    const nonce = oidc.randomNonce();
    begun.set(state, { verifier, nonce, untilMs: nowMs() + BEGUN_MS });
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: `${origin()}${CALLBACK}`,
      scope: options.scope ?? "openid profile",
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
      nonce,
    });
    return redirect(url.href, cookie(state, BEGUN_MS, origin()));
  });

  app.get(CALLBACK, async (c) => {
    const asked = new URL(c.req.url);
    const state = asked.searchParams.get("state") ?? "";
    const held = begun.get(state);
    begun.delete(state);
    const bound = cookieValue(c.req.raw.headers, COOKIE) ?? "";
    if (held === undefined || held.untilMs <= nowMs() || !isSameSecret(bound, state))
      throw malformed("this sign-in was not begun in this browser, or too long ago: begin again");
    const facts = await verified(
      await configuration(),
      options,
      held,
      state,
      `${origin()}${CALLBACK}${asked.search}`,
    );
    const { token } = await signIns.makeLink(facts, "oidc", LINK_MS);
    return redirect(`${origin()}/#token=${token}`, cookie("", 0, origin()));
  });
}

function discover({ issuer, clientId, clientSecret }: OidcOptions): Promise<oidc.Configuration> {
  const url = new URL(issuer);
  const isLocal = url.hostname === "127.0.0.1" || url.hostname === "[::1]" || url.hostname === "localhost";
  const execute = isLocal && url.protocol === "http:" ? [oidc.allowInsecureRequests] : [];
  return oidc.discovery(url, clientId, clientSecret, undefined, { execute });
}

async function verified(
  config: oidc.Configuration,
  options: OidcOptions,
  { verifier, nonce }: Begun,
  state: string,
  url: string,
): Promise<PersonFacts> {
  const checks = {
    pkceCodeVerifier: verifier,
    expectedNonce: nonce,
    expectedState: state,
    idTokenExpected: true,
  };
  const tokens = await oidc.authorizationCodeGrant(config, new URL(url), checks).catch(() => {
    throw new Problem({
      code: "invalid_credential",
      detail: "the identity provider did not confirm the sign-in",
    });
  });
  const claims = tokens.claims();
  if (claims === undefined)
    throw new Problem({ code: "invalid_credential", detail: "the identity provider named nobody" });
  const name = claims["name"] ?? claims["preferred_username"] ?? claims.sub;
  return {
    id: `oidc:${claims.sub}`.slice(0, 256),
    name: (typeof name === "string" && name !== "" ? name : claims.sub).slice(0, 256),
    roles: rolesOf(claims, options),
    accessLevel: null,
    organizationId: organizationOf(claims, options),
  };
}

/** INVARIANT: exact values, own properties; what the table does not hold gives nothing. */
function rolesOf(
  claims: Readonly<Record<string, unknown>>,
  { rolesClaim = "groups", roles }: OidcOptions,
): string[] {
  const given = Object.hasOwn(claims, rolesClaim) ? claims[rolesClaim] : undefined;
  const values: readonly unknown[] = Array.isArray(given) ? given : [given];
  return values.flatMap((value) =>
    typeof value === "string" && Object.hasOwn(roles, value) ? (roles[value] ?? []) : [],
  );
}

/** A claim that is there and makes no sense is an organization that nobody has: it scopes. */
function organizationOf(
  claims: Readonly<Record<string, unknown>>,
  { organizationClaim }: OidcOptions,
): number | string | null {
  if (organizationClaim === undefined || !Object.hasOwn(claims, organizationClaim)) return null;
  const value = claims[organizationClaim];
  if (value === null) return null;
  return typeof value === "number" || (typeof value === "string" && value !== "") ? value : "unreadable";
}

/** INVARIANT: leads to the provider or to this server, never to where a call says. */
function redirect(location: string, setCookie: string): Response {
  return new Response(null, {
    status: 302,
    headers: { ...ANSWER_HEADERS, location, "set-cookie": setCookie },
  });
}

/** WHY lax: the way back comes from the provider's page. It says who began, and signs nobody in. */
function cookie(state: string, maxAgeMs: number, origin: string): string {
  const secure = origin.startsWith("https:") ? "; Secure" : "";
  return `${COOKIE}=${state}; Path=/v1/sign-in/oidc; Max-Age=${maxAgeMs / 1000}; HttpOnly; SameSite=Lax${secure}`;
}

function forget(begun: Map<string, Begun>, nowMs: number): void {
  for (const [state, { untilMs }] of begun) if (untilMs <= nowMs) begun.delete(state);
  while (begun.size >= BEGUN_MAX) {
    const [oldest] = begun.keys();
    if (oldest === undefined) return;
    begun.delete(oldest);
  }
}
