/**
 * What a subject declared goes on without a question, and what of it destroys something is on record all the same: one event
 * for each, none lost, whoever ends first. The sandbox, the gate and the service are real.
 */
import { once } from "node:events";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ExpandedRule, Operation } from "@sallyport/contract";
import { type Confined, StandingGrants, type TrapSet, gateDecider, gateRecords } from "@sallyport/sandbox";
import type { EventCursor, EventRow } from "@sallyport/store";
import { PROGRAMS, rules } from "../../packages/sandbox/src/testing/sandbox-fixture.ts";
import { READER, access, adminOf } from "../../packages/service/src/testing/service-fixture.ts";
import { type GatedWorkshop, openGatedWorkshop } from "./gated-workshop.ts";

const FILES = 1000;
const CHANGES = ["read", "create", "modify", "delete"] as const;
let gated: GatedWorkshop;
let round = 0;

beforeAll(async () => {
  gated = await openGatedWorkshop();
});
afterAll(() => gated.close());

/** A folder that the subject declared, with so many files. */
function declared(files: number): string {
  const folder = gated.shop.make(`declared-${round++}`);
  for (let index = 0; index < files; index++) writeFileSync(join(folder, `f${index}`), "text");
  gated.fixture.service.applyHost({
    kind: "contract_set",
    contract: { id: "contract-demo", access: [...rules(`${folder}/`, ...CHANGES), ...PROGRAMS] },
  });
  return folder;
}

interface Run {
  readonly trapSet?: TrapSet;
  readonly allow?: readonly ExpandedRule[];
  readonly started?: (confined: Confined) => Promise<void>;
  readonly standing?: StandingGrants;
  readonly onUnrecorded?: () => void;
}

/** Runs to its end, with everything told that will be told. Which calls were asked about. */
async function run(folder: string, script: string, given: Run = {}) {
  const { trapSet = "all", allow = rules(`${folder}/`, ...CHANGES), started, standing } = given;
  const { client, shop } = gated;
  const unrecorded: string[] = [];
  const record = gateRecords(client, () => {
    unrecorded.push(script);
    given.onUnrecorded?.();
  });
  const decide = gateDecider(client, { waitMs: () => undefined });
  const confined = shop.start("/bin/sh", ["-c", script], {
    cwd: folder,
    allow,
    rules: { trapSet },
    ruling: standing === undefined ? decide : standing.decide(decide, record),
    record,
  });
  await started?.(confined);
  confined.child.stdout?.resume();
  confined.child.stderr?.resume();
  await confined.recorded;
  return { asked: confined.asked, unrecorded };
}

/** What the log holds of it: the names below a folder. */
async function recorded(folder: string, operation: Operation): Promise<readonly string[]> {
  await gated.fixture.service.audit.flush();
  const filter = { type: "permission.evaluated", code: "allowed_sandbox", operation } as const;
  const read = async (after: EventCursor | null): Promise<readonly EventRow[]> => {
    const { rows, next } = await gated.fixture.store.read((tx) =>
      tx.events.search(filter, { limit: 1000, order: "oldest", after }),
    );
    return next === null ? rows : [...rows, ...(await read(next))];
  };
  const rows = (await read(null)).filter(({ target }) => target?.startsWith(`${folder}/`) === true);
  for (const { body } of rows)
    expect(JSON.parse(body)).toMatchObject({ data: { attested_by: "kernel", count: 1 } });
  return rows.map(({ target }) => target?.slice(folder.length + 1) ?? "").toSorted();
}

describe.each(["all", "writes"] as const)("in trap set `%s`", (trapSet) => {
  test(`the deletion of ${FILES} declared files leaves ${FILES} events, and none is lost at the end`, async () => {
    const folder = declared(FILES);
    const names = readdirSync(folder).toSorted();
    const { asked, unrecorded } = await run(folder, "rm f*", { trapSet });
    expect({ left: readdirSync(folder), asked, unrecorded }).toEqual({ left: [], asked: [], unrecorded: [] });
    expect(await recorded(folder, "delete")).toEqual(names);
  });
});

