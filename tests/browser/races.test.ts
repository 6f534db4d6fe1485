/** Two people at once, and a server that goes away and comes back. */
import { expect, it } from "vitest";
import { PERSON, consoleOfFile } from "./console-fixture.ts";
import type { Page } from "./browser-page.ts";

const fixture = await consoleOfFile();

const read = (target: string) => ({ resourceType: "filesystem", operation: "read", target });
const statusOf = async (id: string) => (await fixture.sallyport.service.list.request(PERSON, id))?.status;
const openCard = async (page: Page, id: string): Promise<void> => {
  await page.goto(`${fixture.origin}/?id=${id}`);
  await page.locator(`[data-card="${id}"]`).waitFor();
};

it("two browsers racing on one request: one wins, the other is told by whom it was decided", async () => {
  const id = await fixture.ask(read("/srv/raced"));
  const [first, second] = await Promise.all([fixture.signedIn(), fixture.signedIn()]);
  await Promise.all([openCard(first, id), openCard(second, id)]);
  // The second one does not hear of the decision: it answers what it still shows.
  await second.context().route("**/v1/live", (route) => route.abort());
  await second.context().route(`**/v1/requests/${id}`, (route) => route.abort());
  await first.getByRole("button", { name: "Allow once" }).click();
  await first.getByText("Approved once").waitFor();
  await second.getByRole("button", { name: /^Deny/ }).click();
  await second.getByRole("dialog").getByRole("button", { name: "Deny" }).click();
  await second.locator("[data-already-decided]").first().waitFor();
  expect(await second.locator("[data-already-decided]").first().innerText()).toMatch(
    /^Already decided by administrator:ada/,
  );
  expect(await statusOf(id)).toBe("approved_session");
  expect(await fixture.ask(read("/srv/raced"))).not.toBe("resource_disabled");
});

it("what one decides leaves the other's list by itself, and an opened card says who it was", async () => {
  const id = await fixture.ask(read("/srv/seen-twice"));
  const [first, second] = await Promise.all([fixture.signedIn(), fixture.signedIn()]);
  await openCard(second, id);
  await openCard(first, id);
  await first.getByRole("button", { name: /Allow for session/ }).click();
  await second.locator(`[data-request="${id}"]`).waitFor({ state: "detached" });
  await second.locator("[data-card] [data-already-decided]").waitFor();
  expect(await second.locator("[data-card] [data-already-decided]").innerText()).toContain(
    "Already decided by administrator:ada",
  );
  expect(await second.getByRole("button", { name: "Allow once" }).count()).toBe(0);
});

it("a decision that cannot be sent puts the request back and says so", async () => {
  const id = await fixture.ask(read("/srv/unsent"));
  const page = await fixture.signedIn();
  await openCard(page, id);
  await page.context().route("**/v1/decisions/**", (route) => route.abort());
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText(/Not decided/).waitFor();
  await page.locator(`[data-request="${id}"]`).waitFor();
  expect(await statusOf(id)).toBe("pending");
});

it("reconnects after a restart of the server: what was missed appears, and decisions go on", async () => {
  const page = await fixture.signedIn();
  await page.locator("[data-live]").getByText("Live").waitFor();
  await fixture.restart(async () => {
    await page.getByText("The connection to the server is lost").waitFor();
  });
  const id = await fixture.ask(read("/srv/after-restart"));
  await page.locator(`[data-request="${id}"]`).waitFor();
  await page.getByText("The connection to the server is lost").waitFor({ state: "detached" });
  await page.locator(`[data-request="${id}"] button`).click();
  await page.getByRole("button", { name: /Allow for session/ }).click();
  await page.getByText("Approved for the session").waitFor();
  expect(await fixture.ask(read("/srv/after-restart"))).toBe("allowed_session");
});
