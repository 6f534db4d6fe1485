/**
 * Each command in both its forms, for people and for programs: what it prints, how it ends, and that a wrong word changes
 * nothing. What the commands do to programs that wait is in `owner-commands.test.ts`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Ended } from "../testing/cli-process.ts";
import type { GatedPrograms } from "../testing/gated-children.ts";
import { type InlineOptions, runInline } from "../testing/inline-command.ts";
import { ownerOfFile } from "../testing/owner-of-file.ts";
import { type RunningOwner, pendingRequests } from "../testing/running-owner.ts";

let programs: GatedPrograms;
let owner: RunningOwner;
ownerOfFile((started) => ({ programs, owner } = started));

const run = (args: readonly string[], options?: InlineOptions): Promise<Ended> =>
  runInline({ data: owner.data, cwd: owner.folder }, args, options);
const json = async <T>(args: readonly string[]): Promise<T> =>
  JSON.parse((await run([...args, "--json"])).stdout) as T;

const EVIL = "a\u001b[2J\u202eb";
const SHOWN = "a\\u{1b}[2J\\u{202e}b";

interface Form {
  readonly args: readonly string[];
  /** For people: stdout, then stderr. */
  readonly shows: RegExp | string;
  /** For programs. */
  readonly json: object;
  readonly code?: number;
  readonly stdin?: string;
}

/** First for people, then for programs: whatever it changes it changes once. */
async function holds({ args, shows, json: wanted, code = 0, stdin = "" }: Form): Promise<void> {
  const people = await run(args, { stdin });
  const text = people.stdout + people.stderr;
  expect({ args, code: people.code, text }).toEqual({ args, code, text: matching(shows) });
  expect(text).not.toMatch(/[\p{Cc}\p{Cf}](?<!\n)/u);
  const machine = await run([...args, "--json"], { stdin });
  expect({ args, code: machine.code }).toEqual({ args, code });
  expect(machine.stdout.trim().split("\n")).toHaveLength(1);
  expect(JSON.parse(machine.stdout)).toMatchObject(wanted);
}

const matching = (shows: RegExp | string): unknown =>
  typeof shows === "string" ? expect.stringContaining(shows) : expect.stringMatching(shows);

/** A request that waits, made by a program of its own. */
async function asked(target: string): Promise<{ readonly id: string; readonly digest: string }> {
  owner.start(programs, { waitsFor: target }, "--session", "forms");
  for (;;) {
    const rows = await pendingRequests(owner, 1);
    const row = rows.find(({ resource }) => resource.target === target);
    if (row !== undefined) return row;
  }
}

describe("deciding", () => {
  it("requests shows one whole, and says where there is none", async () => {
    const { id, digest } = await asked("https://forms.example.com/a/b");
    await holds({
      args: ["requests", id],
      shows:
        /wants\n {2}Network receive {2}https:\/\/forms\.example\.com\/a\/b\n[^]*--widen [^]*digest [0-9a-f]+/,
      json: { request: { id, digest, status: "pending" } },
    });
    await holds({
      args: ["requests", "--session", "forms"],
      shows: /^ID +AGE +COUNT +SESSION +SUBJECT +WANTS +TARGET\nrequest-\S+ [^]*next: `sallyport approve`/,
      json: { rows: [{ id }], next: null },
    });
    await holds({
      args: ["requests", "--subject-name", EVIL],
      shows: "nothing waits for a decision",
      json: { rows: [] },
    });
    await holds({
      args: ["requests", "request-0000000000000000"],
      shows: /sallyport: .* \[not_found\]/,
      json: { ok: false, exit: 3, code: "not_found" },
      code: 3,
    });
  });

  it("approve reaches no further than the request offers, and takes limits", async () => {
    const [request] = await pendingRequests(owner, 1);
    const id = request?.id ?? "";
    await holds({
      args: ["approve", id, "--yes", "--session", "--permanent"],
      shows: "exclude each other",
      json: { ok: false, exit: 2 },
      code: 2,
    });
    await holds({
      args: ["approve", id, "--yes", "--widen", "directory"],
      shows: /cannot be widened to `directory`\n +one of `exact`, /,
      json: { ok: false, exit: 6 },
      code: 6,
    });
    const none = await run(["approve", id, "--uses", "none"]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("a whole number of at least 1")]);
    const words = ["approve", id, "--yes", "--permanent", "--uses", "3", "--widen", "path_prefix"];
    const { approval } = await json<{ approval: { id: string } }>([...words, "--reason", EVIL]);
    expect(approval).toMatchObject({ scope: "permanent", max_uses: 3, match: "path_prefix" });
    await holds({
      args: ["grants", "--scope", "permanent"],
      shows: /3 of 3 uses +tool local\.\S+ +Network receive +path_prefix +https:\/\/forms\.example\.com\//,
      json: { rows: [{ approval: { id: approval.id }, alive: true }] },
    });
    await holds({
      args: ["revoke", approval.id, "--reason", EVIL],
      shows: "revoked: the next use asks again",
      json: { ok: true, repeated: true },
    });
    await holds({ args: ["grants"], shows: "nothing is approved", json: { rows: [] } });
  });

  it("deny says how to take it back, block writes a rule; revoke knows which is which", async () => {
    const { id } = await asked("https://forms.example.com/denied");
    const denied = await run(["deny", id, "--yes", "--reason", EVIL]);
    const [, denial = ""] = /sallyport revoke (denial-\S+)/.exec(denied.stdout) ?? [];
    expect([denied.code, denial]).toEqual([0, expect.stringMatching(/^denial-/)]);
    await holds({
      args: ["grants", "--denials"],
      shows: SHOWN,
      json: { rows: [{ id: denial, reason: EVIL }] },
    });
    await holds({ args: ["revoke", denial], shows: "it can be asked for again", json: { repeated: true } });
    const blocked = await asked("https://forms.example.com/blocked");
    const { rule_id: rule } = await json<{ rule_id: string }>(["deny", blocked.id, "--yes", "--block"]);
    await holds({
      args: ["revoke", rule],
      shows: `sallyport rules remove ${rule}`,
      json: { ok: false, exit: 2 },
      code: 2,
    });
    await holds({ args: ["rules", "remove", rule], shows: "removed", json: { ok: true, repeated: true } });
    await holds({ args: ["deny"], shows: "name the request to deny", json: { exit: 2 }, code: 2 });
  });
});

