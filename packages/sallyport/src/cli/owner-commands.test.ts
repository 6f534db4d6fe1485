/** Each command against a real owner process on a real data folder. */
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type BundledCli, printed, runCli, startCli } from "../testing/cli-process.ts";
import type { GatedPrograms } from "../testing/gated-children.ts";
import { ownerOfFile } from "../testing/owner-of-file.ts";
import { type RunningOwner, pendingRequests, startOwner } from "../testing/running-owner.ts";

let cli: BundledCli;
let programs: GatedPrograms;
let owner: RunningOwner;
ownerOfFile((started) => ({ cli, programs, owner } = started));

const OTHER = "https://other.example.com/x";
const exit = async (...args: string[]): Promise<number | null> => (await owner.run(args)).code;

describe("sallyport up", () => {
  it("prints a link that signs in once, and keeps its sockets to itself", async () => {
    expect(owner.link.startsWith(`${owner.origin}/#token=`)).toBe(true);
    const token = owner.link.split("#token=")[1];
    const signIn = () =>
      fetch(`${owner.origin}/v1/sign-in/link`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: owner.origin },
        body: JSON.stringify({ token }),
      });
    expect([(await signIn()).status, (await signIn()).status]).toEqual([200, 401]);
    for (const name of ["admin.sock", "run.sock"])
      expect(statSync(join(owner.data, name)).mode & 0o777).toBe(0o600);
    expect(statSync(owner.data).mode & 0o777).toBe(0o700);
  });

  it("says whether it is read who connects to its socket, and goes on without a compiler", async () => {
    expect(owner.said()).toContain('"admin_socket":{"peers":"read","reason":null}');
    const env = { SALLYPORT_CC: "no-such-compiler", SALLYPORT_CACHE: join(owner.folder, "no-cache") };
    const args = ["up", "--data", join(owner.folder, "plain"), "--port", "0", "--no-console"];
    const child = startCli(cli, args, { env });
    const ended = new Promise((resolve) => child.once("close", resolve));
    const [told] = await printed(child, /socket +who connects is not read.*/);
    expect(told).toContain("install a C compiler");
    child.kill("SIGINT");
    await ended;
  });

  it("refuses a folder that has an owner, and names it", async () => {
    const { code, stderr } = await owner.run(["up", "--port", "0", "--no-console"]);
    expect([code, stderr]).toEqual([10, expect.stringContaining(`process ${owner.process.pid}`)]);
  });

  it("listens beyond loopback only behind TLS", async () => {
    const args = [
      "up",
      "--data",
      join(owner.folder, "open"),
      "--port",
      "0",
      "--listen",
      "0.0.0.0",
      "--no-console",
    ];
    const { code, stderr } = await runCli(cli, args);
    expect([code, stderr]).toEqual([1, expect.stringContaining("TLS")]);
  });
});

