/** A confined program lives as any other does: streams, exit, signals, decisions; and it never outlives its supervisor. */
import { copyFileSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Ruling } from "./broker.ts";
import { IDENTITIES, type Workshop, openWorkshop, rules } from "./testing/sandbox-fixture.ts";

/** A decision that the test takes itself. */
function openQuestion(): {
  ruling: () => Promise<Ruling>;
  asked: Promise<void>;
  answer: (ruling: Ruling) => void;
} {
  let answer: (ruling: Ruling) => void = () => undefined;
  let heard: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (heard = resolve));
  const decision = new Promise<Ruling>((resolve) => (answer = resolve));
  return { ruling: () => (heard(), decision), asked, answer };
}

describe.each(IDENTITIES)("as $name", (who) => {
  let shop: Workshop;
  beforeAll(async () => {
    shop = await openWorkshop(who);
  });
  afterAll(() => shop.close());

  test("a program reads its input, writes its output and ends with its own code", async () => {
    const { child } = shop.start("/bin/sh", ["-c", "cat; echo done >&2; exit 7"]);
    child.stdin?.end("through");
    let output = "";
    child.stdout?.on("data", (text: Buffer) => (output += text.toString()));
    const [code] = await once(child, "close");
    expect({ output, code }).toEqual({ output: "through", code: 7 });
  });

  test("a program that dies of a signal is seen to die of it", async () => {
    const { code, signal } = await shop.shell("kill -SEGV $$");
    expect({ code, signal }).toEqual({ code: null, signal: "SIGSEGV" });
  });

  test("a start that fails says at which step, whoever of its processes is the first to end", async () => {
    const cwd = join(shop.folder, "file");
    writeFileSync(cwd, "");
    for (let round = 0; round < 20; round++) {
      const { child, started } = shop.start("/bin/true", [], { cwd });
      const closed = once(child, "close");
      await expect(started).rejects.toMatchObject({ code: "sandbox_failed", step: "cwd" });
      expect(await closed).toEqual([125, null]);
    }
  });

  test("attack: the first process of the sandbox does not show the network of the host either", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const port = (server.address() as AddressInfo).port.toString(16).toUpperCase().padStart(4, "0");
    try {
      expect(readFileSync("/proc/self/net/tcp", "utf8")).toContain(`:${port} `);
      const { code, stdout } = await shop.shell("cat /proc/1/net/tcp && cat /proc/self/net/tcp");
      expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("local_address") });
      expect(stdout).not.toContain(`:${port} `);
    } finally {
      server.close();
    }
  });

  test("a signal to the sandbox reaches the program", async () => {
    const script = "trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.05; done";
    const { child } = shop.start("/bin/sh", ["-c", script]);
    await once(child.stdout!, "data");
    child.kill("SIGTERM");
    const [text] = await once(child.stdout!, "data");
    const [code] = await once(child, "close");
    expect({ text: String(text), code }).toEqual({ text: "caught\n", code: 3 });
  });

  test("a blocked read waits for the decision and goes on after it", async () => {
    const path = join(shop.folder, "waited-for");
    writeFileSync(path, "worth waiting for");
    const question = openQuestion();
    const ended = shop.run("/bin/cat", [path], { ruling: question.ruling });
    await question.asked;
    question.answer("allow");
    const { stdout, code, asked } = await ended;
    expect({ stdout, code }).toEqual({ stdout: "worth waiting for", code: 0 });
    expect(asked).toMatchObject([
      { call: "openat", requested: path, parts: [{ operation: "read", target: path, exists: true }] },
    ]);
  });

  test("what is approved is done with the program's own mask and owner", async () => {
    const path = join(shop.folder, "made");
    const { code } = await shop.shell(
      `umask 027; mkdir ${path}; echo x > ${path}/file; chmod 0600 ${path}/file`,
      {
        ruling: "allow",
      },
    );
    expect(code).toBe(0);
    const facts = statSync(path);
    expect(facts.mode & 0o777).toBe(0o750);
    expect(facts.uid).toBe(who.identity?.uid ?? process.getuid?.());
    expect(statSync(join(path, "file")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(path, "file"), "utf8")).toBe("x\n");
  });

  test("an atomic save with modify and no delete elsewhere is a modification of the target", async () => {
    const folder = shop.make("save");
    writeFileSync(join(folder, "document"), "old");
    const temporary = shop.make("save/tmp");
    const allow = [
      ...rules(join(folder, "document"), "modify"),
      ...rules(`${temporary}/`, "create", "delete"),
    ];
    const { code, asked } = await shop.shell(
      `echo new > ${temporary}/t; mv ${temporary}/t ${folder}/document`,
      {
        allow,
      },
    );
    expect({ code, asked }).toEqual({ code: 0, asked: [] });
    expect(readFileSync(join(folder, "document"), "utf8")).toBe("new\n");
  });

  test("a rule for a single file holds on after the file was replaced", async () => {
    const folder = shop.make("single");
    writeFileSync(join(folder, "one"), "first");
    writeFileSync(join(folder, "two"), "second");
    const script = `cat ${folder}/one; mv ${folder}/two ${folder}/one; cat ${folder}/one; cat ${folder}/three`;
    writeFileSync(join(folder, "three"), "third");
    const allow = [
      ...rules(join(folder, "one"), "read", "modify"),
      ...rules(join(folder, "two"), "delete", "read"),
    ];
    const { stdout, asked } = await shop.shell(script, { allow });
    expect(stdout).toBe("firstsecond");
    expect(asked.flatMap(({ parts }) => parts.map(({ target }) => target))).toEqual([join(folder, "three")]);
  });

  test("a start that Landlock would not let through is refused without a question, and told", async () => {
    const folder = shop.make("start");
    copyFileSync("/bin/true", join(folder, "program"));
    const { asked, violations, code } = await shop.shell(`${folder}/program`, { ruling: "allow" });
    expect({ asked, code }).toEqual({ asked: [], code: 126 });
    expect(violations.flatMap(({ parts }) => parts)).toEqual([
      { operation: "execute", target: join(folder, "program"), exists: true },
    ]);
  });

  test("a start of what may be read waits for the decision", async () => {
    const folder = shop.make("start-asked");
    copyFileSync("/bin/echo", join(folder, "program"));
    const allow = rules(`${folder}/`, "read");
    const { asked, stdout } = await shop.shell(`${folder}/program started`, { allow, ruling: "allow" });
    expect(stdout).toBe("started\n");
    expect(asked.flatMap(({ parts }) => parts.map(({ operation }) => operation))).toEqual(["execute"]);
  });

  test("a decision that fails is a refusal", async () => {
    const { code, stderr } = await shop.shell(`echo x > ${shop.folder}/never`, {
      ruling: () => Promise.reject(new Error("the service is gone")),
    });
    expect(code).not.toBe(0);
    expect(stderr).toContain("Permission denied");
    expect(existsSync(join(shop.folder, "never"))).toBe(false);
  });

  test("whoever stops waiting withdraws the question", async () => {
    writeFileSync(join(shop.folder, "x"), "x");
    let aborted: () => void = () => undefined;
    const withdrawn = new Promise<void>((resolve) => (aborted = resolve));
    let heard: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => (heard = resolve));
    const { child } = shop.start(
      "/bin/sh",
      ["-c", `cat ${shop.folder}/x & read line; kill -9 $!; wait; read line`],
      {
        ruling: (_call, signal) => {
          heard();
          signal.addEventListener("abort", () => aborted());
          return new Promise(() => undefined);
        },
      },
    );
    await waiting;
    // WHY the input stays open: the sandbox goes on, so it is not its end that withdraws the question.
    child.stdin?.write("\n");
    await withdrawn;
    expect(child.exitCode).toBe(null);
    child.stdin?.end();
    await once(child, "close");
  });

  test("attack: a supervisor that is killed takes everything with it, and what waited does not go on", async () => {
    const path = join(shop.folder, "killed");
    const question = openQuestion();
    const script = `setsid sh -c 'echo $$; exec sleep 1000' & echo x > ${path} && echo went on`;
    const { child } = shop.start("/bin/sh", ["-c", script], { ruling: question.ruling });
    let output = "";
    child.stdout?.on("data", (text: Buffer) => (output += text.toString()));
    await question.asked;
    child.kill("SIGKILL");
    // WHY close: the streams end only when nobody holds them, the sleeper of another session included.
    await once(child, "close");
    expect(output).not.toContain("went on");
    expect(existsSync(path)).toBe(false);
  });

  test("attack: a broker that goes away ends the sandbox", async () => {
    writeFileSync(join(shop.folder, "gone"), "x");
    const question = openQuestion();
    const { child } = shop.start("/bin/sh", ["-c", `sleep 1000 & cat ${shop.folder}/gone; sleep 1000`], {
      ruling: question.ruling,
    });
    await question.asked;
    const over = Promise.all([once(child, "exit"), once(child.stdout!, "close")]);
    child.disconnect();
    const [[code]] = await over;
    expect(code).toBe(125);
  });

  test("a program left behind ends when the started one does", async () => {
    const { child } = shop.start("/bin/sh", ["-c", "setsid sleep 1000 & exit 0"]);
    const [code] = await once(child, "close");
    expect(code).toBe(0);
  });

  test("attack: after narrowing nothing goes on without a question", async () => {
    const folder = shop.make("narrow");
    writeFileSync(join(folder, "file"), "granted before");
    const { child, narrow, asked } = shop.start(
      "/bin/sh",
      ["-c", "echo ready; read line; read text < file; echo $text"],
      {
        allow: rules(`${folder}/`, "read"),
        cwd: folder,
      },
    );
    await once(child.stdout!, "data");
    expect(asked).toEqual([]);
    await narrow();
    child.stdin?.write("\n");
    await once(child, "close");
    expect(asked.flatMap(({ parts }) => parts.map(({ target }) => target))).toEqual([join(folder, "file")]);
  });

  test("after narrowing a program still has its devices of endless bytes, and no other device", async () => {
    const { child, narrow, asked } = shop.start(
      "/bin/sh",
      [
        "-c",
        "echo ready; read line; echo x > /dev/null && echo null; : < /dev/zero && echo zero; : < /dev/tty",
      ],
      { ruling: "allow" },
    );
    let said = "";
    child.stdout?.on("data", (text: Buffer) => (said += text.toString()));
    await expect.poll(() => said).toBe("ready\n");
    await narrow();
    child.stdin?.write("\n");
    const [code] = await once(child, "close");
    expect(said).toBe("ready\nnull\nzero\n");
    expect(code).not.toBe(0);
    const targets = asked.flatMap(({ parts }) => parts.map(({ target }) => target));
    expect(targets).toEqual(expect.arrayContaining(["/dev/null", "/dev/zero"]));
  });

  test("a granted read needs no question by any spelling; through a link it is asked where it leads", async () => {
    const [folder, outside] = [shop.make("spelled"), shop.make("spelled-outside")];
    writeFileSync(join(folder, "file"), "inside\n");
    writeFileSync(join(outside, "file"), "outside\n");
    symlinkSync(outside, join(folder, "way"));
    symlinkSync(join(outside, "file"), join(folder, "link"));
    const { stdout, asked } = await shop.shell(
      `cat file ./file ${folder}/file ${folder}//file ${folder}/way/../spelled/file missing 2>/dev/null; cat link way/file`,
      { allow: rules(`${folder}/`, "read"), cwd: folder, ruling: "allow" },
    );
    expect(stdout).toBe(`${"inside\n".repeat(5)}${"outside\n".repeat(2)}`);
    expect(asked.flatMap(({ parts }) => parts.map(({ target }) => target))).toEqual(
      Array.from({ length: 2 }, () => join(outside, "file")),
    );
  });

  test("attack: a flood of questions is refused beyond what can wait", async () => {
    let asked = 0;
    const script = `for i in $(seq 1 160); do (read x < ${shop.folder}/flood) 2>/dev/null || echo refused & done; wait`;
    writeFileSync(join(shop.folder, "flood"), "x\n");
    const { child } = shop.start("/bin/sh", ["-c", script], {
      ruling: () => (asked++, new Promise(() => undefined)),
    });
    let said = "";
    child.stdout?.on("data", (text: Buffer) => (said += text.toString()));
    const refused = (): number => said.split("refused").length - 1;
    await expect.poll(() => ({ asked, refused: refused() })).toEqual({ asked: 128, refused: 32 });
    child.kill("SIGKILL");
    await once(child, "close");
  });
});
