/** What callers of `child_process.spawn` expect of a confined program: it is so, or it is refused by name; never ignored. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ConfinedOptions } from "./spawn-confined.ts";
import { IDENTITIES, type Workshop, openWorkshop, rules } from "./testing/sandbox-fixture.ts";

const STUBBORN = "trap 'echo heard' TERM; echo ready; while :; do sleep 0.05; done";

/** The error and the end of what is aborted. */
async function aborted(
  child: ChildProcess,
): Promise<{ readonly error: unknown; readonly end: readonly unknown[] }> {
  let error: unknown;
  child.once("error", (heard) => (error = heard));
  const end = await new Promise<readonly unknown[]>((resolve) =>
    child.once("close", (...how) => resolve(how)),
  );
  return { error, end };
}

describe.each(IDENTITIES)("as $name", (who) => {
  let shop: Workshop;
  beforeAll(async () => {
    shop = await openWorkshop(who);
  });
  afterAll(() => shop.close());

  test("an abort ends the program by its kill signal, and emits the error that Node emits", async () => {
    const abort = new AbortController();
    const { child, started } = shop.start("/bin/sh", ["-c", "echo ready; sleep 1000"], {
      signal: abort.signal,
    });
    await started;
    const ended = aborted(child);
    abort.abort(new Error("no more"));
    const { error, end } = await ended;
    expect(error).toMatchObject({ name: "AbortError", code: "ABORT_ERR", cause: { message: "no more" } });
    expect(end).toEqual([null, "SIGTERM"]);
    expect(child.killed).toBe(true);
  });

  test("what is aborted before it starts runs nothing", async () => {
    const made = join(shop.make("aborted"), "made");
    const { child, started } = shop.start("/bin/sh", ["-c", `echo x > ${made}; sleep 1000`], {
      signal: AbortSignal.abort(),
      ruling: "allow",
    });
    const { error, end } = await aborted(child);
    expect(error).toMatchObject({ name: "AbortError" });
    expect(end).not.toEqual([0, null]);
    expect(existsSync(made)).toBe(false);
    await expect(started).rejects.toBeInstanceOf(Error);
  });

  test("attack: a program that ignores an abort still has no way around SIGKILL", async () => {
    const abort = new AbortController();
    const { child } = shop.start("/bin/sh", ["-c", STUBBORN], { signal: abort.signal });
    child.on("error", () => undefined);
    await once(child.stdout!, "data");
    abort.abort();
    expect(String((await once(child.stdout!, "data"))[0])).toBe("heard\n");
    expect(child.exitCode).toBe(null);
    expect(child.kill("SIGKILL")).toBe(true);
    expect(await once(child, "close")).toEqual([null, "SIGKILL"]);
    expect([child.exitCode, child.signalCode]).toEqual([null, "SIGKILL"]);
  });

  test("after its timeout a program is told the kill signal that was named", async () => {
    const { code, signal } = await shop.shell("sleep 1000", { timeout: 200 });
    expect([code, signal]).toEqual([null, "SIGTERM"]);
    const named = await shop.shell("sleep 1000", { timeout: 200, killSignal: "SIGKILL" });
    expect([named.code, named.signal]).toEqual([null, "SIGKILL"]);
  });

  test("each signal that a program can hear reaches it", async () => {
    for (const name of ["HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "ALRM", "WINCH"] as const) {
      const script = `trap 'echo ${name}; exit 4' ${name}; echo ready; while :; do sleep 0.05; done`;
      const { child } = shop.start("/bin/sh", ["-c", script]);
      await once(child.stdout!, "data");
      expect(child.kill(`SIG${name}`)).toBe(true);
      expect(String((await once(child.stdout!, "data"))[0])).toBe(`${name}\n`);
      expect(await once(child, "close")).toEqual([4, null]);
      expect([child.exitCode, child.signalCode]).toEqual([4, null]);
    }
  });

  test.each(["SIGSTOP", "SIGPIPE", 19] as const)(
    "attack: %s would stop or miss the supervisor alone, so it is refused",
    async (signal) => {
      const { child } = shop.start("/bin/sleep", ["1000"]);
      expect(() => child.kill(signal)).toThrow(`\`${signal}\` does not reach a confined program`);
      expect(() => shop.start("/bin/true", [], { killSignal: signal })).toThrow("does not reach");
      child.kill("SIGKILL");
      await once(child, "close");
    },
  );

  test("what it is told as its own name is `argv0`, and a shell is started where one is wanted", async () => {
    const named = await shop.run("/bin/sh", ["-c", "cat /proc/$$/cmdline | tr '\\0' ' '"], {
      argv0: "renamed",
    });
    expect(named.stdout).toContain("renamed -c");
    const words = "echo $((1 + 1)) && echo";
    const [plain, bash] = [
      await shop.run(words, ["two words"], { shell: true }),
      await shop.run(words, ["$BASH_VERSION"], { shell: "/bin/bash" }),
    ];
    expect(plain.stdout).toBe("2\ntwo words\n");
    expect(bash.stdout).toMatch(/^2\n\d+\./);
  });

  test("a folder may be a URL; one that is not there is refused by name", async () => {
    const folder = shop.make("as-url");
    expect((await shop.shell("pwd", { cwd: pathToFileURL(folder) })).stdout).toBe(`${folder}\n`);
    expect(() => shop.start("/bin/true", [], { cwd: "/no/such/folder" })).toThrow(
      expect.objectContaining({ code: "sandbox_failed", step: "cwd", errno: "ENOENT" }),
    );
  });

  test("streams come in every form that Node knows", async () => {
    const path = join(shop.folder, "stream");
    writeFileSync(path, "");
    const descriptor = openSync(path, "w");
    const { child } = shop.start("/bin/sh", ["-c", "echo out; echo err >&2; echo more >&3; cat <&4"], {
      stdio: ["ignore", descriptor, "pipe", "pipe", "pipe"],
    });
    (child.stdio[4] as NodeJS.WritableStream).end("given\n");
    const [error, more, [code]] = await Promise.all([
      text(child.stderr!),
      text(child.stdio[3] as NodeJS.ReadableStream as never),
      once(child, "close"),
    ]);
    closeSync(descriptor);
    expect([error, more, code]).toEqual(["err\n", "more\n", 0]);
    expect(readFileSync(path, "utf8")).toBe("out\ngiven\n");
    expect([child.stdin, child.stdout]).toEqual([null, null]);
    const ignored = shop.start("/bin/sh", ["-c", "echo x"], { stdio: "ignore" });
    expect(ignored.child.stdout).toBe(null);
    expect(await once(ignored.child, "close")).toEqual([0, null]);
    expect(() => shop.start("/bin/true", [], { stdio: ["pipe", "pipe", "pipe", "ipc"] })).toThrow(
      "no `ipc` stream",
    );
    expect(() => shop.start("/bin/true", [], { stdio: "nonsense" as never })).toThrow("nonsense");
  });

  test("another stream of the host carries what the program says", async () => {
    const reader = spawn("cat", { stdio: ["pipe", "pipe", "inherit"] });
    const { child } = shop.start("/bin/echo", ["through"], { stdio: ["ignore", reader.stdin, "inherit"] });
    await once(child, "close");
    reader.stdin.end();
    expect(await text(reader.stdout)).toBe("through\n");
  });

  test("`spawn`, `exit` and `close` are emitted in that order, and the ends are the program's", async () => {
    const { child, started } = shop.start("/bin/sh", ["-c", "exit 9"]);
    const heard: string[] = [];
    for (const name of ["spawn", "exit", "close", "error"]) child.on(name, () => heard.push(name));
    await started;
    await once(child, "close");
    expect(heard).toEqual(["spawn", "exit", "close"]);
    expect([child.exitCode, child.signalCode]).toEqual([9, null]);
    expect(child.kill()).toBe(false);
  });

  test("a program that is not there is thrown, as is one that may not be started", () => {
    writeFileSync(join(shop.folder, "plain"), "");
    for (const command of ["no-such-program", "/no/such/program", join(shop.folder, "plain")])
      expect(() => shop.start(command, [])).toThrow(
        expect.objectContaining({ code: "sandbox_failed", step: "program", errno: "ENOENT" }),
      );
  });

  test("variables come on top of the few that are inherited, and none that is undefined", async () => {
    const env = { GIVEN: "yes", LANG: "C.UTF-8", ABSENT: undefined };
    const { stdout } = await shop.run("/usr/bin/env", [], { env });
    expect(stdout).toContain("GIVEN=yes\n");
    expect(stdout).toContain("LANG=C.UTF-8\n");
    expect(stdout).not.toContain("ABSENT");
    expect(() => shop.start("/bin/true", [], { env: { BAD: "a\0b" } })).toThrow("NUL");
  });
});

describe("what a confined program cannot be given is refused by name, and starts nothing", () => {
  let shop: Workshop;
  beforeAll(async () => {
    shop = await openWorkshop(IDENTITIES[0]!);
  });
  afterAll(() => shop.close());

  test.each<readonly [string, unknown, string]>([
    ["detached", true, "it ends with whoever started it"],
    ["uid", 1000, "together in `identity`"],
    ["gid", 0, "together in `identity`"],
    ["serialization", "advanced", "no channel"],
    ["nonsense", true, "`nonsense` is no option of a confined program"],
  ])("%s", (name, value, reason) => {
    const options = { [name]: value, allow: rules(`${shop.folder}/`, "read") } as Partial<ConfinedOptions>;
    expect(() => shop.start("/bin/true", [], options)).toThrow(
      expect.objectContaining({ code: "sandbox_profile", message: expect.stringContaining(reason) }),
    );
  });

  test("what says no more than usual is no refusal", async () => {
    const options = { detached: false, windowsHide: true, uid: undefined, signal: undefined };
    expect((await shop.run("/bin/true", [], options as Partial<ConfinedOptions>)).code).toBe(0);
  });
});
