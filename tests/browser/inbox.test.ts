/** The inbox, as a person uses it: what a card says, what each answer does, and what the caller gets. */
import { describe, expect, it } from "vitest";
import { type Asked, MEMBER, PERSON, consoleOfFile } from "./console-fixture.ts";

const fixture = await consoleOfFile();
const page = await fixture.signedIn();

const file = (operation: string, target: string): Asked => ({
  resourceType: "filesystem",
  operation,
  target,
});
const { sessionKey: _key, ...NO_SESSION } = { ...MEMBER };
const open = async (id: string): Promise<void> => {
  await page.goto(`${fixture.origin}/?id=${id}`);
  await page.locator(`[data-card="${id}"]`).waitFor();
};
const card = (): Promise<string> => page.locator("[data-card]").innerText();
const cardShows = (text: string | RegExp): Promise<void> =>
  page.locator("[data-card]", { hasText: text }).waitFor();
/** WHY waited for: the list follows the address, a moment after what was typed. */
const listed = (count: string): Promise<void> =>
  page.locator("[data-count]").getByText(count, { exact: true }).waitFor();
const button = (name: string | RegExp) => page.getByRole("button", { name, exact: typeof name === "string" });
const dialog = () => page.getByRole("dialog");
const notice = (text: string | RegExp) => page.getByRole("log", { name: "Notices" }).getByText(text);
const answered = (text: string | RegExp): Promise<void> => notice(text).first().waitFor();
const statusOf = async (id: string) => (await fixture.sallyport.service.list.request(PERSON, id))?.status;

describe("a card", () => {
  it("reads as a sentence and holds what helps to decide", async () => {
    const id = await fixture.ask(file("delete", "/srv/reports/q3.csv"));
    await open(id);
    expect(await page.locator("[data-sentence]").innerText()).toBe(
      "tool demo.read_file, called by agent demo.reader_agent, wants to delete /srv/reports/q3.csv",
    );
    const text = await card();
    for (const held of [
      "Filesystem delete",
      "can destroy",
      "removes what exists at this path",
      "without a backup it is gone",
      "mode “Default” asks",
      "Nothing has been granted to this subject yet",
      "sess-21",
      "no: an approval changes access only",
      id,
    ])
      expect(text).toContain(held);
    // How long ago it was, and how long it lasts, depend on when somebody looks.
    expect(text).toMatch(/Asked\s+1 time, last (?:just now|\d+ (?:s|min) ago)/);
    expect(text).toMatch(/Expires\s+in (?:7 d|6 d \d+ h)/);
  });

  it("says in plain words where an operation is wider than it sounds", async () => {
    await open(
      await fixture.ask({ resourceType: "network", operation: "connect", target: "db.example.com:5432" }),
    );
    await cardShows("Raw bytes both ways");
  });

  it("counts repeats, and shows the action that an approval sets going", async () => {
    fixture.sallyport.runtime.registerAction("demo", "demo.resume_import", () => undefined);
    const asked = file("read", "/srv/imports/a.csv");
    const id = await fixture.ask(asked, { resumeAction: "demo.resume_import" });
    await fixture.ask(asked);
    await open(id);
    await cardShows(/yes: demo\.resume_import runs with a sealed context[^]*2 times/);
  });

  it("offers no session where there is none, and says why", async () => {
    const id = await fixture.ask(file("read", "/srv/no-session"), {
      ...NO_SESSION,
      sessionKey: undefined,
    });
    await open(id);
    await page.locator("button:disabled", { hasText: "Allow for session" }).waitFor();
    expect(await page.locator("[data-no-session]").innerText()).toContain("no session key");
    expect(await card()).toContain("none: it can be approved permanently or denied only");
  });
});

