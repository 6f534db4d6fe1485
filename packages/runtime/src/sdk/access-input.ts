/**
 * From the arguments of a check to what can be asked: a raw question, the subject that is named, and the words about
 * registering, waiting and resuming. Trusts nothing; a fault is carried on so that it is answered and recorded.
 */
import {
  FAULT_CODES,
  type Fault,
  type FaultCode,
  type Parsed,
  type RequestedForm,
  type Subject,
  type Wait,
  fault,
  ok,
  parseSubject,
} from "@sallyport/contract";
import type { RawQuestion } from "@sallyport/gate/targets";
import { type Words, isFault, ownWords } from "./own-words.ts";

export interface ReadInput {
  readonly question: RawQuestion | Fault;
  /** In the caller's own words, for the record. */
  readonly requested: RequestedForm;
  readonly named: Subject | undefined;
  readonly registerRequest: boolean | undefined;
  readonly wait: Wait | undefined;
  readonly resumeAction: string | undefined;
  readonly resumeContext: unknown;
}

const ACCESS_WORDS = ["resourceType", "operation", "target"] as const;
const NAME_WORDS = ["subjectType", "subjectName"] as const;
export const CHECK_WORDS: ReadonlySet<string> = new Set([...NAME_WORDS, "wait", "registerRequest"]);
export const REQUIRE_WORDS: ReadonlySet<string> = new Set([
  ...NAME_WORDS,
  "wait",
  "resumeAction",
  "resumeContext",
]);
const BUILT_WORDS: ReadonlySet<string> = new Set(["ok", "value"]);
const FAULT_WORDS: ReadonlySet<string> = new Set(["ok", "code", "field", "message"]);
const WAIT_WORDS: ReadonlySet<string> = new Set(["timeoutMs", "signal"]);
const TEXT_MAX = 4096;
const MESSAGE_MAX = 500;

/** A plain access with its words in one object, or a built access with the words beside it. */
export function readAccessInput(
  input: unknown,
  options: unknown,
  allowed: ReadonlySet<string>,
): { readonly question: RawQuestion | Fault; readonly requested: RequestedForm; readonly words: Words } {
  const isBuilt = hasOwn(input, "ok");
  const all = isBuilt ? ownWords(options, allowed) : ownWords(input, new Set([...ACCESS_WORDS, ...allowed]));
  const question = isBuilt ? builtQuestion(input) : isFault(all) ? all : plainQuestion(all);
  const requested = requestedForm(isBuilt || !isFault(all) ? question : peek(input));
  const extra = isBuilt || options === undefined ? undefined : TWO_OBJECTS;
  if (isFault(all)) return { question: all, requested, words: new Map() };
  return { question: extra ?? question, requested, words: all };
}

const TWO_OBJECTS = fault(
  "invalid_operation",
  "arguments",
  "a plain access holds its options itself: hand over one object",
);

export function readAskInput(input: unknown, options: unknown, allowed: ReadonlySet<string>): ReadInput {
  const { question, requested, words } = readAccessInput(input, options, allowed);
  const named = readNamed(words);
  const wait = readWait(words.get("wait"));
  const registerRequest = words.get("registerRequest");
  const resumeAction = words.get("resumeAction");
  const problem =
    faultIn(named) ??
    faultIn(wait) ??
    (isOptional(registerRequest, "boolean") ? undefined : wrong("registerRequest", "true or false")) ??
    (isOptional(resumeAction, "string") ? undefined : wrong("resumeAction", "the name of an action"));
  return {
    question: "code" in question ? question : (problem ?? question),
    requested,
    named: named.ok ? named.value : undefined,
    registerRequest: registerRequest as boolean | undefined,
    wait: wait.ok ? wait.value : undefined,
    resumeAction: resumeAction as string | undefined,
    resumeContext: words.get("resumeContext"),
  };
}

/** The subject that is named; both of its words or none. */
export function readNamed(words: Words): Parsed<Subject | undefined> {
  const type = words.get("subjectType");
  const name = words.get("subjectName");
  if (type === undefined && name === undefined) return ok(undefined);
  const parsed = parseSubject(type, name);
  return parsed.ok ? parsed : fault("invalid_operation", "subject", parsed.message);
}

function readWait(value: unknown): Parsed<Wait | undefined> {
  if (value === undefined) return ok(undefined);
  const words = ownWords(value, WAIT_WORDS);
  if (isFault(words)) return words;
  const timeoutMs = words.get("timeoutMs");
  const signal = words.get("signal");
  if (typeof timeoutMs !== "number" || !(timeoutMs >= 0)) return wrong("wait", "`{timeoutMs}` from 0 on");
  if (signal !== undefined && !(signal instanceof AbortSignal)) return wrong("wait", "an `AbortSignal`");
  return ok({ timeoutMs, signal });
}

function plainQuestion(words: Words): RawQuestion {
  return {
    resourceType: words.get("resourceType"),
    operation: words.get("operation"),
    target: words.get("target"),
  };
}

/**
 * INVARIANT: only what was written is taken from a built access, and it is parsed again: guarded code could have put
 * the object together itself, and a path was not walked yet.
 */
function builtQuestion(input: unknown): RawQuestion | Fault {
  const good = ownWords(input, BUILT_WORDS);
  if (!isFault(good) && good.get("ok") === true) {
    const access = ownWords(good.get("value"), new Set(ACCESS_WORDS));
    if (isFault(access)) return access;
    const { resourceType, operation, target } = plainQuestion(access);
    return { resourceType, operation, target: hasOwn(target, "requested") ? target.requested : undefined };
  }
  const bad = ownWords(input, FAULT_WORDS);
  if (isFault(bad)) return bad;
  const code = FAULT_CODES.find((one) => one === bad.get("code")) ?? "invalid_target";
  const message = text(bad.get("message"), MESSAGE_MAX);
  const known: FaultCode = code === "invalid_target" ? code : "invalid_operation";
  return fault(known, text(bad.get("field"), MESSAGE_MAX), message === "" ? "target is not valid" : message);
}

/** For the record of a call whose arguments were refused. */
function peek(input: unknown): RawQuestion | undefined {
  return typeof input === "object" && input !== null ? (input as RawQuestion) : undefined;
}

function requestedForm(question: RawQuestion | Fault | undefined): RequestedForm {
  try {
    if (question === undefined || "code" in question) return { type: "", operation: "", target: "" };
    const { resourceType, operation, target } = question;
    const written = target instanceof URL ? target.href : target;
    return {
      type: text(resourceType, MESSAGE_MAX),
      operation: text(operation, MESSAGE_MAX),
      target: text(written, TEXT_MAX),
    };
  } catch {
    return { type: "", operation: "", target: "" };
  }
}

function text(value: unknown, lengthMax: number): string {
  return typeof value === "string" ? value.slice(0, lengthMax) : "";
}

function faultIn(parsed: Parsed<unknown>): Fault | undefined {
  return parsed.ok ? undefined : parsed;
}

function isOptional(value: unknown, type: "boolean" | "string"): boolean {
  return value === undefined || typeof value === type;
}

function wrong(field: string, must: string): Fault {
  return fault("invalid_operation", field, `\`${field}\` must be ${must}`);
}

function hasOwn<K extends string>(value: unknown, key: K): value is Readonly<Record<K, unknown>> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key);
}
