/** Where attacks on the guard take place: links that lead out of what is declared, and what every attack must leave alone. */
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type GuardedWorld, type Preload, openWorld, outcomes } from "./guarded-process.ts";

export async function openAttackWorld(preload: Pick<Preload, "file">): Promise<GuardedWorld> {
  const world = await openWorld(preload);
  const { reads, all, secret } = world.places;
  symlinkSync(secret, join(reads, "into-secret"));
  symlinkSync(join(secret, "a.txt"), join(reads, "secret-file"));
  symlinkSync(join(secret, "new.txt"), join(all, "dangling"));
  mkdirSync(join(all, "tree"), { recursive: true });
  symlinkSync(join(secret, "a.txt"), join(all, "tree", "inside"));
  return world;
}

/** Blocked, or told that there is no such descriptor, or that this is no path. */
const DENIED = /ERR_ACCESS_DENIED|EBADF|ERR_INVALID_ARG_(?:TYPE|VALUE)/;

/** Runs the attacks in one process and expects each to be refused, and the secret to be as it was. */
export async function allRefused(
  world: GuardedWorld,
  attacks: Record<string, string>,
  before?: string,
): Promise<void> {
  const { secret } = world.places;
  const tasks = Object.entries(attacks).map(
    ([name, work]) => `${JSON.stringify(name)}: async () => { ${work} }`,
  );
  const found = await outcomes(world, tasks.join(",\n"), {
    waitMs: 0,
    ...(before === undefined ? {} : { before }),
  });
  expect(Object.keys(found)).toEqual(Object.keys(attacks));
  for (const [name, outcome] of Object.entries(found)) expect(`${name}: ${String(outcome)}`).toMatch(DENIED);
  expect(JSON.stringify(found)).not.toContain("secret a");
  expect(readFileSync(join(secret, "a.txt"), "utf8")).toBe("secret a");
  expect(existsSync(join(secret, "new.txt"))).toBe(false);
}
