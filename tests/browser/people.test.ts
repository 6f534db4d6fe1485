/** People and what they hand out: accounts, runtime credentials, tokens. Secrets are shown once and are worth what they say. */
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { consoleOfFile } from "./console-fixture.ts";
import type { Page } from "./browser-page.ts";

const PASSWORD = "correct horse battery";

const fixture = await consoleOfFile();
const page = await fixture.signedIn();

const goto = (path: string): Promise<unknown> => page.goto(fixture.origin + path);
const dialog = () => page.getByRole("dialog");
const press = (name: string | RegExp): Promise<void> => dialog().getByRole("button", { name }).click();
const line = (text: string | RegExp) => page.locator("main li", { hasText: text });
const secret = (): Promise<string> => page.locator("[data-secret]").innerText();
const inbox = (who: Page): Promise<void> => who.getByRole("heading", { name: "Inbox" }).waitFor();
const signInPage = (who: Page): Promise<void> =>
  who.getByRole("heading", { name: "Sign in to Sallyport" }).waitFor();

async function invite(name: string, roles: string, organization = ""): Promise<string> {
  await goto("/accounts");
  await page.getByRole("button", { name: "Invite…" }).click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Roles").fill(roles);
  await page.getByLabel("Organization").fill(organization);
  await press("Make the link");
  const link = await secret();
  await press("Done");
  return link;
}

describe("accounts", () => {
  it("are none at first, and say what that means", async () => {
    await goto("/accounts");
    await page.getByText("No local accounts").waitFor();
  });

  it("are invited by a link that serves once; the invited person sets a password and comes back with it", async () => {
    const link = await invite("anna", "super");
    await line(/anna[^]*no password yet[^]*roles super/).waitFor();
    expect(await page.locator("[data-secret]").count()).toBe(0);
    const anna = await fixture.page();
    await anna.goto(link);
    await inbox(anna);
    await anna.getByRole("button", { name: "Your password" }).click();
    await anna.getByLabel("New password").fill(PASSWORD);
    await anna.getByRole("button", { name: "Set the password" }).click();
    await signInPage(anna);
    await anna.getByLabel("Name").fill("anna");
    await anna.getByLabel("Password").fill(PASSWORD);
    await anna.getByRole("button", { name: "Sign in" }).click();
    await inbox(anna);
    const late = await fixture.page();
    await late.goto(link);
    await late.getByRole("alert").waitFor();
    await anna.context().close();
    await late.context().close();
  });

  it("lose what they may do with the next call, and are out when they are disabled", async () => {
    const link = await invite("bert", "super");
    const bert = await fixture.page();
    await bert.goto(link);
    await inbox(bert);
    await line("bert").getByRole("button", { name: "Roles…" }).click();
    await page.getByLabel("Organization").fill("7");
    await press("Change");
    await line(/bert[^]*decides nothing: of an organization/).waitFor();
    await bert.reload();
    await bert.getByText("You may not decide").waitFor();
    await line("bert").getByRole("button", { name: "Disable…" }).click();
    await dialog().getByLabel("Reason (kept in the audit log)").fill("left the team");
    await press("Disable");
    await line(/bert[^]*disabled/).waitFor();
    await bert.reload();
    await signInPage(bert);
    await line("bert").getByRole("button", { name: "Enable" }).click();
    await line("bert").getByRole("button", { name: "New link" }).click();
    await bert.goto(await secret());
    await inbox(bert);
    await press("Done");
    await line("bert").getByRole("button", { name: "End sign-ins…" }).click();
    await press("End sign-ins");
    await page.getByText("Every sign-in of the account is over").waitFor();
    await bert.reload();
    await signInPage(bert);
    await bert.context().close();
  });

  it("say what is wrong with a name that is taken", async () => {
    await goto("/accounts");
    await page.getByRole("button", { name: "Invite…" }).click();
    await page.getByLabel("Name", { exact: true }).fill("anna");
    await press("Make the link");
    await page.getByText(/Refused: there is an account anna already/).waitFor();
  });
});

describe("runtime credentials", () => {
  it("are issued for a key, shown once with their audience and end, and revoked", async () => {
    const { publicKey } = generateKeyPairSync("ed25519");
    const thumbprint = String(publicKey.export({ format: "jwk" }).x);
    await goto("/credentials");
    await page.getByText("No credentials were issued").waitFor();
    await page.getByRole("button", { name: "Issue…" }).click();
    await page.getByLabel("Subject name").fill("demo.read_file");
    await page.getByLabel("Thumbprint of the holder's key").fill(thumbprint);
    await page.getByLabel("User", { exact: true }).fill("21");
    await page.getByLabel("Session key").fill("sess-remote");
    await press("Issue");
    const token = await secret();
    expect(token.split(".")).toHaveLength(3);
    await dialog().getByText(`For ${fixture.origin} only`).waitFor();
    const ask = (): Promise<number> =>
      page.evaluate<number>(
        `fetch("/v1/requests", { credentials: "omit", headers: { authorization: ${JSON.stringify(`DPoP ${token}`)} } }).then(({ status }) => status)`,
      );
    // It is one: guarded code is told that it may not, and not that it is nobody.
    expect(await ask()).toBe(403);
    await press("Done");
    const row = line(/live[^]*tool demo\.read_file[^]*user 21[^]*session sess-remote[^]*ends in/);
    await row.getByRole("button", { name: "Revoke…" }).click();
    await press("Revoke");
    await line(/revoked[^]*demo\.read_file/).waitFor();
    expect(await ask()).toBe(401);
    await goto("/credentials");
    await line(/revoked[^]*demo\.read_file/).waitFor();
    expect(await page.evaluate<string>("document.body.innerText")).not.toContain(token.slice(-40));
  });
});

describe("tokens", () => {
  it("read what they were made for, decide nothing, and end when they are revoked", async () => {
    await goto("/tokens");
    await page.getByText("No tokens").waitFor();
    await page.getByRole("button", { name: "Make a token…" }).click();
    await page.getByLabel("What it is for").fill("the wall board");
    await press("Make the token");
    const token = await secret();
    const call = (path: string): Promise<number> =>
      fetch(`${fixture.origin}/v1${path}`, { headers: { authorization: `Bearer ${token}` } }).then(
        ({ status }) => status,
      );
    expect([await call("/requests"), await call("/events")]).toEqual([200, 403]);
    await press("Done");
    await line(/the wall board[^]*requests[^]*of ada[^]*ends in/)
      .getByRole("button", { name: "Revoke…" })
      .click();
    await press("Revoke");
    await page.getByText("No tokens").waitFor();
    expect(await call("/requests")).toBe(401);
  });
});
