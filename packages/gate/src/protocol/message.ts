/**
 * What is said through the gate. From the child: hello, confirm, ask, inquire, cancel, event, imported, heartbeat. From
 * the service: hello, snapshot, delta, answer, told, heartbeat, close. From both: the bytes of branches, which are gates of
 * programs that the child started.
 * INVARIANT: no message of the child has a field for who it is: subject, user, organization and session are those
 * of the socket. A question may name a subject, which only narrows, and put made-up frames on top, which are bounded.
 * Of a process that was opened for several subjects it says which of them act; others than those are refused.
 * Facts travel as text that only the private realm of the child reads.
 */
import { FAULT_CODES } from "@sallyport/contract/plain";
import { GateFault } from "./gate-fault.ts";
import {
  ALIASES_MAX,
  BRANCH_TEXT_MAX,
  CHILD_FRAME_BYTES_MAX,
  ENTERED_MAX,
  EVENTS_MAX,
  HOSTED_MAX,
  IMPORTS_MAX,
  RESUME_CONTEXT_LENGTH_MAX,
  SERVICE_FRAME_BYTES_MAX,
  TARGET_LENGTH_MAX,
  TEXT_LENGTH_MAX,
} from "./bounds.ts";
import { type Read, anything, flag, list, oneOf, optional, record, text, whole, wireForm } from "./shape.ts";

const word = text(TEXT_LENGTH_MAX);
const target = text(TARGET_LENGTH_MAX);
const subject = record({ type: word, name: word });
const triple = { resourceType: word, operation: word, target };

/** Frames that guarded code made up itself, from the outermost in. Contracts: such as its own chain has. */
const entered = list(record({ subject, contracts: list(word, ENTERED_MAX) }), ENTERED_MAX);

/**
 * Subjects that the program of this process runs now, from the outermost in, on top of the socket's own frames: of those
 * that the gate was opened for. Empty: nobody.
 */
const hosted = list(subject, ENTERED_MAX);

/** A question in the child's own words. */
const askWords = record({
  ...triple,
  /** The form that was written, where it is another one than the target. */
  requested: optional(target),
  address: optional(word),
  aliases: optional(list(word, ALIASES_MAX)),
  twin: optional(record(triple)),
  named: optional(subject),
  hosted: optional(hosted),
  entered: optional(entered),
  exists: optional(flag),
  /** A real operation. */
  enforced: optional(flag),
  /** Where in the program it came from, for people; only where the host asked for it. */
  evidence: optional(word),
  /** What is wrong with the question, as the child's own side found it: it is answered as such, and recorded. */
  fault: optional(record({ code: oneOf(FAULT_CODES), field: word, message: word })),
});
export type AskWords = ReturnType<typeof askWords>;
export type HostedNames = AskWords["hosted"];

const askOptions = {
  registerRequest: optional(flag),
  waitMs: optional(whole),
  resumeAction: optional(word),
  /** JSON text. */
  resumeContext: optional(text(RESUME_CONTEXT_LENGTH_MAX)),
};

export const GATE_VERBS = ["check", "require"] as const;

/** `facts`: who the child is. `state`: what it stands under. `request`: how a request of its own was decided. */
export const INQUIRIES = ["facts", "state", "request"] as const;

/** `allowed`: an answer from memory. `violation`: a real operation that was blocked. `count`: how often; once unless said. */
const event = record({ kind: oneOf(["allowed", "violation"]), words: askWords, count: optional(whole) });
export type ChildEvent = ReturnType<typeof event>;

const contexts = { live: text(SERVICE_FRAME_BYTES_MAX), fenced: text(SERVICE_FRAME_BYTES_MAX) };

/** What a child holds, as the private realm takes it. */
const facts = {
  /** JSON text of a list of changes, and how many they are. */
  changes: text(SERVICE_FRAME_BYTES_MAX),
  count: whole,
  /** The context while the child is live, and once its lease has run out; JSON text. Absent: as before. */
  context: optional(
    record({
      ...contexts,
      /** The same for each hosted subject alone on top; none where absent. */
      hosted: optional(list(record({ subject, ...contexts }), HOSTED_MAX)),
    }),
  ),
};

/**
 * Bytes between a program that the child started and the service, by the number of the branch. One chunk is under way at a
 * time in each direction.
 */
const BRANCH_MESSAGES = {
  /** Base64. */
  branch_bytes: record({ branch: whole, bytes: text(BRANCH_TEXT_MAX) }),
  branch_taken: record({ branch: whole }),
  branch_end: record({ branch: whole }),
};

