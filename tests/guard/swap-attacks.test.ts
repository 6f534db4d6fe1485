/** Names that lead elsewhere between check and open: another process swaps them as fast as it can. */
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openAttackWorld } from "./attack-world.ts";
import { type GuardedWorld, outcomes } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
worldOfFile(async (preload) => (world = await openAttackWorld(preload)));

/** Another process that swaps what a name leads to, over and over. */
async function whileSwapping(
  program: string,
  args: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  const source = `const fs = require("fs"); const [a, b, c, d] = process.argv.slice(1); for (;;) { ${program} }`;
  const swapper = spawn(process.execPath, ["-e", source, ...args]);
  try {
    await work();
  } finally {
    swapper.kill("SIGKILL");
  }
}

async function raced(path: string): Promise<Record<string, number>> {
  const found = await outcomes(
    world,
    `race: () => {
       const seen = {};
       for (let round = 0; round < 4000; round++) {
         let outcome;
         try { outcome = fs.readFileSync(at.reads + ${JSON.stringify(path)}, "utf8"); } catch (error) { outcome = error.code; }
         seen[outcome] = (seen[outcome] ?? 0) + 1;
       }
       return seen;
     }`,
  );
  return found["race"] as Record<string, number>;
}

describe("attack: what a name leads to is swapped between check and open", () => {
  it("a file for a link wins nothing", async () => {
    const { reads, secret } = world.places;
    for (const name of ["swapped", "other"]) writeFileSync(join(reads, name), "harmless");
    const swap = `
      try { fs.symlinkSync(b, a + ".1"); fs.renameSync(a + ".1", a); } catch {}
      try { fs.linkSync(c, a + ".2"); fs.renameSync(a + ".2", a); fs.unlinkSync(a + ".2"); } catch {}`;
    const args = [join(reads, "swapped"), join(secret, "a.txt"), join(reads, "other")];
    await whileSwapping(swap, args, async () => {
      const seen = await raced("/swapped");
      expect(Object.keys(seen)).not.toContain("secret a");
      expect(seen["harmless"]).toBeGreaterThan(0);
    });
  });

  it("a folder above the file for a link wins nothing", async () => {
    const { reads, secret } = world.places;
    mkdirSync(join(reads, "above"));
    writeFileSync(join(reads, "above", "a.txt"), "harmless");
    symlinkSync(secret, join(reads, "above-link"));
    const swap = `
      try { fs.renameSync(a, b); fs.renameSync(c, a); } catch {}
      try { fs.renameSync(a, c); fs.renameSync(b, a); } catch {}`;
    const args = [join(reads, "above"), join(reads, "above-kept"), join(reads, "above-link")];
    await whileSwapping(swap, args, async () => {
      const seen = await raced("/above/a.txt");
      expect(Object.keys(seen)).not.toContain("secret a");
      expect(seen["harmless"]).toBeGreaterThan(0);
    });
  });
});
