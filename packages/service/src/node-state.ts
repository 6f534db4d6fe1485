/**
 * Settings that decide: the service's mode, and whether set-up is over. Read from the node's view of the store.
 * INVARIANT: a setting that cannot be read is the narrowest one.
 */
import { PERMISSION_MODES, type PermissionMode } from "@sallyport/contract";
import type { Json } from "@sallyport/store";
import type { NodeState } from "./caller-context.ts";
import type { NodeParts } from "./node-parts.ts";

export const MODE_SETTING = "permission_mode";
export const SETUP_SETTING = "setup_completed";

export function nodeState(parts: NodeParts): NodeState {
  const { live, audit, setupStarted } = parts;
  const held = live.facts.setting(MODE_SETTING);
  const { mode, expiresAtMs } = modeOf(held);
  return {
    live: live.live && audit.writable,
    // WHY: a node that may not have heard of the end of set-up must not go on with it.
    setup: setupStarted && live.live && live.facts.setting(SETUP_SETTING) === undefined,
    mode,
    modeExpiresAtMs: expiresAtMs,
  };
}

export function modeJson(mode: PermissionMode, expiresAtMs: number | null): Json {
  return { mode, expires_at_ms: expiresAtMs };
}

function modeOf(held: Json | undefined): {
  readonly mode: PermissionMode;
  readonly expiresAtMs: number | null;
} {
  if (held === undefined) return { mode: "default", expiresAtMs: null };
  const { mode, expires_at_ms: expiresAtMs } = held as Readonly<Record<string, Json>>;
  const known = PERMISSION_MODES.find((name) => name === mode);
  if (known === undefined) return { mode: "never", expiresAtMs: null };
  return { mode: known, expiresAtMs: typeof expiresAtMs === "number" ? expiresAtMs : null };
}
