/** A program of this folder as one file that a bare Node runs, for what only a process of its own can show. */
import { mkdirSync, mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** WHY: under the package's own folder, so that drivers are found where they are installed. */
export async function bundledProgram(entry: string): Promise<string> {
  const here = dirname(fileURLToPath(import.meta.url));
  const programs = join(here, "..", "..", "dist", "test-programs");
  mkdirSync(programs, { recursive: true });
  const file = join(mkdtempSync(join(programs, "program-")), "program.mjs");
  const require = createRequire(import.meta.url);
  const entryOfRolldown = pathToFileURL(require.resolve("rolldown")).href;
  const { rolldown } = (await import(entryOfRolldown)) as {
    readonly rolldown: (options: object) => Promise<{
      readonly write: (options: object) => Promise<unknown>;
      readonly close: () => Promise<void>;
    }>;
  };
  const build = await rolldown({
    input: join(here, entry),
    platform: "node",
    external: ["kysely", "pg", "libsql"],
    resolve: { conditionNames: ["source", "import", "node", "default"] },
    logLevel: "silent",
  });
  await build.write({ file, format: "esm", codeSplitting: false });
  await build.close();
  return file;
}
