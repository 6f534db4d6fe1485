/** WCAG 2.2 AA by axe on every page, in both colour schemes and at phone width; and that axe would have seen a fault. */
import type { GuideView } from "@sallyport/contract/admin";
import { beforeAll, describe, expect, it } from "vitest";
import { axeSource } from "../../tools/browser.mjs";
import { type Asked, PAGES, PERSON, consoleOfFile, postFrom } from "./console-fixture.ts";
import type { Page } from "./browser-page.ts";

const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true };
const RULES = `{ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }`;

let openId = "";
/** Beside the inbox, where nothing else is open. */
const guide = (): GuideView => ({
  steps: (["waiting", "went_on", "refused"] as const).map((state) => ({
    title: `A step that is ${state}`,
    requestId: state === "waiting" ? (openId as never) : null,
    state,
    told: state === "waiting" ? null : "it was told",
  })),
});
const [fixture, axe] = await Promise.all([consoleOfFile({ admin: { guide } }), axeSource()]);

const file = (operation: string, target: string): Asked => ({
  resourceType: "filesystem",
  operation,
  target,
});

beforeAll(async () => {
  const { runtime, service } = fixture.sallyport;
  runtime.registerAction("demo", "demo.fails", () => {
    throw new Error("the database is away");
  });
  const decide = async (id: string, kind: "approveForSession" | "approvePermanently" | "deny" | "block") => {
    const record = await service.list.request(PERSON, id);
    await service[kind](PERSON, { requestId: id, digest: record?.digest ?? "" }, { reason: "as agreed" });
  };
  await decide(
    await fixture.ask(file("read", "/srv/a"), { resumeAction: "demo.fails" }),
    "approveForSession",
  );
  await decide(await fixture.ask(file("read", "/srv/b")), "approvePermanently");
  await decide(await fixture.ask(file("read", "/srv/c")), "deny");
  await decide(await fixture.ask(file("read", "/srv/d")), "block");
  await service.executor.runDue();
  await fixture.ask(file("modify", "/srv/e\u202e"));
  await fixture.ask({ resourceType: "network", operation: "send", target: "https://xn--pypal-4ve.com/a" });
  openId = await fixture.ask(file("delete", `/srv/${"deep/".repeat(80)}end.txt`));
  const page = await fixture.signedIn();
  const [name, thumbprint] = ["anna.with.a.long.name@example.com", "k".repeat(43)];
  const grant = {
    subjects: [{ subject: { type: "tool", name: "demo.read_file" }, phase: "install" }],
    user_id: 21,
    organization_id: 7,
    session_key: "s".repeat(120),
    task_id: null,
    interactive: true,
  };
  for (const [path, body] of [
    ["/accounts/invite", { name, roles: ["super", "member"], organization_id: 7 }],
    ["/runtime-credentials", { grant, key_thumbprint: thumbprint }],
    ["/person-tokens", { name: "the wall board", scopes: ["requests", "events"], ttl_ms: 86_400_000 }],
  ] as const)
    expect([path, await postFrom(page, path, body)]).toEqual([path, 200]);
  await page.context().close();
  await service.overview.writeRecords((records) =>
    records.insert({
      kind: "delivery",
      id: "given-up",
      body: { webhook: "team-chat", body: "{}", attempts: 12, last_error: "it answered 503" },
      createdMs: Date.now(),
      dueMs: null,
    }),
  );
});

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

async function faultsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate<readonly Violation[]>(
    `axe.run(${RULES}).then(({ violations }) => violations)`,
  );
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

const settled = async (page: Page, path: string): Promise<void> => {
  await page.goto(fixture.origin + path);
  await page.locator(path.includes("?id=") ? "[data-card]" : "h1").waitFor();
  await page.locator('[role="status"][aria-label^="Loading"]').first().waitFor({ state: "detached" });
};
const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>("document.scrollingElement.scrollWidth - document.documentElement.clientWidth");

/** Buttons that reach beyond the window, where nobody can press them. */
const cutOff = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(`[...document.querySelectorAll("main button, main a, main select")]
    .filter((one) => one.getBoundingClientRect().right > innerWidth)
    .map((one) => one.textContent)`);

describe.each([
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["on a phone", { ...PHONE, colorScheme: "light" }],
])("%s", (_, options) => {
  let page: Page;
  beforeAll(async () => {
    page = await fixture.signedIn("/", options);
  });

  it("no page has a fault, nor is wider than its window", async () => {
    for (const path of [...PAGES, `/?id=${openId}`]) {
      await settled(page, path);
      expect([path, await faultsOf(page)]).toEqual([path, []]);
      expect([path, await overflow(page)]).toEqual([path, 0]);
      expect([path, await cutOff(page)]).toEqual([path, []]);
    }
  });

  it("no dialog has a fault", async () => {
    for (const [path, name] of [
      [`/?id=${openId}`, /^Deny/],
      [`/?id=${openId}`, /More…/],
      ["/rules", "Add a rule"],
      ["/accounts", "Invite…"],
      ["/accounts", "Roles…"],
      ["/accounts", "New link"],
      ["/credentials", "Issue…"],
      ["/tokens", "Make a token…"],
    ] as const) {
      await settled(page, path);
      await page.getByRole("button", { name }).click();
      await page.getByRole("dialog").waitFor();
      expect([path, name, await faultsOf(page)]).toEqual([path, name, []]);
      expect([path, name, await overflow(page)]).toEqual([path, name, 0]);
    }
  });

  it("neither has what an opened manifest and a trial show", async () => {
    await settled(page, "/manifests");
    await page.getByRole("button", { name: /demo\.read_file/ }).click();
    await page.locator("[data-checks]").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await settled(page, "/what-if");
    await page.getByLabel("Subject name", { exact: true }).fill("demo.read_file");
    await page.getByLabel("Target", { exact: true }).fill("/srv/tried");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.locator("[data-trial]").waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
  });
});

it("axe sees a planted fault: text has a width here, and too little contrast is found", async () => {
  const page = await fixture.signedIn();
  await page.evaluate(`(() => {
    const pale = document.createElement("p");
    pale.textContent = "hardly to be read";
    pale.style.color = "#bbb";
    pale.style.background = "#fff";
    document.querySelector("main").prepend(pale);
  })()`);
  expect((await faultsOf(page)).join()).toMatch(/color-contrast: .*hardly to be read/);
});

it("a phone shows the list, then the card, and decides there", async () => {
  const page = await fixture.signedIn("/", PHONE);
  const id = await fixture.ask(file("read", "/srv/imports-of-the-department/monthly/on-the-phone.csv"));
  await page.locator(`[data-request="${id}"]`).waitFor();
  // Where a path ends says most: it is never what is cut off.
  const isCut = await page.evaluate<boolean>(`(() => {
    const line = document.querySelector('[data-request="${id}"] [data-target]').parentElement;
    return line.scrollWidth > line.clientWidth;
  })()`);
  expect(isCut).toBe(false);
  await page.locator(`[data-request="${id}"] button`).click();
  await page.locator(`[data-card="${id}"]`).waitFor();
  expect(await page.getByRole("heading", { name: "Inbox" }).isVisible()).toBe(false);
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("Approved once").waitFor();
  await page.getByRole("button", { name: "Inbox" }).first().click();
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  await page.getByRole("button", { name: "Open the menu" }).click();
  await page.getByRole("dialog").getByRole("link", { name: "Grants" }).click();
  await page.getByRole("heading", { name: "Grants" }).waitFor();
});
