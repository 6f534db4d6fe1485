/**
 * The words an approver reads. One table per closed list, so that a new operation or mode without words does not compile.
 * Holds nothing from outside: names and targets are put in by `Hostile` and `Target`.
 */
import type {
  DecisionSource,
  Match,
  Operation,
  OperationOf,
  Outcome,
  PermissionMode,
  RequestStatus,
  ResourceType,
} from "@sallyport/contract";
import type { NearMissReason } from "@sallyport/contract/admin";
import type { Tone } from "../parts/badge.tsx";

interface PairWords {
  /** After "wants to". */
  readonly verb: string;
  /** Where it is wider than it sounds. */
  readonly wider: string;
}

type PairTable = { readonly [R in ResourceType]: { readonly [O in OperationOf<R>]: PairWords } };

const PAIRS: PairTable = {
  network: {
    connect: {
      verb: "connect to",
      wider: "Raw bytes both ways: once the connection is open, nothing can tell reading from sending.",
    },
    receive: {
      verb: "receive from",
      wider: "The other side learns the address, the path and the query, which can carry data out.",
    },
    send: {
      verb: "send to",
      wider: "Hands data over, or changes something there: POST, PUT, DELETE, uploads.",
    },
  },
  filesystem: {
    read: { verb: "read", wider: "Also the names in a folder, sizes, dates and where links lead." },
    create: { verb: "create", wider: "Also folders and links, and what a copy or a rename puts there." },
    modify: { verb: "modify", wider: "Also emptying it, and changing its owner, mode and dates." },
    delete: {
      verb: "delete",
      wider: "Also the old name of a rename. Entries of a folder are asked one by one.",
    },
    execute: {
      verb: "execute",
      wider:
        "The program can do all that the sandbox around it allows, with arguments of its caller's choice.",
    },
  },
  system_dependency: {
    execute: {
      verb: "run the installed program",
      wider:
        "The program can do all that the sandbox around it allows, with arguments of its caller's choice.",
    },
  },
};

/** `undefined` where the server knows an operation that this console does not. */
export function pairWords(type: string, operation: string): PairWords | undefined {
  const row: Readonly<Record<string, PairWords>> | undefined = Object.hasOwn(PAIRS, type)
    ? PAIRS[type as ResourceType]
    : undefined;
  return row !== undefined && Object.hasOwn(row, operation) ? row[operation] : undefined;
}

export const STATUS_WORDS: Readonly<Record<RequestStatus, { readonly label: string; readonly tone: Tone }>> =
  {
    pending: { label: "Pending", tone: "accent" },
    approved_session: { label: "Approved for session", tone: "good" },
    approved_permanent: { label: "Approved permanently", tone: "good" },
    denied: { label: "Denied", tone: "danger" },
    expired: { label: "Expired", tone: "neutral" },
    cancelled: { label: "Cancelled", tone: "neutral" },
  };

export const OUTCOME_WORDS: Readonly<Record<Outcome, { readonly label: string; readonly tone: Tone }>> = {
  allowed: { label: "Allowed", tone: "good" },
  sandboxed: { label: "Sandboxed", tone: "good" },
  asked: { label: "Asked", tone: "accent" },
  denied: { label: "Denied", tone: "danger" },
  unavailable: { label: "Unavailable", tone: "warn" },
};

export const MODE_WORDS: Readonly<
  Record<PermissionMode, { readonly label: string; readonly about: string }>
> = {
  default: { label: "Default", about: "What is declared or approved is allowed; the rest asks." },
  untrusted: { label: "Untrusted", about: "Declarations allow reading and receiving only; the rest asks." },
  on_request: {
    label: "On request",
    about: "The rest is refused, unless the caller asks for approval itself.",
  },
  on_failure: {
    label: "On failure",
    about: "Runs confined under a complete sandbox; a violation becomes the request. Denied without one.",
  },
  never: { label: "Never ask", about: "The rest is denied at once, and nobody is asked." },
  plan: {
    label: "Plan",
    about: "Only reading and receiving; everything else is refused, even where declared.",
  },
  bypass: {
    label: "Bypass",
    about: "Allows and records everything that no rule or denial forbids. Needs an end.",
  },
  auto: {
    label: "Auto",
    about: "A registered classifier answers what would be asked; without one a person is asked.",
  },
};

export const SOURCE_WORDS: Readonly<Record<DecisionSource, string>> = {
  setup: "set-up is running",
  manifest: "a declaration",
  session_approval: "a session approval",
  permanent_approval: "a permanent approval",
  denial: "a recorded denial",
  builtin_rule: "a built-in rule",
  host_rule: "a rule of the host",
  hook: "a hook",
  classifier: "the classifier",
  mode: "the permission mode",
  observe: "observe only",
  validation: "a check of the target",
  context: "the runtime context",
  limit: "a limit",
  timeout: "a timeout",
  fault: "a fault",
};

export const MATCH_WORDS: Readonly<Record<Match, string>> = {
  exact: "exactly this",
  any_query: "this URL, any query",
  path_prefix: "every path below",
  origin: "the whole origin",
  endpoint: "the whole host and port",
  directory: "the folder and all below",
};

export const NEAR_MISS_WORDS: Readonly<Record<NearMissReason, string>> = {
  other_operation: "an approval exists for another operation",
  other_target: "an approval exists for another target",
  other_session: "an approval exists for another session",
  other_user: "an approval exists for another user",
  expired: "its approval has expired",
  used_up: "its approval is used up",
};

const RESOURCE_WORDS: Readonly<Record<ResourceType, string>> = {
  network: "Network",
  filesystem: "Filesystem",
  system_dependency: "System dependency",
};

/** "Filesystem delete". */
export const pairLabel = (type: ResourceType, operation: Operation): string =>
  `${RESOURCE_WORDS[type]} ${operation}`;

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
