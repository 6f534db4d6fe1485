/**
 * Files that Node reads or writes by itself, past its own file functions: environment files, blobs and reports. They are
 * done by the guarded functions instead, so that what is declared works and the rest is asked about.
 * Must be installed behind those of `fs`, which it takes as they are then.
 */
import fs from "node:fs";
import process from "node:process";
import { parseEnv } from "node:util";
import { apply, bare, getOwnPropertyDescriptor, hasOwn, newPromise, ownKeys, settled } from "../captured.ts";
import { replaceExport } from "../replace-export.ts";
import { refusal, refusing } from "./refused-exports.ts";

const { stringify } = JSON;
const NativeBlob = Blob;
const DEFAULT_FILE = ".env";

export function installNativeFiles(): void {
  const { readFileSync, writeFileSync } = fs;
  const { env, report } = process;
  installBlobs();
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
  const getReport = reportWithoutNames(report);
  const writeReport = (file: unknown, error: unknown): string => {
    if (typeof file !== "string")
      throw refusal("process.report.writeReport", "hand over the path of the file: else Node chooses one");
    const facts = error === undefined ? getReport() : getReport(error);
    apply(writeFileSync, undefined, [file, stringify(facts, null, report.compact ? 0 : 2)]);
    return file;
  };
  replaceExport(report, "writeReport", () => writeReport);
  replaceExport(report, "getReport", () => getReport);
}

/**
 * WHY: for each connection a report asks the system's resolver what the other end is called, and with it tells others of the
 * address. That is switched by a setting, which a program sets as it likes; here it is as if it were set, for as long as it takes.
 */
function reportWithoutNames(report: NodeJS.ProcessReport): (...args: unknown[]) => object {
  // oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
  const { getReport } = report;
  const { get, set } = getOwnPropertyDescriptor(report, "excludeNetwork") ?? {};
  if (get === undefined || set === undefined)
    return refusing("process.report.getReport", "it looks up the names of those that connections lead to");
  return (...args) => {
    const before = apply(get, report, []) as boolean;
    apply(set, report, [true]);
    try {
      return apply(getReport, report, args as [Error?]);
    } finally {
      apply(set, report, [before]);
    }
  };
}

/**
 * WHY read at once: Node opens the path again whenever the blob is read, and tells by size and fraction of a second alone
 * whether it is still the same file; what was decided on can then be a link to another. With two arguments, since one
 * alone is how Node 20 loads code.
 */
function installBlobs(): void {
  const { readFileSync } = fs;
  const { readFile } = fs.promises;
  replaceExport(
    fs,
    "openAsBlob",
    (original) =>
      function openAsBlob(path: unknown, options: unknown): Promise<unknown> {
        const type = typeOf(options);
        if (typeof type !== "string") return apply(original, fs, ["", bare({ type })]) as Promise<unknown>;
        return newPromise((resolve, reject) =>
          settled(
            apply(readFile, undefined, [path as string, undefined]),
            (bytes) => resolve(blobOf(bytes, type)),
            reject,
          ),
        );
      },
  );
  replaceExport(
    fs,
    "openAsBlobSync",
    (original) =>
      function openAsBlobSync(path: unknown, options: unknown): unknown {
        const type = typeOf(options);
        if (typeof type !== "string" || typeof path === "number")
          return apply(original, fs, ["", bare({ type })]);
        return blobOf(apply(readFileSync, undefined, [path as string, undefined]), type);
      },
  );
}

function blobOf(bytes: unknown, type: string): Blob {
  return new NativeBlob([bytes as Uint8Array<ArrayBuffer>], bare({ type }));
}

/** Read once; Node says what it thinks of one that is no text. */
function typeOf(options: unknown): unknown {
  if (typeof options !== "object" || options === null) return "";
  const { type = "" } = options as { readonly type?: unknown };
  return type;
}

/** What is in the environment already stays what it is. */
function keepAbsent(env: NodeJS.ProcessEnv, found: object): void {
  const names = ownKeys(found);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    if (!hasOwn(env, name)) env[name] = (found as Record<string, string>)[name];
  }
}
