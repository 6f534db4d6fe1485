/** The pages beside the inbox: each shows what stands, and changes it. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Asked, PERSON, consoleOfFile } from "./console-fixture.ts";

const fixture = await consoleOfFile();
const page = await fixture.signedIn();

const read = (target: string): Asked => ({ resourceType: "filesystem", operation: "read", target });
const goto = (path: string): Promise<unknown> => page.goto(fixture.origin + path);
const row = (text: string) => page.locator("li").getByText(text).first();
const confirm = (name: string) => page.getByRole("dialog").getByRole("button", { name });
const decide = async (id: string, kind: "approveForSession" | "approvePermanently" | "deny", words = {}) => {
  const { service } = fixture.sallyport;
  const record = await service.list.request(PERSON, id);
  const decision = await service[kind](PERSON, { requestId: id, digest: record?.digest ?? "" }, words);
  expect(decision.ok).toBe(true);
};

describe("empty pages", () => {
  it.each([
    ["/", "Nothing waits for you"],
    ["/grants", "No grants"],
    ["/denials", "No denials"],
    ["/rules", "No rules"],
    ["/jobs", "No jobs"],
    ["/sessions", "No sessions"],
    ["/sandbox", "No sandbox has been applied"],
    ["/nowhere", "There is no such page"],
  ])("%s says so", async (path, words) => {
    await goto(path);
    await page.getByText(words).waitFor();
  });
});

describe("what stands", () => {
  it("lists grants with their end and their last use, and says what will ask again before it revokes", async () => {
    const asked = read("/srv/granted");
    const id = await fixture.ask(asked);
    await decide(id, "approvePermanently", { maxUses: 5, expiresAtMs: Date.now() + 3_600_000 });
    await goto("/grants");
    await page
      .getByRole("list", { name: "Grants" })
      .locator("li", { hasText: /may read[^]*permanent[^]*used\s*0 of 5[^]*last use\s*never/ })
      .waitFor();
    await page.getByRole("button", { name: "Revoke…" }).click();
    expect(await page.locator("[data-asks-again]").innerText()).toContain("Filesystem read of /srv/granted");
    await confirm("Revoke").click();
    await page.getByText("No grants").waitFor();
    expect(await fixture.ask(asked)).not.toBe("allowed_permanent");
  });

  it("lists denials and takes them back", async () => {
    const asked = read("/srv/refused");
    await decide(await fixture.ask(asked), "deny", { reason: "not today" });
    await goto("/denials");
    await page.getByText("not today").waitFor();
    await page.getByRole("button", { name: "Take back…" }).click();
    await confirm("Take back").click();
    await page.getByText("No denials").waitFor();
    expect(await fixture.ask(asked)).not.toBe("resource_disabled");
  });

  it("adds and removes a rule", async () => {
    await goto("/rules");
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByLabel("Resource").selectOption("filesystem");
    await page.getByLabel("Operation").selectOption("read");
    await page.getByLabel("Target").fill("/srv/secret/");
    await confirm("Add the rule").click();
    await row("/srv/").waitFor();
    expect(await fixture.ask(read("/srv/secret/x"))).toBe("denied_rule");
    await page.getByRole("button", { name: "Remove…" }).click();
    await confirm("Remove").click();
    await page.getByText("No rules").waitFor();
    expect(await fixture.ask(read("/srv/secret/x"))).not.toBe("denied_rule");
  });

  it("changes the mode and says so on every page", async () => {
    await goto("/rules");
    await page.getByLabel("Mode", { exact: true }).selectOption("never");
    await page.getByRole("button", { name: "Change the mode" }).click();
    await page
      .getByText(/Mode “Never ask”/)
      .first()
      .waitFor();
    expect(await fixture.ask(read("/srv/never"))).toBe("denied_mode");
    await page.getByLabel("Mode", { exact: true }).selectOption("default");
    await page.getByRole("button", { name: "Change the mode" }).click();
    await page.getByText(/Mode is now “Default”/).waitFor();
  });

  it("freezes everything outside the allowlist, and lifts it", async () => {
    const asked = read("/srv/frozen");
    await decide(await fixture.ask(asked), "approvePermanently");
    await goto("/rules");
    await page.getByRole("button", { name: "Freeze…" }).click();
    await confirm("Freeze").click();
    await page.getByText(/Frozen: everything outside the allowlist is refused/).waitFor();
    expect(await fixture.ask(asked)).not.toBe("allowed_permanent");
    await page.getByRole("button", { name: "Lift the freeze…" }).click();
    await confirm("Lift").click();
    await page.getByText("not frozen").waitFor();
    expect(await fixture.ask(asked)).toBe("allowed_permanent");
  });
});

describe("what runs", () => {
  it("shows a failed job with its last error, and tries it again", async () => {
    let runs = 0;
    fixture.sallyport.runtime.registerAction("demo", "demo.flaky", () => {
      runs += 1;
      if (runs === 1) throw new Error("the database is away");
    });
    const id = await fixture.ask(read("/srv/flaky"), { resumeAction: "demo.flaky" });
    await decide(id, "approveForSession");
    await fixture.sallyport.service.executor.runDue();
    await goto("/jobs");
    await page.locator("[data-last-error]").getByText("the database is away").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("list", { name: "Resume jobs" }).getByText("done", { exact: true }).waitFor();
    expect(runs).toBe(2);
  });

  it("ends a session, and its approvals with it", async () => {
    const asked = read("/srv/in-session");
    const options = { sessionKey: "sess-ending" };
    await decide(await fixture.ask(asked, options), "approveForSession");
    expect(await fixture.ask(asked, options)).toBe("allowed_session");
    await goto("/sessions");
    const line = page.locator("li", { hasText: "sess-ending" });
    await line.getByRole("button", { name: "End…" }).click();
    await confirm("End the session").click();
    await line.waitFor({ state: "detached" });
    expect(await fixture.ask(asked, options)).not.toBe("allowed_session");
  });

  it("holds declarations against use, and suggests what to declare as a patch", async () => {
    await decide(await fixture.ask(read("/srv/declare-me")), "approvePermanently");
    const feed = {
      resourceType: "network",
      operation: "receive",
      target: "https://declared.example.com/feed",
    };
    expect(await fixture.ask(feed)).toBe("allowed_sandbox");
    await goto("/manifests");
    await page.getByRole("button", { name: /demo\.read_file/ }).click();
    await page
      .getByRole("list", { name: "Declared" })
      .locator("li", { hasText: /https:\/\/declared\.example\.com[^]*used 1 time/ })
      .waitFor();
    await page
      .getByRole("region", { name: "Not declared" })
      .locator("li", { hasText: /\/srv\/declare-me[^]*asked 1 time/ })
      .waitFor();
    const patch = await page.locator("[data-declare] pre").innerText();
    expect(JSON.parse(patch)).toContainEqual({
      op: "add",
      path: "/access/-",
      value: { resource_type: "filesystem", operation: "read", target: "/srv/declare-me" },
    });
  });

  it("shows the log, narrowed by a field, with its chart, and verifies the chain", async () => {
    const id = await fixture.ask(read("/srv/audited"));
    await goto(`/audit?target=${encodeURIComponent("/srv/audited")}`);
    await page.locator("[data-event]").first().waitFor();
    expect(await page.locator("[data-event]").first().innerText()).toMatch(
      /Asked[^]*demo\.read_file read \/srv\/audited/,
    );
    await page.locator("[data-event] button").first().click();
    await page.getByText(id).first().waitFor();
    await page.getByRole("img", { name: /Decisions in the last 24 hours: .*asked/ }).waitFor();
    await decide(id, "deny");
    await page
      .locator("[data-event]", { hasText: /by a person[^]*user 1: deny\s+tool demo\.read_file/ })
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Verify the chain" }).click();
    await page.locator('[data-verified="true"]').waitFor();
  });

  it("gives the log away as JSON lines, to whoever is signed in", async () => {
    const id = await fixture.ask(read("/srv/exported"));
    await goto("/audit");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const taken = await download;
    expect(taken.suggestedFilename()).toBe("sallyport-events.jsonl");
    const text = readFileSync(await taken.path(), "utf8");
    expect(text).toContain(id);
    for (const line of text.trim().split("\n")) expect(() => JSON.parse(line) as unknown).not.toThrow();
  });
});
