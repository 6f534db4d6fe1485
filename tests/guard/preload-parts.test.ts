/** The preload and the file beside it, with its parts and what V8 made of them: it may be absent, or of something else. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type GuardedWorld, type Preload, buildPreload, openWorld, outcomes } from "./guarded-process.ts";

let preload: Preload;
let world: GuardedWorld;
let beside: string;
let data: Buffer;

beforeAll(async () => {
  preload = await buildPreload();
  beside = `${preload.file}.parts`;
  data = readFileSync(beside);
  world = await openWorld(preload);
});
afterAll(async () => {
  await world.close();
  preload.remove();
});
beforeEach(() => writeFileSync(beside, data));

const works = async (flags: readonly string[] = []): Promise<void> => {
  const found = await outcomes(
    world,
    `read: () => fs.readFileSync(at.reads + "/a.txt", "utf8"), secret: () => fs.readFileSync(at.secret + "/a.txt")`,
    { waitMs: 0, flags },
  );
  expect(found["read"]).toBe("reads a");
  expect(found["secret"]).toMatch(/ERR_ACCESS_DENIED approval_required/);
};

it("the guard starts without the file beside it", async () => {
  rmSync(beside);
  await works();
});

it("a file of other parts is not used, though V8 would take what was compiled of them", async () => {
  const other = Buffer.from(data);
  // WHY the first letter: the mark of the parts stands there; behind it V8 finds what it would take.
  other[0] = other[0] === 0x30 ? 0x31 : 0x30;
  other.fill(0xcc, 64 + 4096);
  writeFileSync(beside, other);
  await works();
});

it("names that a flag makes global in every thread are none of the guard's", () =>
  works(["--expose_externalize_string"]));
