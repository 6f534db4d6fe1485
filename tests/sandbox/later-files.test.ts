/**
 * Files that other programs act by later: hooks and settings of a repository, start files of a shell. Rules keep them from
 * being made inside a folder that is declared as a whole, and they are not there when the program starts. The sandbox, the
 * gate and the service are real.
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ExpandedRule } from "@sallyport/contract";
import { gateDecider } from "@sallyport/sandbox";
import { PROGRAMS, rules } from "../../packages/sandbox/src/testing/sandbox-fixture.ts";
import { adminOf } from "../../packages/service/src/testing/service-fixture.ts";
import { type GatedWorkshop, openGatedWorkshop } from "./gated-workshop.ts";

const CHANGES = ["read", "create", "modify", "delete"] as const;
let gated: GatedWorkshop;
let work: string;
let kept: readonly ExpandedRule[];

beforeAll(async () => {
  gated = await openGatedWorkshop();
  work = gated.shop.make("work");
  gated.fixture.service.applyHost({
    kind: "contract_set",
    contract: { id: "contract-demo", access: [...rules(`${work}/`, ...CHANGES), ...PROGRAMS] },
  });
  const made = [".git/hooks/", ".git/config", ".bashrc"];
  kept = [
    ...made.flatMap((name) => rules(`${work}/${name}`, "create")),
    ...rules(`${work}/k/keep`, "delete"),
  ];
  for (const { resourceType, operation, target } of kept) {
    const words = { effect: "deny", source: "host", resourceType, operation, target } as const;
    expect((await gated.fixture.service.setRule(adminOf(), words)).ok).toBe(true);
  }
});
afterAll(() => gated.close());

async function run(script: string): Promise<string> {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { mode: 0o755 });
  const { stderr } = await gated.shop.shell(script, {
    cwd: work,
    allow: rules(`${work}/`, ...CHANGES),
    rules: { withheld: kept },
    ruling: gateDecider(gated.client, { waitMs: () => undefined, withheld: () => kept }),
  });
  return stderr;
}

const EVIL = "mkdir -p x/hooks && echo evil > x/hooks/pre-commit && echo evil > x/config";

/** WHY not `mv --exchange`: few systems have it yet. */
const EXCHANGE = `/usr/bin/python3 -Ic 'import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.renameat2(-100, b"x", -100, b".git", 2) != 0: sys.exit(os.strerror(ctypes.get_errno()))'`;

test.each([
  ["a hook that is written", "mkdir .git && mkdir .git/hooks; echo evil > .git/hooks/pre-commit"],
  ["settings that are written", "mkdir .git && echo evil > .git/config"],
  ["a start file of a shell", "echo evil > .bashrc"],
  ["a start file that is moved there", "echo evil > x; mv x .bashrc"],
  ["a repository that is prepared elsewhere and moved there", `${EVIL}; mv x .git`],
  ["one that takes the place of an empty folder", `${EVIL}; mkdir .git; mv -T x .git`],
  ["one that changes places with another", `${EVIL}; mkdir .git; ${EXCHANGE}`],
  ["a link in place of the folder", `${EVIL}; ln -s x .git`],
  ["a hard link in place of the file", `echo evil > x; ln x .bashrc`],
])("attack: %s does not get through", async (_what, script) => {
  expect(await run(script)).toContain("Permission denied");
  for (const name of [".git/hooks/pre-commit", ".git/config", ".bashrc"])
    expect({ name, isThere: existsSync(join(work, name)) }).toEqual({ name, isThere: false });
});

test("attack: a kept file does not go away with the folder above it", async () => {
  expect(await run("mkdir k; echo kept > k/keep; mv k away; rm -rf k")).toContain("Permission denied");
  expect(readFileSync(join(work, "k/keep"), "utf8")).toBe("kept\n");
});

test("what is beside them goes on without a question", async () => {
  const script = "mkdir .git && echo ref > .git/HEAD && mkdir a && mv a b && ln -s b c && echo x > c/file";
  expect(await run(script)).toBe("");
  expect(readFileSync(join(work, "b/file"), "utf8")).toBe("x\n");
});
