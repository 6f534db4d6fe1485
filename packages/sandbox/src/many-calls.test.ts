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
const { TMPDIR: USUAL } = process.env;
let shop: Workshop;

beforeAll(async () => {
  if (WHO === undefined) throw new Error("there is nobody to run as");
  shop = await openWorkshop(WHO);
  // WHY one of its own: whoever else uses the usual one at the same time is not to be seen here.
  process.env["TMPDIR"] = shop.make("places");
});
afterAll(() => {
  if (USUAL === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = USUAL;
  shop.close();
});

/** Words on the command line of every program here: whoever still has them has been left behind. */
const MARK = `mark-${process.pid}`;

function processes(): readonly string[] {
  const command = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    } catch {
      return "";
    }
  };
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && command(name).includes(MARK));
}

/** What can be left behind, on this machine and in this process: processes, mounts, files, descriptors. */
function held() {
  return {
    processes: processes(),
    children: readFileSync(`/proc/self/task/${process.pid}/children`, "utf8"),
    mounts: readFileSync("/proc/self/mountinfo", "utf8"),
    files: [readdirSync(shop.folder), readdirSync(process.env["TMPDIR"] ?? "")],
  };
}
const descriptors = (pid: number | string): number => readdirSync(`/proc/${pid}/fd`).length;

test("ten thousand approvals go through one sandbox, and it leaves nothing behind, nor does its supervisor hold more than before", async () => {
  writeFileSync(join(shop.folder, "file"), "line\n");
  const before = held();
  const open = descriptors("self");
  const script = `: ${MARK}; echo ready; read go; i=0; while [ $i -lt ${APPROVALS} ]; do read x < file; i=$((i+1)); done; echo $x; read end`;
  const { child, asked, started } = shop.start("/bin/sh", ["-c", script], { ruling: "allow" });
  await Promise.all([started, once(child.stdout!, "data")]);
  expect(processes().length).toBeGreaterThan(0);
  const atFirst = descriptors(child.pid ?? 0);
  child.stdin?.write("go\n");
  const [last] = await once(child.stdout!, "data");
  expect(String(last)).toBe("line\n");
  expect(asked).toHaveLength(APPROVALS);
  // WHY polled: the program may speak before the supervisor has put away what it handed over.
  await expect.poll(() => descriptors(child.pid ?? 0)).toBe(atFirst);
  child.stdin?.end("end\n");
  await once(child, "close");
  expect(held()).toEqual(before);
  await expect.poll(() => descriptors("self")).toBeLessThanOrEqual(open);
});

test("two hundred confined programs wait at once, go on at once and leave no process, mount, descriptor or file", async () => {
  writeFileSync(join(shop.folder, "file"), "line\n");
  const before = held();
  const open = descriptors("self");
  const answers: ((ruling: Ruling) => void)[] = [];
  const ended = Array.from({ length: SANDBOXES }, () =>
    shop.shell(`: ${MARK}; read x < file; echo $x`, {
      ruling: () => new Promise((resolve) => answers.push(resolve)),
    }),
  );
  await expect.poll(() => answers.length, { timeout: 290_000 }).toBe(SANDBOXES);
  expect(processes().length).toBeGreaterThanOrEqual(SANDBOXES);
  for (const answer of answers) answer("allow");
  const outputs = (await Promise.all(ended)).map(({ stdout }) => stdout);
  expect(new Set(outputs)).toEqual(new Set(["line\n"]));
  expect(held()).toEqual(before);
  await expect.poll(() => descriptors("self")).toBeLessThanOrEqual(open);
});

test("attack: a fork bomb stops at the limit of its sandbox and ends with it", async () => {
  const script = "i=0; while [ $i -lt 60 ]; do sleep 100 & i=$((i+1)); done; echo all";
  const { stdout, stderr } = await shop.shell(script, { limits: { processesMax: 20 } });
  expect(stdout).toBe("");
  expect(stderr).toContain("Cannot fork");
});
