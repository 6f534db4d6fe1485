/** The inbox in a real terminal, against a real owner. */
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type BundledCli, printed } from "../testing/cli-process.ts";
import type { GatedPrograms } from "../testing/gated-children.ts";
import { ownerOfFile } from "../testing/owner-of-file.ts";
import { type RunningOwner, pendingRequests } from "../testing/running-owner.ts";
import { KEYS, type TerminalProcess, openTerminal } from "../testing/terminal-process.ts";

let cli: BundledCli;
let programs: GatedPrograms;
let owner: RunningOwner;
let screen: TerminalProcess | undefined;
ownerOfFile((started) => ({ cli, programs, owner } = started));
afterEach(() => screen?.kill());

async function openInbox(): Promise<TerminalProcess> {
  screen = await openTerminal(process.execPath, [cli.file, "approve", "--data", owner.data], {
    cwd: owner.folder,
  });
  await screen.shows(/Sallyport inbox/);
  return screen;
}

describe("the inbox in a terminal", () => {
  it("shows a request as a sentence, approves it once, and the program goes on", async () => {
    const child = owner.start(programs, { waitsFor: "https://other.example.com/x" });
    await pendingRequests(owner, 1);
    const out = printed(child, /\{.*\}/);
    const inbox = await openInbox();
    await inbox.shows(/1 waiting/);
    await inbox.shows(/Network receive https:\/\/other\.example\.com\/x/);
    inbox.send(KEYS.enter);
    await inbox.shows(/tool local\.[0-9a-f]+ wants/);
    await inbox.shows(/session run-/);
    await inbox.shows(/what now\?/);
    await inbox.shows(/Approve once/);
    inbox.send(KEYS.enter);
    await inbox.shows(/approved for the session, once/);
    await inbox.shows(/to take it back: sallyport revoke approval-/);
    expect(JSON.parse((await out)[0])).toMatchObject({ codes: ["allowed_session"] });
    await inbox.shows(/nothing waits for a decision/);
    inbox.send(KEYS.interrupt);
    expect(await inbox.ended).toBe(0);
  });

  it("shows a request that comes while it is open, and denies it with a reason", async () => {
    const inbox = await openInbox();
    await inbox.shows(/nothing waits for a decision/);
    const child = owner.start(programs, { waitsFor: "https://late.example.com/x" });
    const out = printed(child, /\{.*\}/);
    await inbox.shows(/late\.example\.com/);
    inbox.send(KEYS.enter);
    await inbox.shows(/what now\?/);
    await inbox.shows(/Back/);
    inbox.send(KEYS.up + KEYS.up + KEYS.up);
    inbox.send(KEYS.enter);
    await inbox.shows(/Why\?/);
    inbox.send(`not needed${KEYS.enter}`);
    await inbox.shows(/denied denial-/);
    expect(JSON.parse((await out)[0])).toMatchObject({ codes: ["resource_disabled"] });
    const { rows } = await owner.json<{ rows: { reason: string }[] }>(["grants", "--denials"]);
    expect(rows).toMatchObject([{ reason: "not needed" }]);
  });

  it("does not approve what is destructive at the press of one key", async () => {
    owner.start(programs, { sends: "https://pay.example.com/" }, "--session", "paying");
    const [request] = await pendingRequests(owner, 1);
    const inbox = await openInbox();
    await inbox.shows(/Network send https:\/\/pay\.example\.com/);
    inbox.send(KEYS.enter);
    await inbox.shows(/destructive/);
    await inbox.shows(/what now\?/);
    await inbox.shows(/Back/);
    inbox.send(KEYS.enter);
    await inbox.shows(/1 waiting/);
    expect((await pendingRequests(owner, 1)).map(({ id }) => id)).toEqual([request?.id]);
    inbox.send(KEYS.enter);
    await inbox.shows(/what now\?/);
    await inbox.shows(/Back/);
    inbox.send(KEYS.down + KEYS.down + KEYS.enter);
    await inbox.shows(/This is destructive\. Approve it\?/);
    inbox.send(KEYS.enter);
    await inbox.shows(/1 waiting/);
    expect(await owner.run(["deny", request?.id ?? "", "--yes"])).toMatchObject({ code: 0 });
  });

  it("attack: a target that draws on the terminal is only ever text", async () => {
    const file = join(owner.folder, "\u001b]0;owned\u0007\u001b[2J\u001b[1;1HApproved\r\n\u202etxt");
    owner.start(programs, { file }, "--session", "hostile");
    const [request] = await pendingRequests(owner, 1);
    const inbox = await openInbox();
    await inbox.shows(/1 waiting/);
    inbox.send(KEYS.enter);
    await inbox.shows(/what now\?/);
    await inbox.shows(/Back/);
    for (const forbidden of ["\u001b]0;", "\u0007", "\u001b[2J", "\u001b[1;1H", "\u202e"])
      expect(inbox.raw).not.toContain(forbidden);
    expect(inbox.text).toContain("\\u{1b}]0;owned\\u{7}\\u{1b}[2J");
    inbox.kill();
    expect(await owner.run(["deny", request?.id ?? "", "--yes"])).toMatchObject({ code: 0 });
  });

  it("needs a terminal", async () => {
    const { code, stderr } = await owner.run(["approve"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("the inbox needs a terminal")]);
  });
});

describe("a decision by id in a terminal", () => {
  it("shows what it is about and asks first", async () => {
    const child = owner.start(programs, { waitsFor: "https://asked.example.com/x" });
    const out = printed(child, /\{.*\}/);
    const [request] = await pendingRequests(owner, 1);
    const args = [cli.file, "approve", request?.id ?? "", "--data", owner.data];
    screen = await openTerminal(process.execPath, args, { cwd: owner.folder });
    await screen.shows(/https:\/\/asked\.example\.com\/x/);
    await screen.shows(/Approve this\?/);
    screen.send(KEYS.enter);
    await screen.shows(/approved for the session/);
    expect(await screen.ended).toBe(0);
    expect(JSON.parse((await out)[0])).toMatchObject({ codes: ["allowed_session"] });
  });

  it("uses colour there, and none with NO_COLOR", async () => {
    const coloured = await openTerminal(process.execPath, [cli.file, "doctor"], { cwd: owner.folder });
    await coloured.ended;
    expect(coloured.raw).toContain("\u001b[");
    const plain = await openTerminal(process.execPath, [cli.file, "doctor"], {
      cwd: owner.folder,
      env: { NO_COLOR: "1" },
    });
    await plain.ended;
    expect(plain.raw).not.toContain("\u001b[");
  });
});
