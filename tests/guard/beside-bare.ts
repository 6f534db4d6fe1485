/** One program, in bare Node and under a guard that blocks nothing: it has to say the same in both. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { type GuardedWorld, type StartOptions, start } from "./guarded-process.ts";

/** Behind every program: what its `tasks` said. */
const SAYING = `
const run = async () => {
  const results = {};
  for (const [name, work] of Object.entries(tasks)) results[name] = await work();
  return results;
};
run().then((results) => process.stdout.write(JSON.stringify(results)));
`;

/** @param tasks a program that makes `tasks` and is told a folder with `a.txt` in it, as `all` */
export async function expectLikeBare(
  world: GuardedWorld,
  tasks: string,
  options: StartOptions = {},
): Promise<void> {
  const program = `${tasks}${SAYING}`;
  const folder = mkdtempSync(join(tmpdir(), "sallyport-bare-"));
  try {
    writeFileSync(join(folder, "a.txt"), "all a");
    writeFileSync(join(folder, "program.cjs"), program);
    const args = [join(folder, "program.cjs"), JSON.stringify({ all: folder })];
    const bare: unknown = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
    const guarded = await start(world, program, options).ended;
    expect(guarded.stderr).toBe("");
    expect(JSON.parse(guarded.stdout)).toEqual(bare);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
