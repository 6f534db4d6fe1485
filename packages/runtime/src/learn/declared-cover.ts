/**
 * What a manifest would allow, asked of the engine that decides: a registry and a snapshot of their own, with that
 * manifest alone. Changes nothing anywhere else.
 */
import { type Parsed, fault, parseAccess, whatwgUrl } from "@sallyport/contract";
import { ActiveContext, PLAIN_CONTEXT, Snapshot, decide } from "@sallyport/policy";
import { SubjectRegistry } from "../registry/subject-registry.ts";
import type { SeenAccess } from "./seen-book.ts";

export interface DeclaredCover {
  readonly isCovered: (seen: Pick<SeenAccess, "resourceType" | "operation" | "target">) => boolean;
  readonly imports: readonly string[];
  /** Real path of the folder that relative targets start from. */
  readonly root: string;
}

/** WHY fixed: nothing here meets foreign input for long. */
const SEED = [0x5a11_7, 0x90_12_7] as const;

export function declaredCover(manifest: string, folder: string): Parsed<DeclaredCover> {
  const snapshot = new Snapshot({ seed: SEED, parseUrl: whatwgUrl });
  const registry = new SubjectRegistry({
    parseUrl: whatwgUrl,
    variables: {},
    apply: (change) => {
      const taken = snapshot.apply(change);
      if (!taken.ok) throw new Error(taken.message);
    },
  });
  const registered = registry.registerLocal({ root: folder, manifest });
  if (!registered.ok) return fault("invalid_manifest", "manifest", registered.message);
  const entry = registry.enter(registered.subject);
  if (!entry.ok) return fault("invalid_manifest", "manifest", entry.message);
  const active = new ActiveContext(snapshot, {
    frames: [entry.frame],
    ...PLAIN_CONTEXT,
  });
  const isCovered: DeclaredCover["isCovered"] = ({ resourceType, operation, target }) => {
    const access = parseAccess({ resourceType, operation, target }, whatwgUrl);
    if (!access.ok) return false;
    return decide(active, { access: access.value, ask: "passive", nowMs: 0 }).code === "allowed_sandbox";
  };
  return { ok: true, value: { isCovered, imports: entry.allowedImports, root: entry.root ?? folder } };
}