describe("deciding", () => {
  it("approve needs the digest of what was shown, and lets the program go on", async () => {
    const child = owner.start(programs, { waitsFor: OTHER });
    const [request] = await pendingRequests(owner, 1);
    const { id = "", digest = "" } = request ?? {};
    const shown = await owner.run(["requests", id]);
    expect(shown.stdout).toContain("Network receive  https://other.example.com/x");
    expect(shown.stdout).toContain(digest);
    expect(await exit("approve", id)).toBe(2);
    expect(await exit("approve", id, "--digest", "0".repeat(64))).toBe(5);
    const out = printed(child, /\{.*\}/);
    expect(await exit("approve", id, "--digest", digest, "--once")).toBe(0);
    expect(JSON.parse((await out)[0])).toMatchObject({ codes: ["allowed_session"] });
    const again = await owner.run(["deny", id, "--yes"]);
    expect([again.code, again.stderr]).toEqual([5, expect.stringContaining("already_decided")]);
  });

  it("several are decided in one transaction: all, or where one is refused none", async () => {
    const children = ["a", "b"].map((name) =>
      owner.start(programs, { waitsFor: `https://${name}.example.com/` }),
    );
    const rows = await pendingRequests(owner, 2);
    const ids = rows.map(({ id }) => id);
    expect(await exit("approve", ...ids, "request-0000000000000000", "--yes")).toBe(3);
    expect(await pendingRequests(owner, 2)).toHaveLength(2);
    const out = children.map((child) => printed(child, /\{.*\}/));
    expect(await exit("deny", ...ids, "--yes", "--reason", "not now")).toBe(0);
    for (const one of out) expect(JSON.parse((await one)[0])).toMatchObject({ codes: ["resource_disabled"] });
    const { rows: denials } = await owner.json<{ rows: { id: string; reason: string }[] }>([
      "grants",
      "--denials",
    ]);
    expect(denials.map(({ reason }) => reason)).toEqual(["not now", "not now"]);
    for (const { id } of denials) expect(await exit("revoke", id)).toBe(0);
    expect((await owner.run(["grants", "--denials"])).stderr).toContain("nothing is denied");
  });

  it("a permanent approval is listed, and asks again once it is revoked", async () => {
    owner.start(programs, { waitsFor: OTHER }, "--session", "kept");
    const [request] = await pendingRequests(owner, 1);
    expect(await exit("approve", request?.id ?? "", "--yes", "--permanent", "--for", "8h")).toBe(0);
    type Page = { rows: { approval: { id: string; scope: string }; alive: boolean }[] };
    const { rows } = await owner.json<Page>(["grants", "--scope", "permanent"]);
    expect(rows).toMatchObject([{ approval: { scope: "permanent" }, alive: true }]);
    expect((await owner.run(["grants"])).stdout).toContain("until ");
    expect(await exit("revoke", rows[0]?.approval.id ?? "", "--reason", "over")).toBe(0);
    expect((await owner.json<Page>(["grants"])).rows).toEqual([]);
    expect(await exit("revoke", "nonsense")).toBe(2);
  });

  it("block writes a rule, which beats a declaration", async () => {
    owner.start(programs, { waitsFor: "https://blocked.example.com/" });
    const [request] = await pendingRequests(owner, 1);
    expect(await exit("deny", request?.id ?? "", "--yes", "--block")).toBe(0);
    const { rows } = await owner.json<{ rows: { rule: { id: string; effect: string } }[] }>([
      "rules",
      "list",
    ]);
    expect(rows).toMatchObject([{ rule: { effect: "deny" } }]);
    expect(await exit("rules", "remove", rows[0]?.rule.id ?? "")).toBe(0);
  });
});

describe("host policy", () => {
  const check = (...words: string[]) => owner.run(["check", "tool", "demo.tool", "filesystem", ...words]);

  it("check says what would happen and registers nothing", async () => {
    const asked = await check("read", "/srv/x", "--explain");
    expect([asked.code, asked.stdout]).toEqual([8, expect.stringContaining("would allow it")]);
    expect(await exit("rules", "add", "allow", "filesystem", "read", "/srv/")).toBe(0);
    expect((await check("read", "/srv/x")).code).toBe(0);
    expect(await exit("rules", "add", "deny", "filesystem", "read", "/srv/secret")).toBe(0);
    expect((await check("read", "/srv/secret")).code).toBe(7);
    expect((await check("read", "relative")).code).toBe(6);
    expect((await check("burn", "/srv/x")).code).toBe(6);
    expect((await owner.run(["requests"])).stderr).toContain("nothing waits");
  });

  it("check takes JSON lines, and fails where an expectation does not hold", async () => {
    const line = (target: string, expected?: string) =>
      JSON.stringify({
        subject: { type: "tool", name: "demo.tool" },
        resource: { type: "filesystem", operation: "read", target },
        ...(expected === undefined ? {} : { expect: expected }),
      });
    const good = await owner.run(["check"], {
      stdin: `${line("/srv/x", "allowed_rule")}\n${line("/srv/secret", "denied")}\n${line("/etc/x", "asked")}\n`,
    });
    expect([good.code, good.stderr]).toEqual([0, "3 checked, 0 not as expected\n"]);
    const bad = await owner.run(["check"], { stdin: `${line("/srv/x", "denied")}\n{}\nno json\n` });
    expect([bad.code, bad.stderr]).toEqual([1, "3 checked, 3 not as expected\n"]);
    expect(
      bad.stdout
        .trim()
        .split("\n")
        .map((text) => (JSON.parse(text) as { ok: boolean }).ok),
    ).toEqual([false, false, false]);
  });

  it("freeze refuses at once what is not declared, and can be lifted", async () => {
    expect(await exit("freeze", "--reason", "looking into it")).toBe(0);
    expect((await owner.run(["freeze", "--status"])).stdout).toContain("frozen: looking into it");
    expect((await check("read", "/srv/x")).code).toBe(7);
    expect(await exit("freeze", "--off")).toBe(0);
    expect((await check("read", "/srv/x")).code).toBe(0);
  });

  it("mode is shown and changed; bypass needs an end", async () => {
    expect((await owner.run(["mode"])).stdout).toBe("default\n");
    expect(await exit("mode", "bypass")).toBe(6);
    expect(await exit("mode", "plan", "--reason", "reading only")).toBe(0);
    expect(await owner.json(["mode"])).toEqual({ mode: "plan", expires_at: null });
    expect(await exit("mode", "nonsense")).toBe(2);
    expect(await exit("mode", "default")).toBe(0);
  });

  it("a policy goes out to a file and comes back, and a file with a fault changes nothing", async () => {
    const file = join(owner.folder, "policy.json");
    expect(await exit("policy", "export", file)).toBe(0);
    const policy = JSON.parse(readFileSync(file, "utf8")) as { rules: { id: string }[] };
    expect(policy.rules).toHaveLength(2);
    for (const { id } of policy.rules) expect(await exit("rules", "remove", id)).toBe(0);
    expect(await owner.json(["policy", "import", file, "--dry-run"])).toMatchObject({ set: 2, removed: 0 });
    expect((await check("read", "/srv/secret")).code).toBe(8);
    expect(await exit("policy", "import", file)).toBe(0);
    expect((await check("read", "/srv/secret")).code).toBe(7);
    expect(await owner.json(["policy", "import", file, "--replace"])).toMatchObject({
      set: 0,
      removed: 0,
      mode: null,
    });
    writeFileSync(file, JSON.stringify({ ...policy, rules: [...policy.rules, { effect: "burn" }] }));
    const { code, stderr } = await owner.run(["policy", "import", file, "--replace"]);
    expect([code, stderr]).toEqual([6, expect.stringContaining("nothing was changed")]);
    expect((await check("read", "/srv/secret")).code).toBe(7);
  });

  it("session end cancels what waits in it", async () => {
    const child = owner.start(programs, { waitsFor: OTHER }, "--session", "evening");
    await pendingRequests(owner, 1);
    const user = `"local:${process.getuid?.() ?? 0}"`;
    expect((await owner.run(["session", "list"])).stdout).toContain("evening");
    const ended = new Promise((resolve) => child.once("close", resolve));
    expect(await exit("session", "end", "evening", "--user", user)).toBe(0);
    await ended;
    expect((await owner.run(["requests"])).stderr).toContain("nothing waits");
    expect((await owner.run(["requests", "--all", "--session", "evening"])).stdout).toContain("cancelled");
  });
});

