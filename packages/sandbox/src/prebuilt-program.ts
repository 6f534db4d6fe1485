/**
 * Programs that a release brings along beside their sources, each with a record: from which sources it was built, and its own
 * digest. Only what matches both counts. Trusts files of its own user and of root, as they are when they are read; a record
 * that does not fit is a reason to build, never a reason to run something else.
 */
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { NativeBuild } from "./native-build.ts";
import { trustFault } from "./trusted-program.ts";

export type Prebuilt =
  | { readonly ok: true; readonly path: string; readonly bytes: Buffer }
  /** `reason`: absent where the package brings none for this architecture. */
  | { readonly ok: false; readonly reason?: string };

const OWNER_EXECUTES = 0o100;

export function prebuiltPath({ name, from, arch }: NativeBuild): string {
  return join(from, "prebuilt", `linux-${arch}`, name);
}

const recordPath = (path: string): string => `${path}.json`;

export function findPrebuilt(build: NativeBuild): Prebuilt {
  const path = prebuiltPath(build);
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return { ok: false };
  const passedOver = (reason: string): Prebuilt => ({ ok: false, reason: `\`${path}\` ${reason}` });
  const fault = trustFault(path) ?? trustFault(recordPath(path));
  if (fault !== undefined) return passedOver(fault);
  if ((facts.mode & OWNER_EXECUTES) === 0) return passedOver("may not be started");
  const record = readRecord(recordPath(path));
  if (record?.sources !== build.digest) return passedOver("was built from other sources");
  const bytes = readFileSync(path);
  if (record.program !== sha256(bytes)) return passedOver("is not the program of its record");
  return { ok: true, path, bytes };
}

/** For the release: what was built there now is on record. */
export function recordPrebuilt(build: NativeBuild): string {
  const path = prebuiltPath(build);
  const record = { sources: build.digest, program: sha256(readFileSync(path)) };
  writeFileSync(recordPath(path), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o644 });
  return record.program;
}

/** The folder that a release builds into. */
export function makePrebuiltFolder(build: NativeBuild): string {
  const path = prebuiltPath(build);
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  return path;
}

function readRecord(path: string): { readonly sources?: unknown; readonly program?: unknown } | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof record === "object" && record !== null ? record : undefined;
  } catch {
    return undefined;
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
