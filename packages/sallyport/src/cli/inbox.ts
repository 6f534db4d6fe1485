/**
 * The inbox in a terminal: what waits, one by one, with the same choices as the console. Shows everything before it asks;
 * a destructive request is never one key away from being approved. Every label is foreign text made safe.
 */
import { confirm, intro, isCancel, log, note, outro, select, text } from "@clack/prompts";
import { AdminCallError, type AdminClient, type AdminDecisionKind } from "@sallyport/client/admin";
import type { RequestDetail, RequestView, WideningView } from "@sallyport/contract/admin";
import type { RemoteDecision } from "@sallyport/contract/remote";
import type { CommandLine } from "./command-line.ts";
import { decidedLines } from "./decided-words.ts";
import type { ExitName } from "./exit-code.ts";
import { printable, shortened } from "./printable.ts";
import { ageOf, detailLines, labelOf } from "./request-words.ts";

const LABEL_MAX = 90;
const NAME_MAX = 40;
const SHOWN_MAX = 100;
const QUIT = "quit";

type Words = RemoteDecision["words"];
type Choice =
  | { readonly kind: "decide"; readonly decision: AdminDecisionKind; readonly words: Words }
  | { readonly kind: "back" };

export async function openInbox(cli: CommandLine, admin: AdminClient): Promise<ExitName> {
  intro("Sallyport inbox");
  let decided = 0;
  for (;;) {
    const { rows } = await admin.requests({ status: "pending" }, { limit: SHOWN_MAX, order: "oldest" });
    if (rows.length === 0) {
      if (!(await somethingNew(cli, admin))) break;
      continue;
    }
    const id = await chosenRequest(rows);
    if (id === QUIT) break;
    if (await decideOne(cli, admin, id)) decided++;
  }
  outro(decided === 0 ? "nothing was decided" : `${decided} decided`);
  return "done";
}

/** Waits for the next request; `false` where the person ends it. */
async function somethingNew(cli: CommandLine, admin: AdminClient): Promise<boolean> {
  log.info("nothing waits for a decision; new requests appear here, ctrl-c ends");
  try {
    for await (const { kind, what } of admin.live(cli.ending)) {
      // WHY also at the beginning: a request may have come between the look and the stream.
      if (kind !== "hello" && !what.includes("requests")) continue;
      const { rows } = await admin.requests({ status: "pending" }, { limit: 1 });
      if (rows.length > 0) return true;
    }
  } catch (error) {
    if (!cli.ending.aborted) throw error;
  }
  return false;
}

async function chosenRequest(rows: readonly RequestView[]): Promise<string> {
  const nowMs = Date.now();
  const options = rows.map((request) => ({
    value: String(request.id),
    label: printable(sentenceOf(request)),
    hint: ageOf(request.firstSeen, nowMs),
  }));
  const answer = await select<string>({
    message: `${rows.length}${rows.length === SHOWN_MAX ? " or more" : ""} waiting`,
    options: [...options, { value: QUIT, label: "Quit" }],
    maxItems: 12,
  });
  return isCancel(answer) ? QUIT : answer;
}

/** The target first: a long name of whoever asks must not push it out of sight. */
function sentenceOf(request: RequestView): string {
  const { subject, resource } = request;
  const who = `${subject.type} ${shortened(subject.name, NAME_MAX)}`;
  return `${shortened(`${labelOf(request)} ${resource.target}`, LABEL_MAX)}, wanted by ${who}`;
}

async function decideOne(cli: CommandLine, admin: AdminClient, id: string): Promise<boolean> {
  const { terminal } = cli;
  const detail = await admin.request(id).catch(missing);
  if (detail === undefined) {
    log.warn("this request is gone");
    return false;
  }
  for (const line of detailLines(terminal, detail, Date.now())) log.message(line, { spacing: 0 });
  const choice = await chosenDecision(detail);
  if (choice.kind === "back") return false;
  const { request } = detail;
  const by = { kind: "request", requestId: request.id, digest: request.digest } as const;
  const decision = await admin.decide(choice.decision, by, choice.words);
  if (!decision.ok) {
    log.error(printable(`${decision.message} [${decision.code}]`));
    return false;
  }
  for (const line of decidedLines(terminal, decision)) log.success(line, { spacing: 0 });
  return true;
}

