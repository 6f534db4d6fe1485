/**
 * The three facts of every constrained action: permission state, permission decision, sandbox profile; and the
 * facts about destruction that every mode keeps. Facts are recorded as they were; nothing here decides.
 */
import { z } from "zod";
import { APPROVAL_SCOPES, DECISION_SOURCES, OUTCOMES, PERMISSION_MODES, RULE_SOURCES } from "../decision.ts";
import { FILESYSTEM_TARGET_BYTES_MAX } from "../target/filesystem.ts";
import { type WireType, defineWire } from "./define-wire.ts";
import {
  actionIdSchema,
  decisionIdSchema,
  messageSchema,
  refListSchema,
  refSchema,
  timestampSchema,
} from "./identifier.ts";

export const destructiveFactsShape = {
  destructive: z.boolean(),
  impact_scope: messageSchema,
  rollback_advice: messageSchema,
  decision_source: z.enum(DECISION_SOURCES),
};
export const destructiveFactsWire = defineWire(z.strictObject(destructiveFactsShape));
export type DestructiveFacts = WireType<typeof destructiveFactsWire>;

/** What may take part in a decision. The rule sources come with the other kinds of policy. */
export const POLICY_SOURCES = [
  "builtin",
  "manifest",
  "approval",
  ...RULE_SOURCES,
  "hook",
  "classifier",
] as const;
export type PolicySource = (typeof POLICY_SOURCES)[number];

export const permissionStateSchema = z.strictObject({
  mode: z.enum(PERMISSION_MODES),
  /** The rules in force, by reference. */
  rules: refListSchema,
  policy_sources: z.array(z.enum(POLICY_SOURCES)).max(POLICY_SOURCES.length),
  /** Whether a person can be asked now. */
  interactive: z.boolean(),
});
export const permissionStateWire = defineWire(permissionStateSchema);
export type PermissionState = WireType<typeof permissionStateWire>;

export const permissionDecisionSchema = z.strictObject({
  id: decisionIdSchema,
  decision: z.enum(OUTCOMES),
  decision_reason: messageSchema,
  rule_refs: refListSchema,
  /** Input that a hook rewrote; it was checked again. */
  updated_input_ref: refSchema.nullable(),
  /** The approve or deny action of a person. */
  approval_action_id: actionIdSchema.nullable(),
  expires_at: timestampSchema.nullable(),
  scope: z.enum(APPROVAL_SCOPES).nullable(),
  ...destructiveFactsShape,
});
export const permissionDecisionWire = defineWire(permissionDecisionSchema);
export type PermissionDecision = WireType<typeof permissionDecisionWire>;

export const SANDBOX_MODES = ["none", "guard", "os"] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];

/** What stands at the wall. */
export const SANDBOX_ENFORCERS = ["guard", "landlock", "seccomp", "namespaces", "gateway"] as const;
export type SandboxEnforcer = (typeof SANDBOX_ENFORCERS)[number];

/** `open`: nothing stands between the process and the network. */
export const SANDBOX_NETWORKS = ["none", "gateway", "open"] as const;
export type SandboxNetwork = (typeof SANDBOX_NETWORKS)[number];

const path = z
  .string()
  .startsWith("/", { error: "must be an absolute path" })
  .max(FILESYSTEM_TARGET_BYTES_MAX);
const roots = z.array(path).max(10_000);
const limit = z.int().min(0).nullable();

export const sandboxProfileSchema = z.strictObject({
  mode: z.enum(SANDBOX_MODES),
  platform: z.string().min(1).max(64),
  cwd: path,
  read_roots: roots,
  write_roots: roots,
  network: z.strictObject({
    access: z.enum(SANDBOX_NETWORKS),
    /** Declared loopback ports that are forwarded into the sandbox. */
    forwarded_ports: z.array(z.int().min(1).max(65535)).max(1000),
  }),
  environment_ref: refSchema.nullable(),
  process_limits: z.strictObject({
    processes_max: limit,
    open_files_max: limit,
    memory_bytes_max: limit,
    cpu_seconds_max: limit,
  }),
  violation_refs: refListSchema,
  enforced_by: z.array(z.enum(SANDBOX_ENFORCERS)).max(SANDBOX_ENFORCERS.length),
  /** What was asked for, or would be expected, and is not enforced here; for example `read_not_asked`. */
  not_enforced: z.array(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/)).max(100),
});
export const sandboxProfileWire = defineWire(sandboxProfileSchema);
export type SandboxProfile = WireType<typeof sandboxProfileWire>;
