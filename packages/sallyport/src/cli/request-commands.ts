/** `sallyport requests`: what waits for a person, and what became of it. */
import { type RequestStatus, REQUEST_STATUSES } from "@sallyport/contract";
import {
  type AdminPage,
  type RequestView,
  requestDetailWire,
  requestPageWire,
} from "@sallyport/contract/admin";
import { type Command, Option } from "commander";
import { type CommandLine, addLeaf } from "./command-line.ts";
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
import { ageOf, callersOf, detailLines, labelOf } from "./request-words.ts";
import { printTable } from "./table.ts";

interface RequestsOptions extends FilterOptions {
  readonly status?: RequestStatus;
  readonly all?: boolean;
}

export function addRequestCommands(program: Command, cli: CommandLine): void {
  addLeaf<RequestsOptions>(program, cli, {
    name: "requests",
    description: "list what waits for a decision, or show one request",
    shape: (command) =>
      pageOptions(
        sessionOptions(
          identityOptions(
            command
              .argument("[id]", "show this request whole")
              .addOption(new Option("--status <status>", "with this status").choices([...REQUEST_STATUSES]))
              .option("--all", "also what is decided already")
              .option("--task <id>", "of this task (`null` for none)", nullableOption),
          ),
        ),
      ),
    run: (line, options, [id]) =>
      id === undefined ? listRequests(line, options) : showRequest(line, options, id),
  });
}

async function showRequest(cli: CommandLine, options: RequestsOptions, id: string): Promise<void> {
  const detail = await cli.withOwner(options, (admin) => admin.request(id));
  if (options.json === true) {
    cli.terminal.json(requestDetailWire.format(detail));
    return;
  }
  for (const line of detailLines(cli.terminal, detail, Date.now())) cli.terminal.line(line);
  for (const { match, label, wide } of detail.widenings)
    cli.terminal.line(
      `  ${cli.terminal.paint("dim", `--widen ${match}: ${cli.terminal.shown(label)}${wide ? " (wide)" : ""}`)}`,
    );
  cli.terminal.line(`  ${cli.terminal.paint("dim", `digest ${cli.terminal.shown(detail.request.digest)}`)}`);
  if (detail.request.status === "pending")
    cli.terminal.note(
      `next: \`sallyport approve ${cli.terminal.shown(id)}\` or \`sallyport deny ${cli.terminal.shown(id)}\``,
    );
}

async function listRequests(cli: CommandLine, options: RequestsOptions): Promise<void> {
  const status = options.status ?? (options.all === true ? undefined : "pending");
  const filter = { ...identityFilter(options), ...sessionFilter(options), taskId: options.task, status };
  const page = await cli.withOwner(options, (admin) => admin.requests(filter, pageOf(options)));
  if (options.json === true) cli.terminal.json(requestPageWire.format(page));
  else printRequests(cli, page, status === "pending");
}

function printRequests(cli: CommandLine, page: AdminPage<RequestView>, isPending: boolean): void {
  const { terminal } = cli;
  if (page.rows.length === 0) {
    terminal.note(isPending ? "nothing waits for a decision" : "there is no such request");
    return;
  }
  const nowMs = Date.now();
  printTable(
    terminal,
    [
      { heading: "ID", cell: ({ id }: RequestView) => id },
      ...(isPending ? [] : [{ heading: "STATUS", cell: ({ status }: RequestView) => status }]),
      { heading: "AGE", cell: ({ firstSeen }) => ageOf(firstSeen, nowMs) },
      { heading: "COUNT", cell: ({ count }) => String(count) },
      { heading: "SESSION", cell: ({ origin }) => origin.sessionKey ?? "none" },
      { heading: "SUBJECT", cell: callersOf },
      { heading: "WANTS", cell: labelOf },
      { heading: "TARGET", cell: ({ resource }) => resource.target },
    ],
    page.rows,
  );
  if (page.next !== null) terminal.note(`there is more: \`--after ${terminal.shown(page.next)}\``);
  if (isPending) terminal.note("next: `sallyport approve` decides them one by one");
}
