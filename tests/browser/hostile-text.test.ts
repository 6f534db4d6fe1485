/** Text that wants to be more than text, or something else than it is, in every field that comes from outside. */
import { beforeAll, expect, it } from "vitest";
import { PAGES, PERSON, consoleOfFile, postFrom } from "./console-fixture.ts";

const SCRIPTS = [
  "<img src=x onerror=pwned()>",
  '"><script>pwned()</script>',
  "</title><svg/onload=pwned()>",
  "javascript:pwned()",
  "{{constructor.constructor('pwned()')()}}",
  "'-pwned()-'",
  '"onfocus="pwned()"autofocus="',
  "<iframe srcdoc='<script>parent.pwned()</script>'>",
  "&lt;script&gt;pwned()&lt;/script&gt;",
  "${pwned()}",
].join(" ");
const DECEPTION = "\u202egpj.exe\u2066x\u2069\u200b\u00ad\ufeff";
/** For ids that hosts make: no control characters, everything else. */
const HOST_TEXT = `${SCRIPTS.slice(0, 200)}${DECEPTION}`;

const fixture = await consoleOfFile();
const page = await fixture.page();
const calls: unknown[] = [];
const violations: string[] = [];
let openId = "";

beforeAll(async () => {
  const { runtime } = fixture.sallyport;
  runtime.registerAction("demo", "demo.fails", () => {
    throw new Error(`${SCRIPTS}${DECEPTION}\u001b[2J\n`);
  });
  const who = { user: { id: `u${HOST_TEXT}`, roles: ["member"] }, organizationId: `o${HOST_TEXT}` };
  const session = { ...who, sessionKey: `s${HOST_TEXT}`, taskId: `t${HOST_TEXT}` };
  const file = (operation: string, name: string) => ({
    resourceType: "filesystem",
    operation,
    target: `/srv/${name}/${SCRIPTS.replaceAll("/", "|")}${DECEPTION}\u001b[31m\n end `,
  });
  openId = await fixture.ask(file("delete", "open"), session);
  await fixture.ask(
    {
      resourceType: "network",
      operation: "send",
      target: `https://xn--pypal-4ve.com/${encodeURIComponent(SCRIPTS)}`,
    },
    session,
  );
  const resumed = await fixture.ask(file("read", "resumed"), { ...session, resumeAction: "demo.fails" });
  const denied = await fixture.ask(file("read", "denied"), session);
  const { service } = fixture.sallyport;
  const by = async (id: string) => {
    const record = await service.list.request(PERSON, id);
    return { requestId: id, digest: record?.digest ?? "" };
  };
  const words = { reason: `${SCRIPTS}${DECEPTION}\n` };
  expect((await service.approveForSession(PERSON, await by(resumed), words)).ok).toBe(true);
  expect((await service.deny(PERSON, await by(denied), words)).ok).toBe(true);
  await service.executor.runDue();

  await page.exposeFunction("pwned", () => calls.push("called"));
  await page.exposeFunction("violated", (what: string) => violations.push(what));
  await page.addInitScript({
    content:
      "addEventListener('securitypolicyviolation', (event) => violated(event.violatedDirective + ' ' + event.blockedURI))",
  });
  page.on("dialog", (opened: { dismiss(): Promise<void> }) => {
    calls.push("dialog");
    void opened.dismiss();
  });
  await page.goto(await fixture.link());
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  await furnishPeople();
});

/** What people and receivers of notifications can make of the newer fields. */
async function furnishPeople(): Promise<void> {
  const grant = {
    subjects: [{ subject: { type: "tool", name: "demo.read_file" }, phase: "runtime" }],
    user_id: `u${HOST_TEXT}`,
    organization_id: `o${HOST_TEXT}`,
    session_key: `s${HOST_TEXT}`,
    task_id: null,
    interactive: true,
  };
  for (const [path, body] of [
    ["/accounts/invite", { name: "anna", roles: [`r${HOST_TEXT}`], organization_id: `o${HOST_TEXT}` }],
    ["/runtime-credentials", { grant, key_thumbprint: "k".repeat(43) }],
    ["/person-tokens", { name: `n${HOST_TEXT}`, scopes: ["requests"], ttl_ms: 86_400_000 }],
  ] as const)
    expect([path, await postFrom(page, path, body)]).toEqual([path, 200]);
  await fixture.sallyport.service.overview.writeRecords((records) =>
    records.insert({
      kind: "delivery",
      id: "hostile",
      body: { webhook: `w${HOST_TEXT}`, body: "{}", attempts: 12, last_error: `e${HOST_TEXT}` },
      createdMs: Date.now(),
      dueMs: null,
    }),
  );
}

/** Runs in the page. What stands in it as it is: texts, and the attributes that people see or hear. */
const RAW_DECEPTION = String.raw`(() => {
  const hidden = /[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u00ad\ufeff\u001b\u0000]/;
  const found = [];
  const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    if (hidden.test(node.nodeValue)) found.push("text of " + node.parentElement.tagName);
  for (const element of document.querySelectorAll("*"))
    for (const name of ["title", "aria-label", "alt", "placeholder", "aria-description"])
      if (hidden.test(element.getAttribute(name) ?? "")) found.push(name + " of " + element.tagName);
  if (hidden.test(document.title)) found.push("title");
  return found;
})()`;
const STRANGERS = `document.querySelectorAll("body script:not([src]), body img, body iframe, svg[onload]").length`;

