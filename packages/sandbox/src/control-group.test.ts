/** Limits for a whole sandbox, where this machine has control groups for this user; and what is said where it has none. */
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findControlGroups, unheldLimits } from "./control-group.ts";
import { IDENTITIES, type Workshop, openWorkshop } from "./testing/sandbox-fixture.ts";

const PROCESSES_MAX = 12;
let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop(IDENTITIES[0] ?? { name: "", identity: undefined });
});
afterAll(() => shop.close());

test("what no group holds is said to hold for each process only, and with a terminal there is no group", () => {
  const limits = { memoryBytesMax: 1, processesMax: 1 };
  const held = findControlGroups();
  expect(unheldLimits(limits, true)).toEqual(["memory_of_all_processes", "processes_of_this_sandbox"]);
  expect(unheldLimits(limits, false)).toHaveLength(2 - held.length);
  expect(unheldLimits({}, true)).toEqual([]);
});

test("attack: a fork bomb stops at its own limit, and the machine goes on", async () => {
  const bomb = "for i in $(seq 1 60); do sleep 1000 & done; echo started; kill -9 -1";
  const { stdout, stderr } = await shop.shell(bomb, { limits: { processesMax: PROCESSES_MAX } });
  if (findControlGroups().includes("pids")) {
    expect(stderr).toContain("fork");
    expect(stdout).not.toContain("started");
  }
  // WHY nothing else without a group: the number then holds for the user, and root is exempt from it.
  expect((await shop.shell("echo alive")).stdout).toBe("alive\n");
});

test("memory of one process is held", async () => {
  const hungry = "head -c 200000000 /dev/zero | tail | wc -c";
  const { stdout } = await shop.shell(hungry, { limits: { memoryBytesMax: 40_000_000 } });
  expect(stdout.trim()).not.toBe("200000000");
});

test("memory that all processes use together is held, where there is a group for it", async () => {
  // Each holds a third of what all may have, until whoever reads from it begins to.
  const one = "head -c 20000000 /dev/zero | tail | (sleep 2; wc -c)";
  const together = `for i in 1 2 3 4 5 6 7 8; do ${one} & done; wait`;
  const { stdout } = await shop.shell(together, { limits: { memoryBytesMax: 60_000_000 } });
  const whole = stdout.split("\n").filter((line) => line === "20000000").length;
  if (findControlGroups().includes("memory")) expect(whole).toBeLessThan(8);
  else expect(whole).toBe(8);
});

test("no group stays behind", async () => {
  const left = (): readonly string[] =>
    readdirSync("/sys/fs/cgroup", { recursive: true, encoding: "utf8" }).filter((name) =>
      /sallyport-[0-9a-f-]{36}$/.test(name),
    );
  await expect.poll(left).toEqual([]);
});
