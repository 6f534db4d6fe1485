/**
 * What a person says when deciding, read into what the policy takes. Who the person is comes from the context and is
 * no word here. Trusts nothing; a fault is a refusal that says what to write.
 */
import type {
  ByRequest,
  CallerContext,
  CallerSession,
  Fault,
  Match,
  Refusal,
  SessionApprovalWords,
  SubjectType,
} from "@sallyport/contract";
import { readAccessInput, readNamed } from "./access-input.ts";
import { normalized } from "./ask-access.ts";
import { type Words, isFault, ownWords } from "./own-words.ts";
import type { BuiltAccess, PlainAccess } from "./plain-access.ts";
import type { DecisionAim, DecisionVerb, SdkGround } from "./sdk-ground.ts";

export interface DecisionOptions {
  /** Why; shown to whoever asked. */
  readonly reason?: string | undefined;
  readonly widen?: { readonly match: Match; readonly target: string } | undefined;
}

export interface ApprovalOptions extends DecisionOptions {
  readonly expiresAtMs?: number | undefined;
  /** "Once" is 1. */
  readonly maxUses?: number | undefined;
}

export interface SessionOptions extends ApprovalOptions {
  /** Of the request; the session of the context unless said. */
  readonly sessionKey?: string | undefined;
  /** Whose request it is where it is not that of the acting user. */
  readonly requestedBy?: Pick<CallerSession, "organizationId" | "userId"> | undefined;
}

/** Whose access is decided. */
export interface DecidedSubject {
  readonly subjectType: SubjectType;
  readonly subjectName: string;
}

/** By the request that was shown, by a plain access, or by a built one with the subject among the options. */
export type DecisionInput<O> = (ByRequest & O) | (PlainAccess & DecidedSubject & O);

const REQUEST_WORDS = ["requestId", "digest"] as const;
const SUBJECT_WORDS = ["subjectType", "subjectName"] as const;
const WORDS_OF = {
  deny: ["reason", "widen"],
  approvePermanently: ["reason", "widen", "expiresAtMs", "maxUses"],
  approveForSession: ["reason", "widen", "expiresAtMs", "maxUses", "sessionKey", "requestedBy"],
} as const satisfies Record<DecisionVerb, readonly string[]>;

export function readDecision(
  ground: SdkGround,
  verb: DecisionVerb,
  input: unknown,
  options: unknown,
): DecisionAim | Refusal {
  const own: readonly string[] = WORDS_OF[verb];
  const isByRequest = typeof input === "object" && input !== null && Object.hasOwn(input, "requestId");
  if (isByRequest) {
    const words = ownWords(input, new Set([...REQUEST_WORDS, ...own]));
    if (isFault(words)) return refused(words);
    const by = { requestId: text(words.get("requestId")), digest: text(words.get("digest")) };
    return { by, words: said(words) };
  }
  const { question, words } = readAccessInput(input, options, new Set([...SUBJECT_WORDS, ...own]));
  const { access } = normalized(ground, question);
  if ("code" in access) return refused(access);
  const subject = readNamed(words);
  if (!subject.ok) return refused(subject);
  if (subject.value === undefined) return refusal("name the subject: give `subjectType` and `subjectName`");
  if (verb !== "approveForSession") return { by: { subject: subject.value, access }, words: said(words) };
  const session = sessionOf(ground.caller(), words);
  return { by: { subject: subject.value, access, session }, words: said(words) };
}

/** The session of the context, unless the request of another session is named. */
function sessionOf(caller: CallerContext, words: Words): CallerSession {
  const given = words.get("requestedBy");
  const whose = given === undefined ? undefined : ownWords(given, new Set(["organizationId", "userId"]));
  const key = words.get("sessionKey");
  const sessionKey = typeof key === "string" ? key : caller.sessionKey;
  if (whose === undefined || isFault(whose))
    return { organizationId: caller.organizationId, userId: caller.user?.id ?? null, sessionKey };
  return {
    organizationId: principal(whose.get("organizationId")),
    userId: principal(whose.get("userId")),
    sessionKey,
  };
}

function said(words: Words): SessionApprovalWords {
  // WHY: every word by itself, `undefined` included, so that none is inherited from a polluted prototype.
  return Object.freeze({
    reason: words.get("reason"),
    widen: words.get("widen"),
    expiresAtMs: words.get("expiresAtMs"),
    maxUses: words.get("maxUses"),
    sessionKey: words.get("sessionKey"),
  }) as SessionApprovalWords;
}

function principal(value: unknown): number | string | null {
  return typeof value === "number" || typeof value === "string" ? value : null;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function refused({ code, message }: Fault): Refusal {
  return refusal(message, code === "invalid_target" ? code : "invalid_operation");
}

function refusal(message: string, code: Refusal["code"] = "invalid_operation"): Refusal {
  return Object.freeze({ ok: false, code, message });
}

/** For those whose words are a built access. */
export type BuiltDecision<O> = [access: BuiltAccess, options: DecidedSubject & O];
