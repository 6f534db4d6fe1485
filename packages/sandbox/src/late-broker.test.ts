/** A program that ends while its broker does not come to read: the launcher waits until it was heard, and for nobody else. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, existsSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { IDENTITIES, type Workshop, openWorkshop, rules } from "./testing/sandbox-fixture.ts";

const who = IDENTITIES.at(-1) ?? { name: "", identity: undefined };
/** So few that all they say fits into the channel. */
const ACTS = 50;
const PPOLL: Readonly<Record<string, string>> = { x64: "271", arm64: "73" };
let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop(who);
});
afterAll(() => shop.close());

const PAUSE = new Int32Array(new SharedArrayBuffer(4));
const TRIES = 20_000;

/** WHY not awaited: the broker is this process, and it must not come to read. */
function until(isSo: () => boolean): boolean {
  for (let tries = 0; tries < TRIES; tries++) {
    if (isSo()) return true;
    Atomics.wait(PAUSE, 0, 0, 1);
  }
  return false;
}

function isDead(pid: number): boolean {
  try {
    return /\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true;
  }
}

const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

/** What the launcher does: `waits` for one descriptor alone, which is its broker; `ended`; or `works`. */
function doing(launcher: number): "waits" | "ended" | "works" {
  if (isDead(launcher)) return "ended";
  const [call, , count] = readFileSync(`/proc/${launcher}/syscall`, "utf8").split(" ");
  return call === PPOLL[process.arch] && count === "0x1" ? "waits" : "works";
}

/** Starts a program that destroys something in each act when it is told to, and tells it. Meanwhile this process reads nothing. */
async function actUnheard(name: string, end = "exit 7") {
  const folder = shop.make(name);
  const [file, go] = [join(folder, "file"), join(folder, "go")];
  writeFileSync(file, "x", { mode: 0o666 });
  execFileSync("chmod", ["666", file]);
  execFileSync("mkfifo", [go]);
  const gate = openSync(go, constants.O_RDWR);
  const recorded: string[] = [];
  const script = `sleep 10000 & read -r word; for act in $(seq ${ACTS}); do : > ${file}; done; ${end}`;
  const confined = shop.start("/bin/sh", ["-c", script], {
    allow: rules(`${folder}/`, "read", "modify"),
    record: async (call) => {
      recorded.push(
        ...call.granted.filter(({ operation }) => operation === "modify").map(({ target }) => target),
      );
      return "allow";
    },
    stdio: [gate, "ignore", "inherit"],
  });
  await confined.started;
  const pid = confined.child.pid ?? 0;
  let left: readonly number[] = [];
  until(() => (left = childrenOf(pid).flatMap(childrenOf).flatMap(childrenOf)).length > 0);
  writeSync(gate, "go\n");
  let found = doing(pid);
  until(() => (found = doing(pid)) !== "works");
  closeSync(gate);
  return { ...confined, file, left, found, heard: [...recorded], records: recorded };
}

test("a program that ends while its broker is late loses no record, and ends as it did", async () => {
  const { child, found, file, heard, records, recorded } = await actUnheard("late");
  const exit = once(child, "exit");
  expect({ found, heard }).toEqual({ found: "waits", heard: [] });
  await recorded;
  expect(records).toEqual(Array.from({ length: ACTS }, () => file));
  expect(await exit).toEqual([7, null]);
});

test("a program that dies of a signal while its broker is late loses no record either", async () => {
  const { child, found, file, records, recorded } = await actUnheard("killed", "kill -TERM $$");
  const exit = once(child, "exit");
  expect(found).toBe("waits");
  await recorded;
  expect(records).toEqual(Array.from({ length: ACTS }, () => file));
  expect(await exit).toEqual([null, "SIGTERM"]);
});

test.each(["exit 0", "kill -KILL $$"])("nothing is left to whoever adopts orphans: %s", async (end) => {
  const confined = shop.start("/bin/sh", ["-c", `sleep 10000 & ${end}`], { stdio: "ignore" });
  const exit = once(confined.child, "exit");
  await confined.started;
  const inside = childrenOf(confined.child.pid ?? 0);
  await exit;
  expect(inside.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
});

test("a launcher whose broker goes away without reading does not wait for it", async () => {
  const { child, found } = await actUnheard("gone");
  const exit = once(child, "exit");
  expect(found).toBe("waits");
  child.disconnect();
  expect(await exit).toEqual([7, null]);
});

test("what a program leaves behind is gone when it has ended, however late its broker is", async () => {
  const { child, found, left } = await actUnheard("left");
  const exit = once(child, "exit");
  expect({ found, count: left.length }).toEqual({ found: "waits", count: 1 });
  expect({ isGone: until(() => left.every(isDead)), hasLauncherEnded: isDead(child.pid ?? 0) }).toEqual({
    isGone: true,
    hasLauncherEnded: false,
  });
  expect(await exit).toEqual([7, null]);
});
