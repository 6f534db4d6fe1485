/**
 * `sallyport approve` and `sallyport deny`. A decision by id carries the digest of what was shown: on a terminal the
 * request is shown and confirmed; without one the caller gives the digest it saw, or says `--yes` to what is there.
 */
import { confirm, isCancel } from "@clack/prompts";
import type { Decision, Match } from "@sallyport/contract";
import type { AdminClient, AdminDecisionKind } from "@sallyport/client/admin";
import { type DecisionBatch, type RequestDetail, batchAnswerWire } from "@sallyport/contract/admin";
import { decisionWire } from "@sallyport/contract/remote";
import { MATCHES } from "@sallyport/contract";
import { type Command, Option } from "commander";
import { CliFault, refusedBy } from "./cli-fault.ts";
import {
  type CommandLine,
  type CommonOptions,
  addLeaf,
  countOption,
  durationOption,
} from "./command-line.ts";
import type { ExitName } from "./exit-code.ts";
import { decidedLines } from "./decided-words.ts";
import { openInbox } from "./inbox.ts";
import { detailLines } from "./request-words.ts";

interface DecideOptions extends CommonOptions {
  readonly session?: boolean;
  readonly permanent?: boolean;
  readonly once?: boolean;
  readonly uses?: number;
  readonly for?: number;
  readonly reason?: string;
  readonly widen?: Match;
  readonly digest?: string;
  readonly yes?: boolean;
  readonly block?: boolean;
}

export function addDecideCommands(program: Command, cli: CommandLine): void {
  addLeaf<DecideOptions>(program, cli, {
    name: "approve",
    description: "approve requests; without an id an inbox to decide them one by one",
    shape: (command) =>
      shared(
        command
          .option("--session", "for the session of the request (unless `--permanent`)")
          .option("--permanent", "for every session")
          .option("--once", "for one use")
          .option("--uses <count>", "for so many uses", countOption)
          .option("--for <time>", "for a time such as `30m`, `8h` or `7d`", durationOption)
          .addOption(
            new Option(
              "--widen <match>",
              "reach further than the request; `requests ID` says how far",
            ).choices([...MATCHES]),
          ),
      ),
    run: (line, options, ids) =>
      ids.length === 0 ? inbox(line, options) : decideIds(line, options, ids, "approve"),
  });
  addLeaf<DecideOptions>(program, cli, {
    name: "deny",
    description: "deny requests; they are not asked again",
    shape: (command) => shared(command).option("--block", "write a deny rule, which beats declarations too"),
    run: (line, options, ids) => decideIds(line, options, ids, "deny"),
  });
}

function shared(command: Command): Command {
  return command
    .argument("[ids...]", "the requests")
    .option("--reason <words>", "why; the record keeps it, and a denial tells it to the caller")
    .option("--digest <digest>", "of what you saw, as `requests ID` shows it")
    .option("--yes", "decide what is there now without being asked");
}

async function inbox(cli: CommandLine, options: DecideOptions): Promise<ExitName> {
  if (!cli.terminal.isInteractive || options.json === true)
    throw new CliFault({
      exit: "usage",
      message: "the inbox needs a terminal",
      next: "name the requests: `sallyport requests --json`, then `sallyport approve ID --digest DIGEST`",
    });
  return cli.withOwner(options, (admin) => openInbox(cli, admin));
}

async function decideIds(
  cli: CommandLine,
  options: DecideOptions,
  ids: readonly string[],
  verb: "approve" | "deny",
): Promise<ExitName> {
  if (ids.length === 0)
    throw new CliFault({
      exit: "usage",
      message: `name the request to ${verb}`,
      next: "`sallyport requests` lists them",
    });
  if (options.digest !== undefined && ids.length > 1)
    throw new CliFault({
      exit: "usage",
      message: "a digest is for one request",
      next: "decide them one by one",
    });
  return cli.withOwner(options, async (admin) => {
    const details: RequestDetail[] = [];
    for (const id of new Set(ids)) details.push(await admin.request(id));
    await confirmed(cli, options, details, verb);
    const items = details.map((detail) => itemOf(options, detail, verb));
    const [item] = items;
    if (items.length === 1 && item !== undefined) {
      const decision = await admin.decide(item.kind, item.by, item.words);
      return told(cli, options, decision);
    }
    return decideBatch(cli, options, admin, items);
  });
}

