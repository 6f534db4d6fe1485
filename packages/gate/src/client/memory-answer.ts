/**
 * What a child may say without asking: a plain allowlist hit, and a refusal where the service cannot be asked.
 * Decides nothing. Runs beside foreign code: uses its own copies of what it needs, and tables that were made at import.
 */
import {
  type ExternalAccessCheck,
  RESOURCE_OPERATIONS,
  destructiveFacts,
  operationLabel,
  pairIndex,
} from "@sallyport/contract";
import type { PlainVerdict } from "@sallyport/policy/realm";
import { beginsWith, charCodeAt, slice } from "../captured.ts";
import type { AskWords } from "../protocol/message.ts";

const { freeze } = Object;
const { stringify } = JSON;
const QUESTION_MARK = 63;
const SHOWN_MAX = 1000;

const LABELS = RESOURCE_OPERATIONS.map((pair) => operationLabel(pair).toLowerCase());
const FACTS = RESOURCE_OPERATIONS.map((pair) => destructiveFacts(pair));
const CREATE_OVER = destructiveFacts({ resourceType: "filesystem", operation: "create" }, { exists: true });
const CREATE = pairIndex("filesystem", "create");
const UNKNOWN = destructiveFacts({ resourceType: "filesystem", operation: "execute" });

function factsOf(pair: number, exists: boolean): (typeof FACTS)[number] {
  if (pair < 0 || pair >= FACTS.length) return UNKNOWN;
  return pair === CREATE && exists ? CREATE_OVER : (FACTS[pair] as (typeof FACTS)[number]);
}

/** INVARIANT: what destroys something is never answered from memory while the service can be told first. */
export function isDestructive(pair: number, words: AskWords): boolean {
  return factsOf(pair, words.exists === true).destructive;
}

/** Of an operation that never destroys, whatever is there. */
export function isHarmless(pair: number): boolean {
  return !factsOf(pair, true).destructive;
}

/** @param id tells this answer apart from every other one */
export function memoryAnswer(
  verdict: PlainVerdict,
  pair: number,
  words: AskWords,
  id: string,
): ExternalAccessCheck {
  const message = messageOf(verdict, pair, words);
  const { destructive, impactScope, rollbackAdvice } = factsOf(pair, words.exists === true);
  const decision = freeze({
    id,
    decision: verdict.outcome,
    decisionReason: message,
    ruleRefs: freeze([]),
    updatedInputRef: null,
    approvalActionId: null,
    expiresAt: null,
    scope: null,
    destructive,
    impactScope,
    rollbackAdvice,
    decisionSource: verdict.source,
  });
  return freeze({
    allowed: verdict.allowed,
    requiresApproval: verdict.requiresApproval,
    code: verdict.code,
    message,
    decision,
  }) as unknown as ExternalAccessCheck;
}

/** WHY: a query may hold a secret, and the key that masks it is the service's. */
function messageOf(verdict: PlainVerdict, pair: number, { target }: AskWords): string {
  let end = 0;
  while (end < target.length && end < SHOWN_MAX && charCodeAt(target, end) !== QUESTION_MARK) end++;
  const what = pair >= 0 && pair < LABELS.length ? (LABELS[pair] as string) : "an unknown operation";
  return `${what} \`${slice(target, 0, end)}\` ${reasonOf(verdict)}`;
}

function reasonOf({ allowed, code }: PlainVerdict): string {
  if (allowed) return "is allowed: it is declared";
  if (code === "unavailable") return "cannot be decided now: try again when the service is back";
  return beginsWith(code, "invalid") ? "cannot be checked" : "is blocked: do not retry";
}

/** The extras of a question as the private realm reads them. Texts alone are quoted, which asks no `toJSON`. */
export function extrasText({ address, aliases, twin, named }: AskWords): string {
  if (address === undefined && aliases === undefined && twin === undefined && named === undefined) return "";
  let fields = "";
  const add = (field: string): void => {
    fields = fields === "" ? field : `${fields},${field}`;
  };
  if (address !== undefined) add(`"address":${stringify(address)}`);
  if (aliases !== undefined) {
    let names = "";
    for (let index = 0; index < aliases.length; index++)
      names = `${names}${index === 0 ? "" : ","}${stringify(aliases[index])}`;
    add(`"aliases":[${names}]`);
  }
  if (twin !== undefined) {
    const pair = pairIndex(twin.resourceType, twin.operation);
    add(`"twin":[${pair},${stringify(twin.target)}]`);
  }
  if (named !== undefined) add(`"named":[${stringify(named.type)},${stringify(named.name)}]`);
  return fields === "" ? "" : `{${fields}}`;
}