describe("an answer", () => {
  it("allows once: the grant holds for one use", async () => {
    const asked = file("read", "/srv/once");
    const id = await fixture.ask(asked);
    await open(id);
    await button("Allow once").click();
    await answered("Approved once");
    const { rows } = await fixture.sallyport.service.list.approvals(PERSON, { target: "/srv/once" });
    expect(rows).toMatchObject([{ scope: "session", maxUses: 1, requestId: id }]);
  });

  it("allows for the session, sets the stopped job going, and is taken back by undo", async () => {
    const ran = new Promise((resolve) => {
      fixture.sallyport.runtime.registerAction("demo", "demo.resume_download", (context) => resolve(context));
    });
    const asked = file("read", "/srv/session");
    await open(await fixture.ask(asked, { resumeAction: "demo.resume_download" }));
    await button(/Allow for session/).click();
    await answered(/1 stopped job goes on/);
    await ran;
    expect(await fixture.ask(asked)).toBe("allowed_session");
    await page.getByRole("button", { name: "Undo" }).first().click();
    await answered(/Taken back/);
    expect(await fixture.ask(asked)).not.toBe("allowed_session");
  });

  it("allows permanently with an end and a number of uses", async () => {
    await open(await fixture.ask(file("read", "/srv/limited")));
    await button("Permanently…").click();
    await dialog().waitFor();
    await page.getByLabel("At most for (minutes)").fill("0");
    await dialog().locator("button:disabled", { hasText: "Approve permanently" }).waitFor();
    await page.getByLabel("At most for (minutes)").fill("30");
    await page.getByLabel("At most how often").fill("3");
    await button("Approve permanently").click();
    await answered("Approved permanently");
    const { rows } = await fixture.sallyport.service.list.approvals(PERSON, { target: "/srv/limited" });
    expect(rows).toMatchObject([{ scope: "permanent", maxUses: 3 }]);
    expect(rows[0]?.expiresAt).not.toBeNull();
  });

  it("reaches further only with a preview and a second step", async () => {
    await open(await fixture.ask(file("read", "/data/app/logs/today.txt")));
    await button(/More…/).click();
    await dialog()
      .getByText(/the folder \/data\/app\/logs and everything below it/)
      .click();
    expect(await dialog().locator("[data-quoted]").allInnerTexts()).toContain("/data/app/logs");
    expect(await dialog().locator("[data-preview]").innerText()).toMatch(
      /Would cover[^]*today\.txt[^]*Would not cover[^]*logs-other/,
    );
    await button("Continue…").click();
    await dialog().locator("[data-confirm]").waitFor();
    expect(
      (await fixture.sallyport.service.list.approvals(PERSON, { target: "/data/app/logs" })).rows,
    ).toEqual([]);
    await button("Yes, approve").click();
    await answered("Approved for the session");
    expect(await fixture.ask(file("read", "/data/app/logs/tomorrow.txt"))).toBe("allowed_session");
    expect(await fixture.ask(file("read", "/data/app/logs-other/x"))).not.toBe("allowed_session");
  });

  it("says why it is asked again where a grant nearly covers it, and what is granted already", async () => {
    await open(await fixture.ask(file("modify", "/data/app/logs/today.txt")));
    await page.locator("[data-near-miss]").first().waitFor();
    expect(await card()).toMatch(/Asked again because an approval exists for another operation/);
    expect(await page.locator("[data-difference]").innerText()).toMatch(
      /granted[^]*Filesystem read[^]*new[^]*Filesystem modify/,
    );
  });

  it("denies with a reason that the log keeps, and is not asked again", async () => {
    const asked = file("read", "/srv/denied");
    const id = await fixture.ask(asked);
    await open(id);
    await button(/^Deny/).click();
    await page.getByLabel("Reason (the caller is told)").fill("ask the owner first");
    await dialog().getByRole("button", { name: "Deny" }).click();
    await answered("Denied");
    expect(await fixture.ask(asked)).toBe("resource_disabled");
    const { rows } = await fixture.sallyport.service.list.denials(PERSON, { target: "/srv/denied" });
    expect(rows).toMatchObject([{ reason: "ask the owner first", requestId: id }]);
  });

  it("blocks by a rule", async () => {
    const asked = file("read", "/srv/blocked");
    await open(await fixture.ask(asked));
    await button(/^Block/).click();
    await dialog().getByRole("button", { name: "Block" }).click();
    await answered("Blocked by a rule");
    expect(await fixture.ask(asked)).toBe("denied_rule");
  });
});