async function confirmed(
  cli: CommandLine,
  options: DecideOptions,
  details: readonly RequestDetail[],
  verb: string,
): Promise<void> {
  if (options.yes === true || options.digest !== undefined) return;
  if (!cli.terminal.isInteractive)
    throw new CliFault({
      exit: "usage",
      message: "without a terminal a decision needs the digest of what was shown",
      next: "add `--digest DIGEST` (`sallyport requests ID` shows it), or `--yes` to decide what is there now",
    });
  for (const detail of details)
    for (const line of detailLines(cli.terminal, detail, Date.now())) cli.terminal.line(line);
  const answer = await confirm({
    message: `${verb === "approve" ? "Approve" : "Deny"} ${details.length === 1 ? "this" : `these ${details.length}`}?`,
    initialValue: !details.some(({ request }) => request.destructive),
  });
  if (isCancel(answer) || !answer)
    throw new CliFault({ exit: "interrupted", message: "nothing was decided", next: undefined });
}

type Item = DecisionBatch["items"][number];

function itemOf(options: DecideOptions, detail: RequestDetail, verb: "approve" | "deny"): Item {
  const { request } = detail;
  const digest = options.digest ?? request.digest;
  const by = { kind: "request", requestId: request.id, digest } as const;
  const reason = options.reason === undefined ? {} : { reason: options.reason };
  if (verb === "deny") return { kind: options.block === true ? "block" : "deny", by, words: reason };
  const kind: AdminDecisionKind = options.permanent === true ? "approve_permanently" : "approve_for_session";
  if (options.permanent === true && options.session === true)
    throw new CliFault({ exit: "usage", message: "`--session` and `--permanent` exclude each other" });
  const maxUses = options.once === true ? 1 : options.uses;
  return {
    kind,
    by,
    words: {
      ...reason,
      ...(maxUses === undefined ? {} : { maxUses }),
      ...(options.for === undefined ? {} : { expiresAtMs: Date.now() + options.for }),
      ...(options.widen === undefined ? {} : { widen: wideningOf(detail, options.widen) }),
    },
  };
}

function wideningOf({ widenings }: RequestDetail, match: Match) {
  const found = widenings.find((one) => one.match === match);
  if (found !== undefined) return { match, target: found.target };
  const known = widenings.map((one) => `\`${one.match}\``).join(", ");
  throw new CliFault({
    exit: "invalid",
    message: `this request cannot be widened to \`${match}\``,
    next: known === "" ? "leave `--widen` out" : `one of ${known} can be given`,
  });
}

async function decideBatch(
  cli: CommandLine,
  options: DecideOptions,
  admin: AdminClient,
  items: readonly Item[],
): Promise<ExitName> {
  const batch = await admin.decideBatch(items);
  if (options.json === true) cli.terminal.json(batchAnswerWire.format(batch));
  if (!batch.committed) {
    const refused = batch.answers.find((answer) => !answer.ok);
    const code = refused?.ok === false ? refused.code : "unavailable";
    const why = refused?.ok === false ? refused.message : "one of them was refused";
    throw refusedBy(code, `nothing was decided: ${why}`);
  }
  if (options.json !== true)
    cli.terminal.line(cli.terminal.paint("green", `decided ${batch.answers.length} requests`));
  return "done";
}

/** Says what a decision did, or ends the command where it was refused. */
function told(cli: CommandLine, options: CommonOptions, decision: Decision): ExitName {
  if (!decision.ok) throw refusedBy(decision.code, decision.message);
  if (options.json === true) cli.terminal.json(decisionWire.format(decision as never));
  else for (const line of decidedLines(cli.terminal, decision)) cli.terminal.line(line);
  return "done";
}
