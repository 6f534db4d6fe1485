/** Many questions through one sandbox, many sandboxes at once, and a program that tries to be many. */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Ruling } from "./broker.ts";
import { IDENTITIES, type Workshop, openWorkshop } from "./testing/sandbox-fixture.ts";

const APPROVALS = 10_000;
const SANDBOXES = 200;
/** The last is the unprivileged one: the kernel does not count processes of root. */
const WHO = IDENTITIES.at(-1);
let shop: Workshop;

beforeAll(async () => {
  if (WHO === undefined) throw new Error("there is nobody to run as");
  shop = await openWorkshop(WHO);
});
afterAll(() => shop.close());

test("ten thousand approvals go through one sandbox, and its supervisor holds no more than before", async () => {
  writeFileSync(join(shop.folder, "file"), "line\n");
  const script = `echo ready; read go; i=0; while [ $i -lt ${APPROVALS} ]; do read x < file; i=$((i+1)); done; echo $x; read end`;
  const { child, asked } = shop.start("/bin/sh", ["-c", script], { ruling: "allow" });
  const descriptors = (): number => readdirSync(`/proc/${child.pid}/fd`).length;
  await once(child.stdout!, "data");
  const before = descriptors();
  child.stdin?.write("go\n");
  const [last] = await once(child.stdout!, "data");
  expect(String(last)).toBe("line\n");
  expect(asked).toHaveLength(APPROVALS);
  // WHY polled: the program may speak before the supervisor has put away what it handed over.
  await expect.poll(descriptors).toBe(before);
  child.stdin?.end("end\n");
  await once(child, "close");
});

test("two hundred confined programs wait at once, go on at once and leave nothing", async () => {
  writeFileSync(join(shop.folder, "file"), "line\n");
  const children = (): string => readFileSync(`/proc/self/task/${process.pid}/children`, "utf8");
  const before = children();
  const answers: ((ruling: Ruling) => void)[] = [];
  const ended = Array.from({ length: SANDBOXES }, () =>
    shop.shell("read x < file; echo $x", { ruling: () => new Promise((resolve) => answers.push(resolve)) }),
  );
  await expect.poll(() => answers.length, { timeout: 90_000 }).toBe(SANDBOXES);
  for (const answer of answers) answer("allow");
  const outputs = (await Promise.all(ended)).map(({ stdout }) => stdout);
  expect(new Set(outputs)).toEqual(new Set(["line\n"]));
  expect(children()).toBe(before);
});

test("attack: a fork bomb stops at the limit of its sandbox and ends with it", async () => {
  const script = "i=0; while [ $i -lt 60 ]; do sleep 100 & i=$((i+1)); done; echo all";
  const { stdout, stderr } = await shop.shell(script, { limits: { processesMax: 20 } });
  expect(stdout).toBe("");
  expect(stderr).toContain("Cannot fork");
});