function missing(error: unknown): undefined {
  if (error instanceof AdminCallError && error.code === "not_found") return undefined;
  throw error;
}

const BACK: Choice = Object.freeze({ kind: "back" });

async function chosenDecision(detail: RequestDetail): Promise<Choice> {
  const { request, widenings } = detail;
  const hasSession = (request.origin.sessionKey ?? null) !== null;
  const noSession = hasSession ? undefined : "the request has no session key";
  const wider = widenings.filter(({ match }) => match !== "exact");
  const answer = await select<string>({
    message: `${labelOf(request)}: what now?`,
    // INVARIANT: where an act destroys something, the first key pressed decides nothing.
    initialValue: request.destructive ? "back" : hasSession ? "once" : "permanent",
    options: [
      option("once", "Approve once", noSession),
      option("session", "Approve for this session", noSession),
      option("permanent", "Approve permanently", undefined),
      ...(wider.length > 0 ? [option("widen", "Approve permanently, and wider…", undefined)] : []),
      option("deny", "Deny, and do not ask again", undefined),
      option("block", "Block with a deny rule", undefined),
      option("back", "Back", undefined),
    ],
  });
  if (isCancel(answer)) return BACK;
  switch (answer) {
    case "once":
      return sure(detail, "approve_for_session", { maxUses: 1 });
    case "session":
      return sure(detail, "approve_for_session", {});
    case "permanent":
      return sure(detail, "approve_permanently", {});
    case "widen":
      return widened(detail, wider);
    case "deny":
    case "block":
      return reasoned(answer);
    default:
      return BACK;
  }
}

function option(value: string, label: string, disabledBecause: string | undefined) {
  if (disabledBecause === undefined) return { value, label };
  return { value, label: `${label} (not possible: ${disabledBecause})`, disabled: true };
}

/** What destroys something is asked twice. */
async function sure({ request }: RequestDetail, decision: AdminDecisionKind, words: Words): Promise<Choice> {
  if (request.destructive) {
    const answer = await confirm({ message: "This is destructive. Approve it?", initialValue: false });
    if (isCancel(answer) || !answer) return BACK;
  }
  return { kind: "decide", decision, words };
}

/** A preview of what it covers, then a second step. */
async function widened(detail: RequestDetail, wider: readonly WideningView[]): Promise<Choice> {
  const answer = await select<number>({
    message: "How far?",
    options: wider.map(({ label, target, wide }, value) => ({
      value,
      label: printable(shortened(`${label}: ${target}`, LABEL_MAX)),
      ...(wide ? { hint: "reaches far" } : {}),
    })),
  });
  const chosen = isCancel(answer) ? undefined : wider[answer];
  if (chosen === undefined) return BACK;
  const covered = chosen.covers.map((target) => `covers      ${printable(shortened(target, LABEL_MAX))}`);
  const missed = chosen.not.map((target) => `not         ${printable(shortened(target, LABEL_MAX))}`);
  note([...covered, ...missed].join("\n"), "What it would cover");
  const isSure = await confirm({ message: "Approve all of this, in every session?", initialValue: false });
  if (isCancel(isSure) || !isSure) return BACK;
  const { match, target } = chosen;
  return sure(detail, "approve_permanently", { widen: { match, target } });
}

async function reasoned(decision: "deny" | "block"): Promise<Choice> {
  const answer = await text({ message: "Why? (told to the caller; may be empty)", defaultValue: "" });
  if (isCancel(answer)) return BACK;
  const reason = answer.trim();
  return { kind: "decide", decision, words: reason === "" ? {} : { reason } };
}
