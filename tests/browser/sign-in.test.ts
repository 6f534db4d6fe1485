/** Coming in and going out. */
import { expect, it } from "vitest";
import { consoleOfFile } from "./console-fixture.ts";

const fixture = await consoleOfFile();

it("a one-time link signs in, leaves no token in the address, and is worth nothing a second time", async () => {
  const link = await fixture.link();
  const page = await fixture.page();
  await page.goto(link);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  expect(page.url()).not.toContain("token");
  const other = await fixture.page();
  await other.goto(link);
  await other.getByRole("alert").waitFor();
  expect(await other.getByRole("heading", { name: "Inbox" }).count()).toBe(0);
  expect(other.url()).not.toContain("token");
});

it("nobody sees anything without signing in, and nothing stays after signing out", async () => {
  const id = await fixture.ask({ resourceType: "filesystem", operation: "read", target: "/srv/private" });
  const stranger = await fixture.page();
  await stranger.goto(`${fixture.origin}/?id=${id}`);
  await stranger.getByRole("heading", { name: "Sign in to Sallyport" }).waitFor();
  expect(await stranger.getByText("/srv/private").count()).toBe(0);
  const page = await fixture.signedIn();
  await page.locator(`[data-request="${id}"]`).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to Sallyport" }).waitFor();
  expect(await page.locator(`[data-request="${id}"]`).count()).toBe(0);
  await page.goto(`${fixture.origin}/grants`);
  await page.getByRole("heading", { name: "Sign in to Sallyport" }).waitFor();
});

it("a wrong password is refused in words, and the name stays where it was written", async () => {
  const page = await fixture.page();
  await page.goto(fixture.origin);
  await page.getByLabel("Name").fill("ada");
  await page.getByLabel("Password").fill("not the password");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  expect(await page.getByLabel("Name").inputValue()).toBe("ada");
});
