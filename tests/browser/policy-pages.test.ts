/** Trying a check, rules of every source, notifications that did not arrive. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { MEMBER, consoleOfFile } from "./console-fixture.ts";

let isHookAway = true;
const told: string[] = [];
const hook = createServer((request, response) => {
  request.resume();
  if (!isHookAway) told.push(String(request.headers["content-type"]));
  response.writeHead(isHookAway ? 503 : 200).end();
}).listen(0, "127.0.0.1");
await once(hook, "listening");
afterAll(() => void hook.close());
const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`;
const webhooks = [{ id: "team-chat", url, form: "slack", secret: "s".repeat(32) }] as const;
const fixture = await consoleOfFile({ admin: { webhooks } });
const page = await fixture.signedIn();

const goto = (path: string): Promise<unknown> => page.goto(fixture.origin + path);
const read = (target: string) => ({ resourceType: "filesystem", operation: "read", target });
const fill = (label: string, text: string): Promise<void> =>
  page.getByLabel(label, { exact: true }).fill(text);
const choose = (label: string, value: string): Promise<unknown> =>
  page.getByLabel(label, { exact: true }).selectOption(value);

describe("what if", () => {
  const attempt = async (name: string, target: string): Promise<void> => {
    await goto("/what-if");
    await fill("Subject name", name);
    await fill("Target", target);
    await page.getByRole("button", { name: "Try it" }).click();
  };

  it("says that a person would be asked, every step on the way, and what would allow it; nothing is registered", async () => {
    await attempt("demo.read_file", "/srv/tried");
    const outcome = page.locator('[data-trial="approval_required"]');
    await outcome.waitFor();
    expect(await outcome.innerText()).toMatch(
      /^Asked[^]*tool demo\.read_file may not read \/srv\/tried[^]*Decided by the permission mode: a person would be asked/,
    );
    expect(await outcome.locator("[data-remedies]").innerText()).toMatch(
      /declare filesystem read \/srv\/tried/,
    );
    expect(await outcome.locator("[data-steps] li").count()).toBeGreaterThan(3);
    await goto("/");
    await page.getByText("Nothing waits for you").waitFor();
  });

  it("names the rule that matched", async () => {
    await goto("/rules");
    await page.getByRole("button", { name: "Add a rule" }).click();
    await choose("Resource", "filesystem");
    await choose("Operation", "read");
    await fill("Target", "/srv/secret/");
    await page.getByRole("button", { name: "Add the rule" }).click();
    await page.locator("main li", { hasText: "/srv/secret/" }).waitFor();
    await attempt("demo.read_file", "/srv/secret/x");
    await page.locator('[data-trial="denied_rule"]').waitFor();
    await page
      .locator("[data-matched]", { hasText: /matched rule of the host: deny read of \/srv\/secret\// })
      .waitFor();
  });

  it("says what is wrong with a target that is none", async () => {
    await goto("/what-if");
    await choose("Resource", "network");
    await fill("Subject name", "demo.read_file");
    await fill("Target", "ftp://example.com");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.locator('[data-trial="invalid_target"]').waitFor();
  });

  it("asks in the session that it is told of", async () => {
    const id = await fixture.ask(read("/srv/in-session"));
    await goto(`/?id=${id}`);
    await page.getByRole("button", { name: /Allow for session/ }).click();
    await page.getByText("Approved for the session").waitFor();
    await attempt("demo.read_file", "/srv/in-session");
    await page.locator('[data-trial="approval_required"]').waitFor();
    await page.locator("summary").click();
    await fill("Organization", "7");
    await fill("User", "21");
    await fill("Session key", "sess-21");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.locator('[data-trial="allowed_session"]').waitFor();
  });
});

describe("a rule of every source", () => {
  it.each([
    ["organization", "Organization", "7", { organizationId: 8 }],
    ["user", "User", "21", { user: { id: "21", roles: [] } }],
    ["session", "Session key", "sess-21", { sessionKey: "sess-22" }],
  ])("of the source %s holds for that one and nobody else", async (source, field, value, others) => {
    const asked = read(`/srv/of-${source}`);
    await goto("/rules");
    await page.getByRole("button", { name: "Add a rule" }).click();
    await choose("Source", source);
    await choose("Resource", "filesystem");
    await choose("Operation", "read");
    await fill("Target", asked.target);
    await fill(field, value);
    await page.getByRole("button", { name: "Add the rule" }).click();
    await page.locator("main li", { hasText: new RegExp(`of-${source}[^]*source ${source}`) }).waitFor();
    expect(await fixture.ask(asked)).toBe("denied_rule");
    expect(await fixture.ask(asked, { ...MEMBER, ...others })).not.toBe("denied_rule");
  });

  it("is never an allow, but of the host", async () => {
    await goto("/rules");
    await page.getByRole("button", { name: "Add a rule" }).click();
    await choose("Source", "user");
    await choose("Effect", "allow");
    await page
      .locator("select:disabled")
      .getByRole("option", { name: "host" })
      .waitFor({ state: "attached" });
    expect(await page.getByLabel("Source", { exact: true }).inputValue()).toBe("host");
  });
});

describe("notifications", () => {
  it("that are given up while the page is open appear by the live stream, before the page looks again by itself", async () => {
    const watching = await fixture.page();
    await watching.clock.install();
    await watching.goto(await fixture.link());
    await watching.getByRole("heading", { name: "Inbox" }).waitFor();
    await watching.getByRole("link", { name: "Notifications" }).click();
    await watching.getByLabel("State", { exact: true }).selectOption("given_up");
    await watching.getByText("Nothing is undelivered").waitFor();
    await watching.clock.pauseAt(Date.now() + 60_000);
    const { overview } = fixture.sallyport.service;
    await overview.writeRecords((records) =>
      records.insert({
        kind: "delivery",
        id: "last-try",
        body: { webhook: "team-chat", body: "{}", attempts: 11, last_error: null },
        createdMs: Date.now() - 86_400_000,
        dueMs: 1,
      }),
    );
    const row = watching.locator("main li", { hasText: /team-chat[^]*given up[^]*12 attempts/ });
    // WHY 10 ms at a time: the page has to hear of it long before its own half minute is over.
    await expect
      .poll(() => watching.clock.runFor(10).then(() => row.count()), { timeout: 60_000, interval: 50 })
      .toBe(1);
    await overview.writeRecords((records) => records.remove("delivery", "last-try"));
    await watching.context().close();
  });

  it("shows what was given up with its last error, and tries it again", async () => {
    await fixture.sallyport.service.overview.writeRecords((records) =>
      records.insert({
        kind: "delivery",
        id: "given-up-1",
        body: {
          webhook: "team-chat",
          body: '{"text":"somebody asks"}',
          attempts: 12,
          last_error: "it answered 503\u202e",
        },
        createdMs: Date.now() - 86_400_000,
        dueMs: null,
      }),
    );
    await goto("/notifications");
    await choose("State", "given_up");
    const row = page.locator("main li", { hasText: /team-chat[^]*given up[^]*12 attempts/ });
    await row.waitFor();
    expect(await row.locator("[data-last-error]").innerText()).toBe("it answered 503U+202E");
    isHookAway = false;
    await row.getByRole("button", { name: "Try again" }).click();
    await page.getByText("Nothing is undelivered").waitFor();
    await expect.poll(() => told.length).toBeGreaterThan(0);
  });
});
