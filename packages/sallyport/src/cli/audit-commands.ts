/** `sallyport audit`: follow, search, export and verify the log. Reads only. */
import { createWriteStream } from "node:fs";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { OUTCOMES, type Outcome } from "@sallyport/contract";
import {
  type AdminEventFilter,
  type EventView,
  eventPageWire,
  followedWire,
  verifyViewWire,
} from "@sallyport/contract/admin";
import { type Command, InvalidArgumentError, Option } from "commander";
import { CliFault } from "./cli-fault.ts";
import { type CommandLine, type CommonOptions, addGroup, addLeaf } from "./command-line.ts";
import type { ExitName } from "./exit-code.ts";
import {
  type FilterOptions,
  identityFilter,
  identityOptions,
  nullableOption,
  pageOf,
  pageOptions,
  sessionFilter,
  sessionOptions,
} from "./filter-options.ts";
import { printableJson } from "./printable.ts";

interface AuditOptions extends FilterOptions {
  readonly type?: string;
  readonly code?: string;
  readonly decision?: Outcome;
  readonly request?: string;
  readonly from?: number;
  readonly to?: number;
}

export function addAuditCommands(program: Command, cli: CommandLine): void {
  const group = addGroup(program, "audit", "follow, search, export and verify the audit log");
  addLeaf<AuditOptions & { readonly start?: boolean }>(group, cli, {
    name: "tail",
    description: "print events as they are recorded",
    shape: (command) => eventOptions(command).option("--start", "begin with the first one that is kept"),
    run: (line, options) => tail(line, options),
  });
  addLeaf<AuditOptions>(group, cli, {
    name: "search",
    description: "list events, newest first",
    shape: (command) => pageOptions(eventOptions(command)),
    run: (line, options) => search(line, options),
  });
  addLeaf<CommonOptions>(group, cli, {
    name: "export",
    description: "write the whole log as JSON lines that can be verified alone",
    shape: (command) => command.argument("[file]", "a new file; stdout unless said"),
    run: (line, options, [file]) => exportLog(line, options, file),
  });
  addLeaf<CommonOptions>(group, cli, {
    name: "verify",
    description: "verify every chain of the log, and name the first bad row",
    run: (line, options) => verify(line, options),
  });
}

function eventOptions(command: Command): Command {
  return sessionOptions(identityOptions(command))
    .option("--task <id>", "of this task (`null` for none)", nullableOption)
    .option("--type <type>", "of this type, such as `permission.requested`")
    .option("--code <code>", "with this code, such as `allowed_session`")
    .addOption(new Option("--decision <decision>", "with this outcome").choices([...OUTCOMES]))
    .option("--request <id>", "of this request")
    .option("--from <time>", "not before this time, such as `2026-01-31T08:00:00Z`", timeOption)
    .option("--to <time>", "before this time", timeOption);
}

function timeOption(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time) || !/^\d{4}-/.test(text))
    throw new InvalidArgumentError("write a time such as `2026-01-31T08:00:00Z`");
  return time;
}

function filterOf(options: AuditOptions): AdminEventFilter {
  const { type, code, decision, request: requestId, task: taskId, from: fromMs, to: toMs } = options;
  return {
    ...identityFilter(options),
    ...sessionFilter(options),
    type,
    code,
    decision,
    requestId,
    taskId,
    fromMs,
    toMs,
  };
}

async function tail(
  cli: CommandLine,
  options: AuditOptions & { readonly start?: boolean },
): Promise<ExitName> {
  const after = options.start === true ? "start" : undefined;
  await cli.withOwner(options, async (admin) => {
    if (options.json !== true) cli.terminal.note("following the log; ctrl-c ends");
    try {
      for await (const told of admin.followEvents(filterOf(options), { after, signal: cli.ending })) {
        if (options.json === true) cli.terminal.json(followedWire.format(told));
        else if (told.kind === "event") cli.terminal.line(eventLine(cli, told.event));
        else cli.terminal.note(`rows ${told.fromSeq} to ${told.toSeq} were removed by retention`);
      }
    } catch (error) {
      if (!cli.ending.aborted) throw error;
    }
  });
  return "done";
}

async function search(cli: CommandLine, options: AuditOptions): Promise<void> {
  const page = await cli.withOwner(options, (admin) => admin.events(filterOf(options), pageOf(options)));
  if (options.json === true) {
    cli.terminal.json(eventPageWire.format(page));
    return;
  }
  for (const event of page.rows) cli.terminal.line(eventLine(cli, event));
  if (page.rows.length === 0) cli.terminal.note("no event matches");
  if (page.next !== null) cli.terminal.note(`there is more: \`--after ${cli.terminal.shown(page.next)}\``);
}

/** One event on one line; whatever is in it, it stays on that line. */
export function eventLine({ terminal }: Pick<CommandLine, "terminal">, event: EventView): string {
  const { subjectType, subjectName, resourceType, operation, target, code, decision } = event;
  const who = subjectType === null ? "" : ` ${subjectType} ${subjectName ?? ""}`;
  const what = operation === null ? "" : ` ${resourceType ?? ""} ${operation} ${target ?? ""}`;
  const by = event.type.startsWith("policy.") ? ` by ${event.userId ?? "the host"}` : "";
  const style =
    decision === "denied" || decision === "unavailable" ? "red" : decision === "asked" ? "yellow" : "green";
  const word = code ?? decision ?? "";
  return `${terminal.paint("dim", terminal.shown(event.time))} ${terminal.shown(event.type)} ${terminal.shown(word, decision === null ? undefined : style)}${terminal.shown(who)}${terminal.shown(what)}${terminal.shown(by)}`;
}

async function exportLog(cli: CommandLine, options: CommonOptions, file: string | undefined): Promise<void> {
  const path = file === undefined ? undefined : resolve(cli.cwd, file);
  await cli.withOwner(options, async (admin) => {
    const { stdout } = cli.terminal.streams;
    const isScreen = path === undefined && stdout.isTTY === true;
    const lines = Readable.from(broken(admin.exportEvents(cli.ending), isScreen));
    if (path === undefined) {
      for await (const line of lines) stdout.write(String(line));
      return;
    }
    try {
      await pipeline(lines, createWriteStream(path, { flags: "wx", mode: 0o600 }));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      throw new CliFault({
        exit: "failed",
        message: `\`${path}\` is there already`,
        next: "give another name",
      });
    }
  });
  if (path !== undefined && options.json === true) cli.terminal.json({ file: path });
  else if (path !== undefined) cli.terminal.note(`wrote ${cli.terminal.shown(path)}`);
}

/** WHY exact in a file or a pipe: rows are hashed by their text. On a screen the same values are written with escapes. */
async function* broken(lines: AsyncIterable<string>, isScreen: boolean): AsyncGenerator<string> {
  for await (const line of lines) yield `${isScreen ? printableJson(JSON.parse(line)) : line}\n`;
}

async function verify(cli: CommandLine, options: CommonOptions): Promise<ExitName> {
  const view = await cli.withOwner(options, (admin) => admin.verifyEvents());
  if (options.json === true) cli.terminal.json(verifyViewWire.format(view));
  else {
    const mark = view.ok ? cli.terminal.paint("green", "✔") : cli.terminal.paint("red", "✘");
    cli.terminal.line(`${mark} ${cli.terminal.shown(view.message)}`);
    if (!view.ok)
      cli.terminal.note("next: compare with an export and with the checkpoints that were kept elsewhere");
  }
  return view.ok ? "done" : "broken_log";
}
