/** What doctor is told, for machines that are not this one; and this one as it is. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { judgeProbe, readMachineFacts } from "./machine-facts.ts";
import { openSandbox } from "./open-sandbox.ts";

const probe = (changes: object = {}): string =>
  JSON.stringify({ landlock: 7, namespaces: 0, notification: 0, capture: 0, ...changes });
const LAUNCHER = { path: "/opt/launcher", origin: "built" } as const;
const none = (): undefined => undefined;
const advice = (text: string, settings: Readonly<Record<string, string>> = {}) => {
  const { rung, findings } = judgeProbe(text, LAUNCHER, (name) => settings[name]);
  return { rung, messages: findings.filter(({ ok }) => !ok).map(({ message }) => message) };
};

test("a machine with every layer is complete", () => {
  const { rung, wall, launcher } = judgeProbe(probe(), LAUNCHER, none);
  expect(rung).toBe("complete");
  expect(wall).toEqual({
    landlockVersion: 7,
    hasNamespaces: true,
    hasNotification: true,
    hasCapture: true,
  });
  expect(launcher).toBe("/opt/launcher");
});

test("a kernel without Landlock, or with an old one, is refused", () => {
  expect(advice(probe({ landlock: 0 }))).toMatchObject({ rung: "refused" });
  expect(advice(probe({ landlock: 2 })).messages).toEqual([
    "Landlock is version 2, at least 3 is needed: use Linux 6.2 or newer",
  ]);
});

test("AppArmor's restriction is named with the profile to install", () => {
  const { rung, messages } = advice(probe({ namespaces: 13 }), {
    "kernel/apparmor_restrict_unprivileged_userns": "1",
  });
  expect(rung).toBe("refused");
  expect(messages[0]).toContain("profile sallyport /opt/launcher flags=(unconfined) { userns, }");
});

test("a container without user namespaces, and a machine that has none left, are told apart", () => {
  expect(advice(probe({ namespaces: 1 })).messages[0]).toContain("as in a container");
  expect(advice(probe({ namespaces: 28 })).messages[0]).toContain("user.max_user_namespaces");
  const switchedOff = advice(probe({ namespaces: 1 }), { "kernel/unprivileged_userns_clone": "0" });
  expect(switchedOff.messages[0]).toContain("kernel.unprivileged_userns_clone=1");
});

test("a kernel that cannot catch connections is complete without a network, and says so", () => {
  const { rung, messages } = advice(probe({ capture: 2 }));
  expect(rung).toBe("complete");
  expect(messages[0]).toContain("no network: use a kernel with nf_tables");
  expect(judgeProbe(probe({ capture: 2 }), LAUNCHER, none).wall.hasCapture).toBe(false);
});

test("a kernel that cannot notify is refused", () => {
  expect(advice(probe({ notification: 22 })).messages).toEqual([
    "seccomp cannot notify: use Linux 5.19 or newer",
  ]);
});

test("attack: a missing compiler is a refusal with a name, never a run without a wall", async () => {
  const before = { ...process.env };
  process.env["SALLYPORT_CC"] = "no-such-compiler";
  const cache = mkdtempSync(join(tmpdir(), "sp-no-compiler-"));
  process.env["SALLYPORT_CACHE"] = cache;
  try {
    const { rung, launcher, findings } = await readMachineFacts();
    expect({ rung, launcher }).toEqual({ rung: "refused", launcher: undefined });
    expect(findings.map(({ part }) => part)).toEqual(["launcher"]);
    expect(findings[0]?.message).toContain("cannot be built with `no-such-compiler`: install a C compiler");
  } finally {
    process.env = before;
    rmSync(cache, { recursive: true, force: true });
  }
});

test("attack: a launcher that runs as its owner is not used", async () => {
  const before = { ...process.env };
  const folder = mkdtempSync(join(tmpdir(), "sp-setuid-"));
  const launcher = join(folder, "launcher");
  writeFileSync(launcher, "");
  chmodSync(launcher, 0o4755);
  process.env["SALLYPORT_LAUNCHER"] = launcher;
  try {
    const { rung, findings } = await readMachineFacts();
    expect([rung, findings[0]?.message]).toEqual([
      "refused",
      expect.stringContaining("is not a program of this user alone"),
    ]);
  } finally {
    process.env = before;
    rmSync(folder, { recursive: true, force: true });
  }
});

test("attack: a launcher that others can write is not used", async () => {
  const before = { ...process.env };
  process.env["SALLYPORT_LAUNCHER"] = "/dev/null";
  try {
    const { rung, findings } = await readMachineFacts();
    expect(rung).toBe("refused");
    expect(findings[0]?.message).toContain("is not a program of this user alone");
  } finally {
    process.env = before;
  }
});

test.each([
  { platform: "darwin", arch: "arm64" },
  { platform: "win32", arch: "x64" },
  { platform: "linux", arch: "riscv64" },
])("attack: on $platform-$arch there is no wall, it is said so, and nothing is started", async (machine) => {
  const usual = { platform: process.platform, arch: process.arch };
  const become = (facts: { readonly platform: string; readonly arch: string }): void => {
    for (const [name, value] of Object.entries(facts)) Object.defineProperty(process, name, { value });
  };
  become(machine);
  try {
    const facts = await readMachineFacts();
    expect(facts.rung).not.toBe("complete");
    expect(facts.findings).toEqual([
      {
        part: "platform",
        ok: false,
        message: `there is no OS sandbox for \`${machine.platform}-${machine.arch}\`: only the guard can be used here`,
      },
    ]);
    await expect(openSandbox()).rejects.toThrow("there is no OS sandbox");
  } finally {
    become(usual);
  }
});
