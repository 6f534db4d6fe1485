/**
 * What the registry says: answers to whoever registers, entries for whoever enters, events for whoever watches.
 * Plain frozen data; a refusal is a value and never changes what is registered.
 */
import type {
  CallerFrame,
  ManifestFault,
  ManifestWarning,
  Phase,
  PointedFault,
  SensitiveImport,
  Subject,
} from "@sallyport/contract";
import type { AccessRule, Change } from "@sallyport/policy";

/** The changes that the registry makes; nothing else of the policy is its business. */
export type RegistryChange = Extract<Change, { readonly kind: `contract_${string}` | `subject_${string}` }>;

export type RefusalReason =
  | "invalid_manifest"
  | "invalid_subject"
  | "invalid_folder"
  | "invalid_url"
  /** The manifest calls itself something else than the host does. */
  | "name_mismatch"
  /** Another root, module or URL has that name. */
  | "name_taken"
  /** The name lies in what belongs to another module, or to nobody. */
  | "name_not_owned"
  | "already_registered"
  | "not_registered"
  | "no_such_phase"
  /** The change could not be handed on to the policy. */
  | "unavailable";

export interface RegistryRefusal {
  readonly ok: false;
  readonly reason: RefusalReason;
  /** What is wrong and what to do; lower-case, no full stop. */
  readonly message: string;
  /** Every fault of a manifest that was refused. */
  readonly faults: readonly ManifestFault[];
}

export interface Registered {
  readonly ok: true;
  readonly subject: Subject;
  readonly warnings: readonly ManifestWarning[];
  /** Configured values and installer hosts that give no rule, with what is wrong with them. */
  readonly ignored: readonly PointedFault[];
}

export interface Unregistered {
  readonly ok: true;
  /** The subject, and the assets of a module that went with it. */
  readonly subjects: readonly Subject[];
}

/** One frame that the host may enter now. Its contracts stay until it has left. */
export interface SubjectEntry {
  readonly ok: true;
  readonly frame: CallerFrame;
  readonly allowedImports: readonly SensitiveImport[];
  /** The module that the subject is or belongs to. */
  readonly module: Subject | undefined;
  /** Real path of the subject's own folder; an asset's is that of its module. */
  readonly root: string | undefined;
  /** To be called once the frame has ended; more calls do nothing. */
  readonly leave: () => void;
}

/** What a subject declares in one phase, as it was loaded. */
export interface SubjectDeclaration {
  readonly subject: Subject;
  readonly phase: Phase;
  readonly access: readonly AccessRule[];
  readonly allowedImports: readonly SensitiveImport[];
  /** Real path of its folder. */
  readonly root: string | undefined;
}

/** A contract for one call. */
export interface OneOff {
  readonly ok: true;
  readonly contract: string;
  /** To be called once the call has ended; more calls do nothing. */
  readonly end: () => void;
}

export type RegistryEvent =
  | { readonly kind: "subject_registered" | "subject_reloaded"; readonly subject: Subject }
  | { readonly kind: "subject_unregistered"; readonly subject: Subject }
  | {
      readonly kind: "registration_refused";
      /** Absent where the name itself is bad. */
      readonly subject: Subject | undefined;
      readonly refusal: RegistryRefusal;
    }
  /** The old version stays. */
  | { readonly kind: "reload_refused"; readonly subject: Subject; readonly refusal: RegistryRefusal }
  /** A configured value or an installer host gives no rule. */
  | {
      readonly kind: "value_ignored";
      readonly subject: Subject;
      readonly faults: readonly PointedFault[];
    }
  /** The policy did not take a change; what was asked for did not happen. */
  | { readonly kind: "change_failed"; readonly change: RegistryChange["kind"] };

export function refusal(
  reason: RefusalReason,
  message: string,
  faults: readonly ManifestFault[] = [],
): RegistryRefusal {
  return Object.freeze({ ok: false, reason, message, faults: Object.freeze([...faults]) });
}
