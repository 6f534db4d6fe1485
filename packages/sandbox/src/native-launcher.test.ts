/** Which native program is started: the named one, the prebuilt one that matches, or one that is built here; nothing else. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { compile, nativeBuild } from "./native-build.ts";
import { obtainProgram } from "./native-launcher.ts";
import { findPrebuilt, makePrebuiltFolder, prebuiltPath, recordPrebuilt } from "./prebuilt-program.ts";

const NAME = "greeter";
const NOBODY = 65534;
const says = (word: string): string => `#include <stdio.h>\nint main(void) { puts("${word}"); return 0; }\n`;
const usual = { ...process.env };
let compiled: string;
let folder: string;
let sources: string;

beforeAll(async () => {
  compiled = mkdtempSync(join(tmpdir(), "sp-compiled-"));
  writeFileSync(join(compiled, "greeter.c"), says("prebuilt"));
  await compile(nativeBuild(NAME, compiled), "cc", join(compiled, NAME));
});
afterAll(() => rmSync(compiled, { recursive: true, force: true }));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sp-prebuilt-"));
  sources = join(folder, "native");
  mkdirSync(sources);
  copyFileSync(join(compiled, "greeter.c"), join(sources, "greeter.c"));
  copyFileSync(join(compiled, NAME), makePrebuiltFolder(nativeBuild(NAME, sources)));
  recordPrebuilt(nativeBuild(NAME, sources));
  process.env = { ...usual, SALLYPORT_CACHE: join(folder, "cache"), SALLYPORT_CC: "no-such-compiler" };
});
afterEach(() => {
  process.env = { ...usual };
  rmSync(folder, { recursive: true, force: true });
});

const prebuilt = (): string => prebuiltPath(nativeBuild(NAME, sources));
const said = (program: string): string => execFileSync(program, { encoding: "utf8" });
/** What is started in its place where there is a compiler, and what is said where there is none. */
async function passedOver(): Promise<{ readonly said: string; readonly refusal: string }> {
  const refusal = await obtainProgram(NAME, sources).then(
    (program) => `it runs ${program}`,
    (error: Error) => error.message,
  );
  process.env["SALLYPORT_CC"] = "cc";
  return { said: said(await obtainProgram(NAME, sources)), refusal };
}

test("a prebuilt program of these sources is taken without a compiler, and started from the cache", async () => {
  const program = await obtainProgram(NAME, sources);
  expect(program.startsWith(join(folder, "cache"))).toBe(true);
  expect(said(program)).toBe("prebuilt\n");
  rmSync(prebuilt());
  expect(await obtainProgram(NAME, sources)).toBe(program);
});

test("where no cache can be written a prebuilt program is started where it is", async () => {
  writeFileSync(join(folder, "cache"), "a file is no folder");
  expect(await obtainProgram(NAME, sources)).toBe(prebuilt());
});

test("the same sources give the same bytes, wherever they lie", async () => {
  const build = nativeBuild(NAME, sources);
  await compile(build, "cc", join(folder, "again"));
  expect(build.digest).toBe(nativeBuild(NAME, compiled).digest);
  expect(readFileSync(join(folder, "again")).equals(readFileSync(join(compiled, NAME)))).toBe(true);
});

test("attack: a prebuilt program of other sources is passed over, and said so", async () => {
  writeFileSync(join(sources, "greeter.c"), says("built here"));
  const { said: greeting, refusal } = await passedOver();
  expect(greeting).toBe("built here\n");
  expect(refusal).toContain("was built from other sources: install a C compiler");
});

test("attack: another program is put in the place of a prebuilt one", async () => {
  copyFileSync("/bin/true", prebuilt());
  const { said: greeting, refusal } = await passedOver();
  expect(greeting).toBe("prebuilt\n");
  expect(refusal).toContain("is not the program of its record");
});

test.each<{ readonly name: string; readonly spoil: (record: string) => void }>([
  { name: "missing", spoil: (record) => rmSync(record) },
  { name: "no JSON", spoil: (record) => writeFileSync(record, "{") },
  { name: "empty", spoil: (record) => writeFileSync(record, "null") },
])("attack: a record that is $name proves nothing", async ({ spoil }) => {
  spoil(`${prebuilt()}.json`);
  expect(findPrebuilt(nativeBuild(NAME, sources))).toMatchObject({ ok: false, reason: expect.any(String) });
  expect((await passedOver()).refusal).toContain("cannot be built");
});

test.each<{ readonly name: string; readonly spoil: (program: string) => void }>([
  { name: "that others can write", spoil: (program) => chmodSync(program, 0o757) },
  { name: "that a group can write", spoil: (program) => chmodSync(program, 0o775) },
  { name: "whose record others can write", spoil: (program) => chmodSync(`${program}.json`, 0o646) },
  { name: "in a folder that others can write", spoil: (program) => chmodSync(dirname(program), 0o757) },
  {
    name: "that is a link",
    spoil: (program) => {
      copyFileSync(program, `${program}.real`);
      rmSync(program);
      symlinkSync(`${program}.real`, program);
    },
  },
  { name: "that may not be started", spoil: (program) => chmodSync(program, 0o644) },
])("attack: a prebuilt program $name is passed over", async ({ spoil }) => {
  spoil(prebuilt());
  expect((await passedOver()).refusal).toMatch(/this user alone|put another in its place|may not be started/);
  expect(existsSync(join(folder, "cache"))).toBe(true);
});

test("attack: a cache that another user made, who can swap what was looked at, is not used", async () => {
  const cache = join(folder, "cache");
  const program = await obtainProgram(NAME, sources);
  // WHY both: whoever may not give files away is shown the same by a folder that is open to everybody.
  if (process.getuid?.() === 0) chownSync(cache, NOBODY, NOBODY);
  else chmodSync(cache, 0o777);
  await expect(obtainProgram(NAME, sources)).rejects.toThrow(
    `\`${program}\` lies in \`${cache}\`, where others can put another in its place`,
  );
});
