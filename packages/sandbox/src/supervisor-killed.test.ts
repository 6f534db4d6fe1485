/** The supervisor, its first process and the broker killed at every point of a program's life: nothing goes on, nothing stays. */
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Decide } from "./broker.ts";
import { IDENTITIES, type Workshop, openWorkshop, rules } from "./testing/sandbox-fixture.ts";

const who = IDENTITIES.at(-1) ?? { name: "", identity: undefined };
const MARK = `7${process.pid}`;
let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop(who);
});
afterAll(() => shop.close());

/** Whoever still runs of these programs. */
function left(): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`sleep\0${MARK}`);
      } catch {
        return false;
      }
    });
}

type Child = ReturnType<Workshop["start"]>["child"];
type Point = "at once" | "when it runs" | "while it asks" | "while it works" | "after the answer";
const POINTS: readonly Point[] = [
  "at once",
  "when it runs",
  "while it asks",
  "while it works",
  "after the answer",
];

const KILLS: Readonly<Record<string, (child: Child) => void>> = {
  "the supervisor is killed": (child) => void child.kill("SIGKILL"),
  "the first process is killed": (child) => {
    const [first] = childrenOf(child.pid ?? 0);
    if (first === undefined) child.kill("SIGKILL");
    else process.kill(first, "SIGKILL");
  },
  "the broker goes away": (child) => child.disconnect(),
};

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .trim()
      .split(" ")
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}

const ROWS = Object.keys(KILLS).flatMap((how) => POINTS.map((point) => ({ how, point })));

test.each(ROWS)("attack: $how $point", async ({ how, point }) => {
  const folder = shop.make(`${how}-${point}`.replaceAll(" ", "-"));
  const inside = shop.make(`${how}-${point}/inside`.replaceAll(" ", "-"));
  const [outside, went] = [join(folder, "outside"), join(inside, "went-on")];
  writeFileSync(outside, "x");
  let heard: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (heard = resolve));
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const decide: Decide = async () => {
    heard();
    if (point !== "after the answer") return new Promise<never>(() => undefined);
    setImmediate(answer);
    return "allow";
  };
  const work = `for i in $(seq 1 100000); do echo $i > ${inside}/f; done`;
  const script = `setsid sleep ${MARK} & echo ready; ${point === "while it works" ? `${work};` : ""} read x < ${outside}; echo x > ${went}; while :; do echo x > ${inside}/g; done`;
  const { child, started } = shop.start("/bin/sh", ["-c", script], {
    ruling: decide,
    allow: rules(`${inside}/`, "read", "create", "modify"),
  });
  // WHY here: what it says may be read before `started` is.
  const ready = once(child.stdout!, "data");
  child.stdout?.resume();
  // WHY the stream: it ends only when nobody in the sandbox holds it any more.
  const closed = Promise.all([once(child, "exit"), once(child.stdout!, "close")]);
  if (point !== "at once") await started;
  if (point === "while it works" || point === "when it runs") await ready;
  if (point === "while it asks") await asked;
  if (point === "after the answer") await answered;
  KILLS[how]?.(child);
  await closed;
  expect(left()).toEqual([]);
  // WHY not after the answer: then it may have gone on before it was killed.
  if (point !== "after the answer") expect(existsSync(went)).toBe(false);
});

/** So many moments of a start, so close together that every step of it has some. */
const MOMENTS = 60;

test("attack: the supervisor is killed at any moment of its start, and nothing is left of it", async () => {
  const folder = shop.make("starting");
  const place = () => ({
    mounts: readFileSync("/proc/self/mountinfo", "utf8"),
    files: readdirSync(shop.folder),
  });
  const before = place();
  const begin = (file: string) => {
    const script = `setsid sleep ${MARK} & echo x > ${file}; sleep ${MARK}`;
    const { child } = shop.start("/bin/sh", ["-c", script], { allow: rules(`${folder}/`, "create") });
    const closed = Promise.all([once(child, "exit"), once(child.stdout!.resume(), "close")]);
    return { child, closed, startedMs: performance.now() };
  };
  const whole = begin(join(folder, "whole"));
  await expect.poll(() => existsSync(join(folder, "whole")), { interval: 1 }).toBe(true);
  const wholeMs = performance.now() - whole.startedMs;
  whole.child.kill("SIGKILL");
  await whole.closed;
  for (let moment = 0; moment < MOMENTS; moment++) {
    const { child, closed, startedMs } = begin(join(folder, `made-${moment}`));
    // WHY turns: the broker is this process, and a start needs its answers.
    while (performance.now() - startedMs < (wholeMs * moment) / MOMENTS) await nextTurn();
    child.kill("SIGKILL");
    await closed;
    expect(left(), `moment ${moment} of ${MOMENTS}`).toEqual([]);
  }
  expect(place()).toEqual(before);
});
