/**
 * Files that Node reads or writes by itself, past its own file functions: environment files and reports. They are done by
 * the guarded functions instead, with the same result, so that what is declared works and the rest is asked about.
 * Must be installed behind those of `fs`, which it takes as they are then.
 */
import fs from "node:fs";
import process from "node:process";
import { parseEnv } from "node:util";
import { apply, hasOwn, ownKeys } from "../captured.ts";
import { replaceExport } from "../replace-export.ts";
import { refusal } from "./refused-exports.ts";

const { stringify } = JSON;
const DEFAULT_FILE = ".env";

export function installNativeFiles(): void {
  const { readFileSync, writeFileSync } = fs;
  const { env, report } = process;
  replaceExport(
    process,
    "loadEnvFile",
    (original) =>
      function loadEnvFile(path: unknown): void {
        // WHY: a number is a descriptor to `readFileSync`; Node says what it thinks of it.
        if (typeof path === "number") apply(original, process, [path]);
        const text = apply(readFileSync, undefined, [(path ?? DEFAULT_FILE) as string, "utf8"]) as string;
        keepAbsent(env, parseEnv(text));
      },
  );
  if (report === undefined) return;
  // oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
  const { getReport } = report;
  const writeReport = (file: unknown, error: unknown): string => {
    if (typeof file !== "string")
      throw refusal("process.report.writeReport", "hand over the path of the file: else Node chooses one");
    const facts = apply(getReport, report, error === undefined ? [] : [error as Error]);
    apply(writeFileSync, undefined, [file, stringify(facts, null, report.compact ? 0 : 2)]);
    return file;
  };
  replaceExport(report, "writeReport", () => writeReport);
}

/** What is in the environment already stays what it is. */
function keepAbsent(env: NodeJS.ProcessEnv, found: object): void {
  const names = ownKeys(found);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    if (!hasOwn(env, name)) env[name] = (found as Record<string, string>)[name];
  }
}