const rawDeception = (): Promise<readonly string[]> => page.evaluate<readonly string[]>(RAW_DECEPTION);
const strangers = (): Promise<number> => page.evaluate<number>(STRANGERS);

it.each([...PAGES, "opened"])("runs nothing and hides nothing on %s", async (path) => {
  await page.goto(fixture.origin + (path === "opened" ? `/?id=${openId}` : path));
  await page.locator(path === "opened" ? "[data-card]" : "h1").waitFor();
  await page.locator("[role=status]").first().waitFor({ state: "detached" });
  if (path === "/audit")
    await page
      .getByRole("button", { name: /^Event / })
      .first()
      .click();
  expect(await rawDeception()).toEqual([]);
  expect(await strangers()).toBe(0);
  expect([calls, violations]).toEqual([[], []]);
});

it("has something hostile on every page that it was put on", async () => {
  const furnished = ["/", "/grants", "/denials", "/audit", "/jobs", "/sessions"];
  for (const path of [...furnished, "/notifications", "/accounts", "/credentials", "/tokens"]) {
    await page.goto(fixture.origin + path);
    await page.locator(".hostile-mark").first().waitFor();
  }
});

it("runs nothing and hides nothing in the dialogs", async () => {
  for (const name of [/^Deny/, /^Block/, /More…/, "Permanently…"]) {
    await page.goto(`${fixture.origin}/?id=${openId}`);
    await page.getByRole("button", { name }).click();
    await page.getByRole("dialog").waitFor();
    expect(await rawDeception()).toEqual([]);
    expect(await strangers()).toBe(0);
  }
  expect([calls, violations]).toEqual([[], []]);
});

it("runs nothing and hides nothing in an opened manifest, a trial, and what an account may do", async () => {
  const clean = async (): Promise<void> => {
    await page.locator("main .hostile-mark, [role=dialog] .hostile-mark").first().waitFor();
    expect(await rawDeception()).toEqual([]);
    expect(await strangers()).toBe(0);
  };
  await page.goto(`${fixture.origin}/manifests`);
  await page.getByRole("button", { name: /demo\.read_file/ }).click();
  await page.getByRole("region", { name: "Not declared" }).waitFor();
  await clean();
  await page.goto(`${fixture.origin}/what-if`);
  await page.getByLabel("Subject name", { exact: true }).fill("demo.read_file");
  await page.getByLabel("Target", { exact: true }).fill(`/srv/${SCRIPTS}${DECEPTION}end`);
  await page.getByRole("button", { name: "Try it" }).click();
  await page.locator("[data-trial]").waitFor();
  await clean();
  await page.goto(`${fixture.origin}/accounts`);
  await page.getByRole("button", { name: "Disable…" }).click();
  await page.getByRole("dialog").waitFor();
  await clean();
  expect([calls, violations]).toEqual([[], []]);
});

it("shows a deceiving path as what it is", async () => {
  const id = await fixture.ask({
    resourceType: "filesystem",
    operation: "read",
    target: "/srv/p\u0430y/evil\u202egpj.exe\u200b ",
  });
  await page.goto(`${fixture.origin}/?id=${id}`);
  const target = page.locator("[data-sentence] [data-target]");
  await target.waitFor();
  expect(await target.innerText()).toBe("/srv/p\u0430y/evilU+202Egpj.exeU+200BU+0020");
  expect(await page.locator("[data-sentence] [data-caution]").innerText()).toBe(
    "mixes alphabets: some letters only look Latin",
  );
  const style = await page.evaluate<string>(`(() => {
    const { direction, unicodeBidi } = getComputedStyle(document.querySelector("[data-sentence] [data-target]"));
    return direction + " " + unicodeBidi;
  })()`);
  expect(style).toBe("ltr isolate-override");
});

it("shows a look-alike host in punycode, with the registrable domain set off", async () => {
  const id = await fixture.ask({
    resourceType: "network",
    operation: "receive",
    target: "https://login.p\u0430ypal.com/a",
  });
  await page.goto(`${fixture.origin}/?id=${id}`);
  const registrable = page.locator("[data-sentence] [data-registrable]").getByText("xn--pypal-4ve.com");
  await registrable.waitFor();
  expect(await page.locator("[data-sentence] [data-target]").innerText()).toBe(
    "https://login.xn--pypal-4ve.com/a",
  );
  expect(await page.locator("[data-sentence] [data-caution]").innerText()).toContain("not plain letters");
});

it("folds a long target in its middle, and opens it when asked", async () => {
  const path = `/srv/${"deep/".repeat(200)}`;
  const id = await fixture.ask({ resourceType: "filesystem", operation: "read", target: `${path}end.txt` });
  await page.goto(`${fixture.origin}/?id=${id}`);
  const target = page.locator("[data-sentence] [data-target]");
  await target.waitFor();
  expect(await target.innerText()).toMatch(/^\/srv\/deep.*show 881 more characters.*end\.txt$/);
  await target.getByRole("button", { name: "show 881 more characters" }).click();
  expect(await target.innerText()).toBe(`${path}end.txt`);
});
