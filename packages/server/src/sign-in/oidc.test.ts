import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type OidcProvider, startOidcProvider } from "../testing/obtain-oidc-provider.ts";
import { PersonBrowser, tokenOf } from "../testing/person-browser.ts";
import { type ServerFixture, openServer } from "../testing/server-fixture.ts";

let provider: OidcProvider;
let fixture: ServerFixture;

const CLAIMS: Readonly<Record<string, object>> = {
  anna: { name: "Anna", groups: ["approvers", "others"] },
  mallory: { name: "Mallory", groups: ["Approvers", "approvers ", "super", "__proto__", "constructor"] },
  olga: { name: "Olga", groups: ["approvers"], organization: 0 },
};

beforeEach(async () => {
  // WHY: the provider says at length that it is set up for tests.
  for (const level of ["info", "warn"] as const) vi.spyOn(console, level).mockImplementation(() => undefined);
  provider = await startOidcProvider();
  const { issuer, clientId, clientSecret } = provider;
  const oidc = {
    issuer,
    clientId,
    clientSecret,
    roles: { approvers: ["super"] },
    organizationClaim: "organization",
  };
  fixture = await openServer({ admin: { oidc } });
  await provider.serve(`${fixture.origin}/v1/sign-in/oidc/callback`, (login) => CLAIMS[login] ?? {});
});
afterEach(async () => {
  expect(fixture.faults).toEqual([]);
  await fixture.close();
  await provider.close();
  vi.restoreAllMocks();
});

/** A browser with cookies for every host, that follows redirects and fills in the forms of the provider. */
class Tab {
  readonly #cookies = new Map<string, Map<string, string>>();
  readonly visited: string[] = [];

  /** Goes on until it is led back to the server's own page; that address. */
  async signIn(start: string, login: string): Promise<string> {
    let url = start;
    let form: URLSearchParams | undefined;
    for (let step = 0; step < 20; step++) {
      if (new URL(url).hash !== "") return url;
      const response = await this.get(url, form);
      form = undefined;
      const location = response.headers.get("location");
      if (location !== null) {
        url = new URL(location, url).href;
        continue;
      }
      const page = await response.text();
      const [, action] = /<form[^>]*action="([^"]+)"/.exec(page) ?? [];
      if (action === undefined) return `${response.status} ${page}`;
      const [, prompt = ""] = /name="prompt" value="([^"]+)"/.exec(page) ?? [];
      url = new URL(action, url).href;
      form = new URLSearchParams({ prompt, ...(prompt === "login" ? { login, password: "any" } : {}) });
    }
    throw new Error("the sign-in went in circles");
  }

  async get(url: string, form?: URLSearchParams): Promise<Response> {
    const { host } = new URL(url);
    this.visited.push(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, {
      redirect: "manual",
      headers: cookie === "" ? {} : { cookie },
      ...(form === undefined ? {} : { method: "POST", body: form }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      const mark = pair.indexOf("=");
      const name = pair.slice(0, mark);
      const value = pair.slice(mark + 1);
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }
}

const start = (): string => `${fixture.origin}/v1/sign-in/oidc/start`;

describe("sign-in at an identity provider", () => {
  it("brings in a person whose group has a role, and says that it is a way to come in", async () => {
    const browser = new PersonBrowser(fixture.origin);
    expect((await browser.send("/v1/session")).json).toMatchObject({
      server: { sign_in_ways: ["link", "password", "oidc"] },
    });
    const back = await new Tab().signIn(start(), "anna");
    expect(back.startsWith(`${fixture.origin}/#token=`)).toBe(true);
    const answer = await browser.signIn({ token: tokenOf(back) });
    expect(answer.json).toMatchObject({
      user: { id: "oidc:anna", name: "Anna", roles: ["super"], organization_id: null },
      way: "oidc",
      may_decide: true,
    });
    expect((await browser.send("/v1/requests")).status).toBe(200);
    const endsMs = Date.parse(String(answer.json["expires_at"]));
    expect(endsMs - Date.now()).toBeLessThanOrEqual(8 * 3_600_000);
  });

  it.each(["mallory", "olga", "nobody"])(
    "attack: role look-alikes and organizations: %s comes in and decides nothing",
    async (login) => {
      const browser = new PersonBrowser(fixture.origin);
      await browser.signIn({ token: tokenOf(await new Tab().signIn(start(), login)) });
      expect((await browser.send("/v1/session")).json).toMatchObject({ may_decide: false, way: "oidc" });
      expect((await browser.send("/v1/requests")).status).toBe(403);
    },
  );

  it("attack: the way back in another browser, twice, or made up signs nobody in", async () => {
    const tab = new Tab();
    await tab.signIn(start(), "anna");
    const callback = tab.visited.find((url) => url.includes("/oidc/callback")) ?? "";
    expect(callback).not.toBe("");
    const used = new URL(callback).searchParams.get("state") ?? "";
    const again = await fetch(callback, {
      redirect: "manual",
      headers: { cookie: `sallyport_oidc=${used}` },
    });
    expect([again.status, again.headers.get("location")]).toEqual([400, null]);
    const begun = await fetch(start(), { redirect: "manual" });
    const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state") ?? "";
    const stolen = new URL(callback);
    stolen.searchParams.set("state", state);
    const other = await fetch(stolen, { redirect: "manual" });
    expect([other.status, other.headers.get("location")]).toEqual([400, null]);
    const forged = await fetch(start(), { redirect: "manual" });
    const cookie = forged.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const own = new URL(forged.headers.get("location") ?? "").searchParams.get("state") ?? "";
    const made = `${fixture.origin}/v1/sign-in/oidc/callback?code=made-up&state=${own}&iss=${encodeURIComponent(provider.issuer)}`;
    const refused = await fetch(made, { redirect: "manual", headers: { cookie } });
    expect([refused.status, refused.headers.get("location")]).toEqual([401, null]);
  });

  it("attack: open redirect: where a person is sent never comes from the call", async () => {
    const begun = await fetch(`${start()}?return_to=https://evil.example&redirect_uri=https://evil.example`, {
      redirect: "manual",
    });
    const location = new URL(begun.headers.get("location") ?? "");
    expect(location.origin).toBe(provider.issuer);
    expect(location.searchParams.get("redirect_uri")).toBe(`${fixture.origin}/v1/sign-in/oidc/callback`);
    expect(location.searchParams.get("code_challenge_method")).toBe("S256");
  });
});
