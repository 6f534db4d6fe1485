/** Ten thousand requests in one inbox. What is counted is what is drawn, not how long it takes. */
import { existsSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
import type { Page } from "./browser-page.ts";
import { consoleOfFile } from "./console-fixture.ts";

const COUNT = 10_000;
const AT_ONCE = 50;
const MEMORY = "/dev/shm";
const SETUP_MS_MAX = 600_000;
/** More than fit on the screen, and far fewer than there are. */
const DRAWN_MAX = 60;

// WHY in memory where there is such a place: ten thousand durable writes are not what this is about.
const place = existsSync(MEMORY) ? { place: MEMORY } : {};
const fixture = await consoleOfFile({ pendingMax: COUNT * 2, ...place });
let page: Page;
let oldest = "";
beforeAll(async () => {
  const read = (index: number) => ({
    resourceType: "filesystem",
    operation: "read",
    target: `/srv/many/${String(index).padStart(5, "0")}`,
  });
  oldest = await fixture.ask(read(0));
  for (let from = 1; from < COUNT; from += AT_ONCE) {
    const size = Math.min(AT_ONCE, COUNT - from);
    await Promise.all(Array.from({ length: size }, (_, index) => fixture.ask(read(from + index))));
  }
  page = await fixture.signedIn();
  await page.locator("[data-request]").first().waitFor();
}, SETUP_MS_MAX);

const drawn = (): Promise<number> => page.locator("[data-request]").count();
const scrollToEnd = (): Promise<unknown> =>
  page.evaluate(`(() => {
    const list = document.querySelector("[data-list]");
    list.scrollTop = list.scrollHeight;
  })()`);

it("scrolls to the last one with no more than a screenful drawn at any time", async () => {
  let most = await drawn();
  for (let step = 0; step < COUNT; step++) {
    await scrollToEnd();
    most = Math.max(most, await drawn());
    const count = await page.locator("[data-count]").innerText();
    if (!count.includes("loaded") && (await page.locator(`[data-request="${oldest}"]`).count()) > 0) break;
  }
  expect(await page.locator("[data-count]").innerText()).toBe("10,000 requests");
  expect(await page.locator(`[data-request="${oldest}"]`).count()).toBe(1);
  expect(most).toBeLessThanOrEqual(DRAWN_MAX);
});

it("finds by a search what was not loaded yet, and says that nothing matches only when all was looked at", async () => {
  const other = await fixture.signedIn();
  await other.locator("[data-request]").first().waitFor();
  const search = other.getByLabel("Search the requests");
  await search.fill("/srv/many/00000");
  await other.locator(`[data-request="${oldest}"]`).waitFor();
  await other.locator("[data-count]").getByText("1 request", { exact: true }).waitFor();
  await search.fill("/srv/nowhere");
  await other.getByText("Nothing matches").waitFor();
  await other.context().close();
});

it("stays live and decides at the end of such a list", async () => {
  await page.locator(`[data-request="${oldest}"] button`).click();
  await page.locator(`[data-card="${oldest}"]`).waitFor();
  await page.getByRole("button", { name: /Allow for session/ }).click();
  await page.getByText("Approved for the session").waitFor();
  await page.locator(`[data-request="${oldest}"]`).waitFor({ state: "detached" });
  const fresh = await fixture.ask({ resourceType: "filesystem", operation: "read", target: "/srv/fresh" });
  await page.evaluate(`document.querySelector("[data-list]").scrollTop = 0`);
  await page.locator(`[data-request="${fresh}"]`).waitFor();
  await page.locator("[data-count]").getByText("10,000 requests", { exact: true }).waitFor();
});
