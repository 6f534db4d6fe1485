/** At an identity provider and back, in a browser: from signing in to an approval, and who comes in without being able to. */
import { afterAll, expect, it, vi } from "vitest";
import { startOidcProvider } from "../../packages/server/src/testing/obtain-oidc-provider.ts";
import { PERSON, consoleOfFile } from "./console-fixture.ts";
import type { Page } from "./browser-page.ts";

const CLAIMS: Readonly<Record<string, object>> = {
  anna: { name: "Anna", groups: ["approvers"] },
  mallory: { name: "Mallory", groups: ["Approvers", "super"] },
};

// WHY: the provider says at length that it is set up for tests.
for (const level of ["info", "warn"] as const) vi.spyOn(console, level).mockImplementation(() => undefined);
const provider = await startOidcProvider();
afterAll(async () => {
  await provider.close();
  vi.restoreAllMocks();
});
const { issuer, clientId, clientSecret } = provider;
const oidc = { issuer, clientId, clientSecret, roles: { approvers: ["super"] } };
const fixture = await consoleOfFile({ admin: { oidc } });
await provider.serve(`${fixture.origin}/v1/sign-in/oidc/callback`, (login) => CLAIMS[login] ?? {});

async function comeIn(login: string): Promise<Page> {
  const page = await fixture.page();
  // The pages of the provider ask for a font of the internet.
  await page.context().route("https://**", (route) => route.abort());
  await page.goto(fixture.origin);
  await page.getByRole("link", { name: "Continue with your organization" }).click();
  await page.locator('input[name="login"]').fill(login);
  await page.locator('input[name="password"]').fill("any");
  await page.locator('button[type="submit"]').click();
  await page.locator('input[name="prompt"][value="consent"]').waitFor({ state: "attached" });
  await page.locator('button[type="submit"]').click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  return page;
}

it("a person of the provider signs in, approves, and the decision has their name", async () => {
  const asked = { resourceType: "filesystem", operation: "read", target: "/srv/by-oidc" };
  const id = await fixture.ask(asked);
  const page = await comeIn("anna");
  expect(page.url()).not.toContain("token");
  await page.locator(`[data-request="${id}"] button`).click();
  await page.getByRole("button", { name: /Allow for session/ }).click();
  await page.getByText("Approved for the session").waitFor();
  expect(await fixture.ask(asked)).toBe("allowed_session");
  const { rows } = await fixture.sallyport.service.list.approvals(PERSON, { target: asked.target });
  expect(rows).toMatchObject([{ decidedBy: "oidc:anna" }]);
  // There is no account here, and so no password to set.
  expect(await page.getByRole("button", { name: "Your password" }).count()).toBe(0);
});

it("attack: a role look-alike at the provider comes in and sees and decides nothing", async () => {
  const id = await fixture.ask({ resourceType: "filesystem", operation: "read", target: "/srv/not-for-all" });
  const page = await comeIn("mallory");
  await page.getByText("You may not decide").waitFor();
  expect(await page.locator(`[data-request="${id}"]`).count()).toBe(0);
  expect(await page.getByText("/srv/not-for-all").count()).toBe(0);
});