describe("sallyport audit", () => {
  const AUDITED = "https://audited.example.com/";
  beforeAll(async () => {
    owner.start(programs, { sends: AUDITED }, "--session", "audited");
    const [request] = await pendingRequests(owner, 1);
    expect(await exit("approve", request?.id ?? "", "--yes")).toBe(0);
  });

  it("follows from the beginning until it is ended", async () => {
    const tail = startCli(cli, ["audit", "tail", "--start", "--json", "--data", owner.data]);
    const [line] = await printed(tail, /\{"kind":"event".*\}\n/);
    expect(JSON.parse(line.split("\n")[0] ?? "")).toMatchObject({ kind: "event", event: { seq: 1 } });
    const ended = new Promise((resolve) => tail.once("close", resolve));
    tail.kill("SIGINT");
    expect(await ended).toBe(0);
  });

  it("searches by identity fields", async () => {
    const type = ["--type", "permission.requested"];
    type Page = { rows: { type: string; target: string }[] };
    const { rows } = await owner.json<Page>([
      "audit",
      "search",
      ...type,
      "--target",
      AUDITED,
      "--limit",
      "500",
    ]);
    expect(rows.map(({ target }) => target)).toEqual([AUDITED]);
    expect((await owner.json<Page>(["audit", "search", "--subject-name", "nobody"])).rows).toEqual([]);
  });

  it("exports lines that are the log, and verifies it", async () => {
    const file = join(owner.folder, "log.jsonl");
    expect(await exit("audit", "export", file)).toBe(0);
    expect(readFileSync(file, "utf8").trim().split("\n").length).toBeGreaterThan(3);
    expect(await exit("audit", "export", file)).toBe(1);
    const verified = await owner.run(["audit", "verify"]);
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining("✔")]);
  });
});