test("each way to destroy is on record as what it is; what only reads, makes or fills a device is not", async () => {
  const folder = declared(6);
  gated.shop.make(`declared-${round - 1}/d`);
  const script = `echo x > f0; rmdir d; mv f1 f2; chmod 600 f3; truncate -cs 1 ${folder}/f4; echo x > new; mkdir made; cat f5 > /dev/null`;
  const { asked, unrecorded } = await run(folder, script);
  expect({ asked: asked.flatMap(({ parts }) => parts), unrecorded }).toEqual({ asked: [], unrecorded: [] });
  expect(await recorded(folder, "delete")).toEqual(["d", "f1"]);
  expect(await recorded(folder, "modify")).toEqual(["f0", "f2", "f3", "f4"]);
  expect(await recorded(folder, "create")).toEqual([]);
  expect(await recorded("/usr", "execute")).toEqual(
    expect.arrayContaining(["bin/chmod", "bin/mv", "bin/rmdir", "bin/truncate"]),
  );
});

test("a name that is no text is on record as far as it can be written", async () => {
  const folder = declared(0);
  const script = `touch "$(printf 'n\\377')" && rm n*`;
  expect(await run(folder, script)).toEqual({ asked: [], unrecorded: [] });
  expect(await recorded(folder, "delete")).toEqual(["n\ufffd"]);
});

test("what is declared beside what is approved is on record too, before both are done", async () => {
  const folder = declared(1);
  const target = join(gated.shop.make("elsewhere"), "new");
  const approval = { subject: READER, access: access("filesystem", "create", target) };
  await gated.fixture.service.approvePermanently(adminOf(), approval);
  const { asked, unrecorded } = await run(folder, `mv -n f0 ${target}`);
  expect({ left: readdirSync(folder), asked: asked.length, unrecorded }).toEqual({
    left: [],
    asked: 1,
    unrecorded: [],
  });
  expect(await recorded(folder, "delete")).toEqual(["f0"]);
});

test("what still stands after a narrowing is answered by the broker, and on record", async () => {
  const folder = declared(2);
  const allow = [...PROGRAMS, ...rules(`${folder}/`, ...CHANGES)];
  const compiled = { ok: true, confinement: gated.shop.confine(allow) } as const;
  const standing = new StandingGrants(() => compiled);
  const { asked } = await run(folder, "echo ready; read go; rm f0 f1; echo x > /dev/null", {
    standing,
    started: async ({ child, narrow }) => {
      await once(child.stdout!, "data");
      standing.begin([], narrow);
      standing.refresh();
      await standing.settled();
      child.stdin?.end("go\n");
    },
  });
  expect(asked.some(({ parts }) => parts.some(({ operation }) => operation === "delete"))).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
  expect(await recorded(folder, "delete")).toEqual(["f0", "f1"]);
});

test("attack: what the service does not confirm is told to the host, which grants it no more", async () => {
  const folder = declared(2);
  gated.fixture.service.applyHost({
    kind: "contract_set",
    contract: { id: "contract-demo", access: PROGRAMS },
  });
  let narrow: () => Promise<void> = () => Promise.resolve();
  const { asked, unrecorded } = await run(folder, ": > f0; read go; : > f1", {
    onUnrecorded: () => void narrow(),
    started: async ({ child, ...confined }) => {
      ({ narrow } = confined);
      await expect.poll(() => statSync(join(folder, "f0")).size).toBe(0);
      // WHY: told once more, so that it is known to hold.
      await narrow();
      child.stdin?.end("go\n");
    },
  });
  expect(unrecorded.length).toBeGreaterThan(0);
  expect(asked.flatMap(({ parts }) => parts)).toEqual([
    { operation: "modify", target: join(folder, "f1"), exists: true },
  ]);
  expect(readFileSync(join(folder, "f1"), "utf8")).toBe("text");
  expect(await recorded(folder, "modify")).toEqual([]);
});