describe("the list", () => {
  it("shows what comes while it is open, and is searched and narrowed by every field", async () => {
    await page.goto(fixture.origin);
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    const id = await fixture.ask(file("create", "/srv/live/new.txt"), { taskId: "task-live" });
    await page.locator(`[data-request="${id}"]`).waitFor();
    await page.getByLabel("Search the requests").fill("live new.txt");
    await listed("1 request");
    expect(await page.locator("[data-request]").getAttribute("data-request")).toBe(id);
    await page.getByLabel("Search the requests").fill("");
    await page.locator("[data-request]").nth(1).waitFor();
    await button("Filter").click();
    await page.getByLabel("Operation", { exact: true }).selectOption("create");
    await page.getByLabel("Task", { exact: true }).fill("task-live");
    await page.getByLabel("User", { exact: true }).fill("21");
    await button("Apply").click();
    await listed("1 request");
    expect(await page.locator("[data-request]").getAttribute("data-request")).toBe(id);
    await button("Filter").click();
    await page.getByLabel("User", { exact: true }).fill('"21"');
    await button("Apply").click();
    await page.getByText("Nothing matches").waitFor();
  });

  it("decides a group together, each line by its own choice, in one transaction", async () => {
    const ids = [];
    for (const name of ["a", "b", "c"]) ids.push(await fixture.ask(file("read", `/srv/group/${name}`)));
    await page.goto(`${fixture.origin}/`);
    await page.getByLabel("Search the requests").fill("/srv/group");
    await button("Group").click();
    await page.getByLabel(/^Tick all 3: read in \/srv\/group/).check();
    await page
      .getByRole("group", { name: "Decide what is ticked" })
      .getByRole("button", { name: "Approve…" })
      .click();
    await dialog().waitFor();
    await dialog().locator("li").nth(0).locator("select").selectOption("deny");
    await dialog().locator("li").nth(1).locator("select").selectOption("leave");
    await button("Decide 2 requests").click();
    await answered("2 requests decided together");
    const shown = await Promise.all(ids.map(statusOf));
    expect(new Set(shown)).toEqual(new Set(["approved_session", "denied", "pending"]));
  });

  it("takes a batch back by undo, approvals and denials alike", async () => {
    const asked = ["a", "b"].map((name) => file("read", `/srv/undone/${name}`));
    const ids = [];
    for (const one of asked) ids.push(await fixture.ask(one));
    await page.goto(`${fixture.origin}/`);
    await page.getByLabel("Search the requests").fill("/srv/undone");
    for (const id of ids) await page.locator(`[data-request="${id}"] input`).check();
    await page
      .getByRole("group", { name: "Decide what is ticked" })
      .getByRole("button", { name: "Approve…" })
      .click();
    await dialog().locator("li").nth(0).locator("select").selectOption("deny");
    await button("Decide 2 requests").click();
    await answered("2 requests decided together");
    expect(new Set(await Promise.all(asked.map((one) => fixture.ask(one))))).toEqual(
      new Set(["allowed_session", "resource_disabled"]),
    );
    await button("Undo all 2").click();
    await answered(/2 decisions taken back/);
    for (const one of asked) {
      const again = await fixture.ask(one);
      expect(await statusOf(again)).toBe("pending");
      await page.locator(`[data-request="${again}"]`).waitFor();
    }
  });

  it("decides nothing of a batch where one line was decided elsewhere, and marks that line", async () => {
    const ids = [];
    for (const name of ["a", "b"]) ids.push(await fixture.ask(file("read", `/srv/stale/${name}`)));
    await page.goto(`${fixture.origin}/`);
    await page.getByLabel("Search the requests").fill("/srv/stale");
    for (const id of ids) await page.locator(`[data-request="${id}"] input`).check();
    await page
      .getByRole("group", { name: "Decide what is ticked" })
      .getByRole("button", { name: "Approve…" })
      .click();
    await dialog().waitFor();
    const record = await fixture.sallyport.service.list.request(PERSON, ids[0] ?? "");
    await fixture.sallyport.service.deny(PERSON, {
      requestId: record?.id ?? "",
      digest: record?.digest ?? "",
    });
    await button("Decide 2 requests").click();
    await page.locator("[data-batch-refused]").waitFor();
    const marked = dialog()
      .locator("li")
      .getByText(/Already decided/);
    await marked.waitFor();
    expect(await marked.count()).toBe(1);
    expect(await statusOf(ids[1] ?? "")).toBe("pending");
  });
});