describe("host policy", () => {
  it("rules are added for a subject or for everybody, replaced by id, and listed", async () => {
    const words = ["rules", "add", "ask", "filesystem", "read", "/srv/forms", "--id", "rule-forms"];
    const subject = ["--subject-type", "tool", "--subject-name", "demo.tool"];
    await holds({ args: words, shows: "added rule-forms", json: { ok: true, rule_id: "rule-forms" } });
    await holds({
      args: ["rules", "list"],
      shows: /rule-forms +ask +host +everybody +filesystem read +\/srv\/forms/,
      json: { rows: [{ rule: { id: "rule-forms", effect: "ask" } }] },
    });
    await holds({ args: [...words, ...subject], shows: "added", json: { ok: true } });
    await holds({ args: ["rules"], shows: /host +tool demo\.tool/, json: { rows: [{}] } });
    await holds({
      args: [...words, "--subject-type", "tool"],
      shows: "give `--subject-type` and `--subject-name` together",
      json: { exit: 2 },
      code: 2,
    });
    await holds({
      args: ["rules", "add", "deny", "filesystem", "burn", EVIL],
      shows: /operation .*operations: /s,
      json: { exit: 6, code: "invalid_request" },
      code: 6,
    });
    await holds({
      args: ["check", "tool", "demo.tool", "filesystem", "read", "/srv/forms"],
      shows: /^approval_required {2}/,
      json: { check: { code: "approval_required", requires_approval: true } },
      code: 8,
    });
  });

  it("mode shows its end, freeze its state", async () => {
    await holds({
      args: ["mode", "never", "--for", "8h", "--reason", EVIL],
      shows: "the mode is never",
      json: { ok: true },
    });
    await holds({ args: ["mode"], shows: /^never until 20\d\d-/, json: { mode: "never" } });
    await holds({
      args: ["mode", EVIL],
      shows: `${SHOWN}\` is no mode`,
      json: { ok: false, exit: 2 },
      code: 2,
    });
    await holds({ args: ["mode", "default"], shows: "the mode is default", json: { ok: true } });
    await holds({ args: ["freeze", "--status"], shows: /^not frozen\n$/, json: { frozen: false } });
    await holds({ args: ["freeze", "--reason", EVIL], shows: "frozen: only declared", json: { ok: true } });
    await holds({
      args: ["freeze", "--status"],
      shows: `frozen: ${SHOWN}`,
      json: { frozen: true, reason: EVIL },
    });
    await holds({ args: ["freeze", "--off"], shows: "no longer frozen", json: { ok: true } });
  });

  it("policy goes to stdout or into a new file, and comes from one that can be read", async () => {
    const policy = { sallyport_policy: 1, mode: "default", rules: [{ id: "rule-forms" }] };
    await holds({ args: ["policy", "export"], shows: /^\{"sallyport_policy":1,/, json: policy });
    const file = join(owner.folder, "forms-policy.json");
    expect(await json(["policy", "export", file])).toEqual({ file });
    await holds({ args: ["policy", "export", file], shows: "name a new file", json: { exit: 1 }, code: 1 });
    await holds({
      args: ["policy", "import", file, "--dry-run"],
      shows: "would set 0 rules, remove 0; the mode stays",
      json: { dry_run: true, set: 0, removed: 0, mode: null },
    });
    await holds({ args: ["policy", "import", "nowhere"], shows: "cannot be read", json: {}, code: 3 });
    writeFileSync(file, JSON.stringify({ ...policy, mode: "bypass", rules: [] }));
    await holds({ args: ["policy", "import", file], shows: "nothing was changed", json: {}, code: 6 });
    await holds({
      args: ["rules", "remove", "rule-forms"],
      shows: "removed",
      json: { ok: true, repeated: true },
    });
    await holds({ args: ["rules"], shows: "there are no rules", json: { rows: [] } });
  });

  it("session list and end name the session whole, and ending one twice changes nothing", async () => {
    const user = `"local:${process.getuid?.() ?? 0}"`;
    await asked("https://forms.example.com/session");
    await holds({
      args: ["session", "list"],
      shows: /^ORGANIZATION +USER +APPROVALS +PENDING +KEY\nnull +"local:\d+" +\d+ +[1-9]\d* +forms\n/,
      json: { rows: [{ session_key: "forms", organization_id: null }] },
    });
    await holds({
      args: ["session", "end", "forms", "--user", user],
      shows: /^ended\n$/,
      json: { ok: true, repeated: true },
    });
    await holds({ args: ["session"], shows: "no session holds anything", json: { rows: [] } });
  });
});

describe("people", () => {
  const stdin = "correct horse battery staple\n";

  it("admin prints links, accounts and keys, and never a password", async () => {
    await holds({
      args: ["admin", "link", "--name", "ada"],
      shows: /#token=\S+\nworth one sign-in until 20/,
      json: { url: expect.stringContaining("#token=") },
    });
    await holds({
      args: ["admin", "link", "--name", EVIL],
      shows: /\/name .* \[invalid_request\]/,
      json: { exit: 6, code: "invalid_request" },
      code: 6,
    });
    await holds({ args: ["admin", "accounts"], shows: "there are no local accounts", json: { rows: [] } });
    const added = await run(["admin", "add", "grace", "--organization", '"7"'], { stdin });
    expect([added.code, added.stdout]).toEqual([0, "grace was added\n"]);
    await holds({
      args: ["admin", "accounts"],
      shows: /^STATE +ORGANIZATION +ROLES +NAME\nenabled +"7" +grace\n/,
      json: { rows: [{ name: "grace", organization_id: "7", roles: [], disabled: false }] },
    });
    await holds({
      args: ["admin", "disable", "grace", "--reason", EVIL],
      shows: "grace is disabled",
      json: { name: "grace", disabled: true },
    });
    await holds({ args: ["admin", "disable", "grace", "--off"], shows: "is enabled", json: {} });
    await holds({
      args: ["admin", "password", "grace"],
      shows: "grace has a new password",
      json: { name: "grace" },
      stdin,
    });
    await holds({
      args: ["admin", "password", EVIL],
      shows: `there is no account \`${SHOWN}\``,
      json: { exit: 3 },
      code: 3,
      stdin,
    });
    await holds({
      args: ["admin", "keys"],
      shows: /^ID +STATE +MADE\n\S+ +active +20/,
      json: { keys: [{ state: "active" }] },
    });
  });
});

describe("the audit log", () => {
  it("is followed, searched and exported for people as lines that no event can break", async () => {
    const tail = await run(["audit", "tail", "--start", "--type", "policy.changed"], {
      onOutput: (text, end) => void (/^20\S+ policy\.changed set_freeze.*\n/m.test(text) && end()),
    });
    expect([tail.code, tail.stderr]).toEqual([0, "following the log; ctrl-c ends\n"]);
    expect(tail.stdout).not.toMatch(/[\p{Cc}\p{Cf}](?<!\n)/u);
    await holds({
      args: ["audit", "search", "--code", "set_mode", "--limit", "1"],
      shows: /^20\S+ policy\.changed set_mode by local:\d+\n[^]*there is more: `--after /,
      json: { rows: [{ type: "policy.changed", code: "set_mode" }], next: expect.any(String) },
    });
    await holds({ args: ["audit", "search", "--task", EVIL], shows: "no event matches", json: { rows: [] } });
    const when = await run(["audit", "search", "--from", "yesterday"]);
    expect([when.code, when.stderr]).toEqual([2, expect.stringContaining("write a time such as")]);
    const { stdout } = await run(["audit", "export"]);
    const rows = stdout.trim().split("\n");
    expect(rows.every((row) => typeof JSON.parse(row) === "object")).toBe(true);
    const file = join(owner.folder, "forms.jsonl");
    expect(await json(["audit", "export", file])).toEqual({ file });
    expect(readFileSync(file, "utf8").split("\n").length).toBeGreaterThan(rows.length);
  });

  it("is found changed by verify where somebody wrote in its file, and the first bad row is named", async () => {
    const reason = "nobody can have changed this";
    expect((await run(["freeze", "--reason", reason])).code).toBe(0);
    await holds({ args: ["audit", "verify"], shows: /^✔ /, json: { ok: true } });
    expect(await owner.interrupt()).toBe(0);
    const file = join(owner.data, "store.db");
    const bytes = readFileSync(file, "latin1");
    expect(bytes).toContain(reason);
    writeFileSync(file, bytes.replaceAll(reason, "somebody has changed this!!!"), "latin1");
    await holds({
      args: ["audit", "verify"],
      shows: /^✘ [^]*next: compare with an export/,
      json: { ok: false },
      code: 9,
    });
  });
});
