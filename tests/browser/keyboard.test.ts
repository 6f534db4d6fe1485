/** The inbox without a mouse, and what no single key may do. */
import { expect, it } from "vitest";
import { type Asked, PERSON, consoleOfFile } from "./console-fixture.ts";

const fixture = await consoleOfFile();
const page = await fixture.signedIn();

const file = (operation: string, target: string): Asked => ({
  resourceType: "filesystem",
  operation,
  target,
});
const statusOf = async (id: string) => (await fixture.sallyport.service.list.request(PERSON, id))?.status;
const press = (key: string): Promise<void> => page.keyboard.press(key);
const opened = async (id: string): Promise<void> => page.locator(`[data-card="${id}"]`).waitFor();
const listed = async (id: string): Promise<void> => page.locator(`[data-request="${id}"]`).waitFor();

it("walks, approves, undoes and denies with keys alone", async () => {
  const older = await fixture.ask(file("read", "/srv/keys/older"));
  const newer = await fixture.ask(file("read", "/srv/keys/newer"));
  await listed(newer);
  await press("j");
  await opened(newer);
  await press("j");
  await opened(older);
  await press("k");
  await opened(newer);
  await press("a");
  await page.getByText("Approved for the session").waitFor();
  expect(await statusOf(newer)).toBe("approved_session");
  // The next one is open by itself.
  await opened(older);
  await press("u");
  await page.getByText(/Taken back/).waitFor();
  await press("d");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("not needed");
  await press("Enter");
  await page.getByText("Denied").first().waitFor();
  expect(await statusOf(older)).toBe("denied");
});

it("never approves by one key what can destroy", async () => {
  const id = await fixture.ask(file("delete", "/srv/keys/precious"));
  await page.goto(`${fixture.origin}/?id=${id}`);
  await opened(id);
  await press("a");
  await page.getByRole("dialog").waitFor();
  await press("a");
  await press("Enter");
  expect(await statusOf(id)).toBe("pending");
  await press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await statusOf(id)).toBe("pending");
});

it("does not take a held key for several answers", async () => {
  const first = await fixture.ask(file("read", "/srv/held/1"));
  const second = await fixture.ask(file("read", "/srv/held/2"));
  await page.goto(`${fixture.origin}/?id=${second}`);
  await opened(second);
  await listed(first);
  const keydown = (repeat: boolean): Promise<unknown> =>
    page.evaluate(
      `document.dispatchEvent(new KeyboardEvent("keydown", { key: "a", repeat: ${repeat}, bubbles: true }))`,
    );
  await keydown(false);
  await page.getByText("Approved for the session").first().waitFor();
  // The key is still down when the next request is open.
  await opened(first);
  for (let time = 0; time < 5; time++) await keydown(true);
  await listed(await fixture.ask(file("read", "/srv/held/3")));
  expect([await statusOf(second), await statusOf(first)]).toEqual(["approved_session", "pending"]);
});

it("ticks, searches and opens the choices and the help, and stays silent while something is typed", async () => {
  const id = await fixture.ask(file("read", "/srv/keys/jade"));
  await page.goto(`${fixture.origin}/?id=${id}`);
  await opened(id);
  await press("x");
  await page.getByText("1 request ticked").waitFor();
  await press("x");
  await press("/");
  await page.keyboard.type("jade");
  expect(await page.getByLabel("Search the requests").inputValue()).toBe("jade");
  await page.locator("[data-count]").getByText("1 request", { exact: true }).waitFor();
  expect(await statusOf(id)).toBe("pending");
  await press("Escape");
  await press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
});

it("obeys the off switch", async () => {
  const id = await fixture.ask(file("read", "/srv/keys/off"));
  await page.goto(`${fixture.origin}/?id=${id}`);
  await opened(id);
  await press("?");
  await page.getByLabel("Single-key shortcuts are on").click();
  await press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await press("a");
  await press("d");
  await press("?");
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await statusOf(id)).toBe("pending");
  // Everything is still reached by Tab.
  for (let step = 0; step < 80; step++) {
    await press("Tab");
    if ((await page.evaluate("document.activeElement?.textContent")) === "Allow once") break;
  }
  await press("Enter");
  await page.getByText("Approved once").waitFor();
  expect(await statusOf(id)).toBe("approved_session");
});