describe("sallyport admin", () => {
  it("prints another link, and keeps local accounts", async () => {
    const { url } = await owner.json<{ url: string }>(["admin", "link"]);
    expect(url).not.toBe(owner.link);
    expect((await owner.run(["admin", "add", "ada", "--role", "super"], { stdin: "short\n" })).code).toBe(6);
    const stdin = "correct horse battery staple\n";
    expect((await owner.run(["admin", "add", "ada", "--role", "super"], { stdin })).code).toBe(0);
    expect((await owner.run(["admin", "accounts"])).stdout).toMatch(/enabled\s+null\s+super\s+ada/);
    expect(
      (await owner.run(["admin", "password", "ada"], { stdin: "another horse battery staple\n" })).code,
    ).toBe(0);
    expect(await exit("admin", "disable", "ada")).toBe(0);
    expect((await owner.run(["admin", "accounts"])).stdout).toContain("disabled");
    expect(await exit("admin", "disable", "grace")).toBe(3);
    const said = await owner.run(["admin", "add", "x", "--role", "super"], { stdin, env: { TERM: "dumb" } });
    expect(said.stdout + said.stderr).not.toContain("horse");
  });

  it("rotates the key ring and never prints a key", async () => {
    type Ring = { keys: { id: string; state: string }[] };
    const before = await owner.json<Ring>(["admin", "keys"]);
    const { keys } = await owner.json<Ring>(["admin", "rotate-key"]);
    expect(keys.map(({ state }) => state)).toEqual(["kept", "active"]);
    expect(keys[0]?.id).toBe(before.keys[0]?.id);
    const { keys: secret } = JSON.parse(readFileSync(join(owner.data, "key-ring.json"), "utf8")) as {
      keys: { material: string }[];
    };
    const { stdout } = await owner.run(["admin", "keys"]);
    for (const { material } of secret) expect(stdout).not.toContain(material);
  });
});

describe("sallyport doctor", () => {
  it("says whether the owner can vouch for approvals, and that a folder is open to others", async () => {
    const folderOf = async () => {
      const { findings } = await owner.json<{ findings: { name: string; state: string }[] }>(["doctor"]);
      return findings.find(({ name }) => name === "data folder")?.state;
    };
    expect(await folderOf()).toBe("ok");
    chmodSync(owner.data, 0o755);
    expect(await folderOf()).toBe("lacks");
    chmodSync(owner.data, 0o700);
  });
});

describe("hostile text", () => {
  it("of a guarded program reaches no terminal, in no command", async () => {
    const file = join(owner.folder, "\u001b]0;owned\u0007\u001b[2J\u202eexe.txt\nallowed\u200b");
    const child = owner.start(programs, { file }, "--session", "evil\u202e\u200b");
    const closed = new Promise((resolve) => child.once("close", resolve));
    const [request] = await pendingRequests(owner, 1);
    const id = request?.id ?? "";
    await closed;
    expect(request?.resource.target).toBe(file);
    const reason = "because\u001b[31m\nof\u202ethis";
    const outputs = [
      await owner.run(["requests"]),
      await owner.run(["requests", id]),
      await owner.run(["requests", "--json"]),
      await owner.run(["deny", id, "--yes", "--reason", reason]),
      await owner.run(["grants", "--denials"]),
      await owner.run(["grants", "--denials", "--json"]),
      await owner.run(["audit", "search", "--limit", "20"]),
      await owner.run(["rules", "add", "deny", "filesystem", "read", `/srv/${file}`]),
      await owner.run(["rules", "list"]),
      await owner.run(["session", "list"]),
      await owner.run(["check", "tool", "demo.tool", "filesystem", "read", file, "--explain"]),
      await owner.run(["revoke", "approval-\u001b[2J"]),
    ];
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toMatch(/[\p{Cc}\p{Cf}](?<!\n)/u);
    expect(outputs[0]?.stdout).toContain("\\u{1b}]0;owned\\u{7}");
    expect(outputs[0]?.stdout.trim().split("\n")).toHaveLength(2);
  }, 300_000);
});

describe("without an owner", () => {
  it("a command owns the folder for as long as it takes, and what was decided is there", async () => {
    const other = await startOwner(cli);
    expect((await other.run(["rules", "add", "deny", "network", "send", "https://x.example"])).code).toBe(0);
    expect(await other.interrupt()).toBe(0);
    expect((await other.run(["rules", "list"])).stdout).toContain("https://x.example");
    expect((await other.run(["mode", "never"])).code).toBe(0);
    expect((await other.run(["mode"])).stdout).toBe("never\n");
    expect((await other.run(["audit", "verify"])).code).toBe(0);
    expect((await other.run(["admin", "link"])).code).toBe(10);
    const both = await Promise.all([other.run(["mode"]), other.run(["rules", "list"])]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    await other.remove();
  });
});
