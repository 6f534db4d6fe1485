/**
 * The name of a program that runs by a manifest nobody registered: a digest of the whole document and of the folder
 * that it speaks for. The same manifest in the same folder is the same subject; any other is another one, so that no
 * program inherits what was approved for a stranger whose manifest happens to look alike.
 */
import { createHash } from "node:crypto";
import { type Parsed, type Subject, fault, parseSubject } from "@sallyport/contract";
import canonicalize from "canonicalize";
import { LOCAL_PREFIX } from "./asset-name.ts";

export interface LocalManifest {
  readonly text: string;
  readonly subject: Subject;
}

export function readLocalManifest(manifest: unknown, realRoot: string): Parsed<LocalManifest> {
  try {
    // WHY: read once, so that what is named and what is loaded is the same document.
    const text = typeof manifest === "string" ? manifest : JSON.stringify(manifest);
    const canonical = canonicalize({ manifest: JSON.parse(text) as unknown, root: realRoot });
    if (canonical === undefined) return noJson();
    const digest = createHash("sha256").update(canonical).digest("hex");
    const subject = parseSubject("tool", `${LOCAL_PREFIX}${digest}`);
    return subject.ok ? { ok: true, value: { text, subject: subject.value } } : subject;
  } catch {
    return noJson();
  }
}

function noJson(): Parsed<never> {
  return fault("invalid_manifest", "manifest", "the manifest is no JSON: pass its text or plain JSON");
}