const CHILD_MESSAGES = {
  ...BRANCH_MESSAGES,
  hello: record({ protocol: whole }),
  confirm: record({ revision: whole }),
  ask: record({ id: whole, verb: oneOf(GATE_VERBS), words: askWords, ...askOptions }),
  inquire: record({
    id: whole,
    about: oneOf(INQUIRIES),
    hosted: optional(hosted),
    entered: optional(entered),
    requestId: optional(word),
    waitMs: optional(whole),
  }),
  /** Of an ask or an inquiry. */
  cancel: record({ id: whole }),
  event: record({ entries: list(event, EVENTS_MAX) }),
  /** Opens a branch: a gate of its own for a program that this child starts. The numbers rise. */
  branch: record({ branch: whole, hosted: optional(hosted) }),
  /** A sensitive module was loaded. */
  imported: record({ name: word, evidence: optional(word) }),
  heartbeat: record({ beat: whole }),
};

const SERVICE_MESSAGES = {
  ...BRANCH_MESSAGES,
  hello: record({
    protocol: whole,
    /** Tells this connection apart in records. */
    nonce: word,
    leaseMs: whole,
    heartbeatMs: whole,
    /** `allowlist`: what the subject declared may be answered from memory. `nothing`: every question is asked. */
    memory: oneOf(["allowlist", "nothing"]),
    /** Sensitive imports that this child may use; none where absent. */
    imports: optional(list(word, IMPORTS_MAX)),
    /** Subjects that the program of this child may run, with their sensitive imports; none where absent. */
    hosted: optional(list(record({ subject, imports: list(word, IMPORTS_MAX) }), HOSTED_MAX)),
    /** The child says where in the program its questions come from. */
    evidence: optional(flag),
  }),
  /** The last part has the context. */
  snapshot: record({ revision: whole, isLast: flag, ...facts }),
  delta: record({ from: whole, to: whole, isLast: flag, ...facts }),
  answer: record({ id: whole, check: anything }),
  /** To an inquiry. */
  told: record({ id: whole, value: anything }),
  /** Not live: the service cannot vouch for its view, and the lease is not renewed. */
  heartbeat: record({ beat: whole, live: flag }),
  close: record({ code: word, message: word }),
};

type MessageOf<M extends Readonly<Record<string, Read<unknown>>>> = {
  [K in keyof M]: { readonly kind: K } & ReturnType<M[K]>;
}[keyof M];

export type ChildMessage = MessageOf<typeof CHILD_MESSAGES>;
export type ServiceMessage = MessageOf<typeof SERVICE_MESSAGES>;
export type AskMessage = Extract<ChildMessage, { readonly kind: "ask" }>;
export type InquireMessage = Extract<ChildMessage, { readonly kind: "inquire" }>;
/** Of a branch that is open. */
export type BranchMessage = MessageOf<typeof BRANCH_MESSAGES>;
export type FactsMessage = Extract<ServiceMessage, { readonly kind: "snapshot" | "delta" }>;

/** Reads the messages of one direction and holds their order: each has the number after the last one's. */
class MessageReader<M> {
  readonly #readers: Readonly<Record<string, Read<object>>>;
  #last: number;

  /** @param last the number of the last message that somebody else has read */
  constructor(readers: Readonly<Record<string, Read<object>>>, last: number) {
    this.#readers = readers;
    this.#last = last;
  }

  read(frame: string): M {
    const { n, kind, ...fields } = objectOf(frame);
    const read =
      typeof kind === "string" && Object.hasOwn(this.#readers, kind) ? this.#readers[kind] : undefined;
    if (read === undefined) throw new GateFault("unknown_message");
    // INVARIANT: a frame that was seen before has an old number.
    if (n !== this.#last + 1) throw new GateFault("out_of_sequence");
    this.#last++;
    return Object.freeze({ kind, ...read(fields) }) as M;
  }
}

export const childMessages = (): MessageReader<ChildMessage> => new MessageReader(CHILD_MESSAGES, 0);
export const serviceMessages = (last = 0): MessageReader<ServiceMessage> =>
  new MessageReader(SERVICE_MESSAGES, last);
export type { MessageReader };

/** Numbers the messages of one direction. */
export class MessageWriter {
  #last: number;

  /** @param last the number of the last message that somebody else has written */
  constructor(last = 0) {
    this.#last = last;
  }

  write(message: ChildMessage | ServiceMessage): string {
    return JSON.stringify({ n: ++this.#last, ...(wireForm(message) as object) });
  }
}

export const FRAME_BYTES_MAX = Object.freeze({
  child: CHILD_FRAME_BYTES_MAX,
  service: SERVICE_FRAME_BYTES_MAX,
});

function objectOf(frame: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    throw new GateFault("malformed_frame");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new GateFault("malformed_frame");
  return value as Readonly<Record<string, unknown>>;
}
