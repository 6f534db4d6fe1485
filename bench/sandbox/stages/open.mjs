// @ts-check
/** Purpose: what one open costs: bare, and in each trap set where it is granted. The program counts by itself. */
import { execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSandbox } from "@sallyport/sandbox";
import { said, workFolder } from "../confined.mjs";

/** @typedef {Record<"bare" | import("@sallyport/sandbox").TrapSet, number>} Opened nanoseconds of one open and close, the best batch */

const TRAP_SETS = /** @type {const} */ (["none", "writes", "all"]);

/** @param {{ rounds: number, opens: number }} options @returns {Promise<Opened>} */
export async function run({ rounds, opens }) {
  const sandbox = await openSandbox();
  const folder = workFolder();
  const program = join(folder, "opener");
  execFileSync("cc", ["-O2", "-o", program, fileURLToPath(new URL("../opener.c", import.meta.url))]);
  const file = join(folder, "file");
  writeFileSync(file, "x");
  const args = [file, String(opens)];
  const confined = TRAP_SETS.map((trapSet) => {
    const compiled = sandbox.compile({
      allow: [
        { resourceType: "filesystem", operation: "read", target: `${folder}/` },
        { resourceType: "filesystem", operation: "execute", target: program },
        { resourceType: "filesystem", operation: "execute", target: "/usr/" },
      ],
      trapSet,
    });
    if (!compiled.ok) throw new Error(compiled.faults.map(({ message }) => message).join("; "));
    const options = {
      confinement: compiled.confinement,
      decide: async () => /** @type {const} */ ("deny"),
      cwd: folder,
    };
    return { name: trapSet, start: () => sandbox.spawn(program, args, options).child };
  });
  const kinds = [{ name: /** @type {const} */ ("bare"), start: () => spawn(program, args) }, ...confined];
  const best = new Map(kinds.map(({ name }) => [name, Number.POSITIVE_INFINITY]));
  for (let round = 0; round < rounds; round++)
    for (const { name, start } of kinds)
      best.set(name, Math.min(best.get(name) ?? Number.NaN, Number(await said(start()))));
  return /** @type {Opened} */ (Object.fromEntries(best));
}
