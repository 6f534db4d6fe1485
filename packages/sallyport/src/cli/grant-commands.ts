/** `sallyport grants` and `sallyport revoke`: what was approved and denied, and taking it back. */
import type { Denial } from "@sallyport/contract";
import {
  type ChangeAnswerView,
  type Grant,
  changeAnswerWire,
  denialPageWire,
  grantPageWire,
} from "@sallyport/contract/admin";
import { type Command, Option } from "commander";
import { CliFault, refusedBy } from "./cli-fault.ts";
import { type CommandLine, type CommonOptions, addLeaf } from "./command-line.ts";
import type { ExitName } from "./exit-code.ts";
import {
  type FilterOptions,
  identityFilter,
  identityOptions,
  pageOf,
  pageOptions,
  sessionFilter,
  sessionOptions,
} from "./filter-options.ts";
import { labelOf } from "./request-words.ts";
import { printTable } from "./table.ts";

interface GrantsOptions extends FilterOptions {
  readonly denials?: boolean;
  readonly scope?: "session" | "permanent";
}

export function addGrantCommands(program: Command, cli: CommandLine): void {
  addLeaf<GrantsOptions>(program, cli, {
    name: "grants",
    description: "list approvals, or with --denials what was denied",
    shape: (command) =>
      pageOptions(
        sessionOptions(
          identityOptions(
            command
              .option("--denials", "list denials")
              .addOption(new Option("--scope <scope>", "of this scope").choices(["session", "permanent"])),
          ),
        ),
      ),
    run: (line, options) =>
      options.denials === true ? listDenials(line, options) : listGrants(line, options),
  });
  addLeaf<CommonOptions & { readonly reason?: string }>(program, cli, {
    name: "revoke",
    description: "take an approval or a denial back",
    shape: (command) =>
      command
        .argument("<id>", "the approval or denial")
        .option("--reason <words>", "why; the record keeps it"),
    run: (line, options, [id = ""]) => revoke(line, options, id),
  });
}

async function listGrants(cli: CommandLine, options: GrantsOptions): Promise<void> {
  const filter = { ...identityFilter(options), ...sessionFilter(options), scope: options.scope };
  const page = await cli.withOwner(options, (admin) => admin.approvals(filter, pageOf(options)));
  if (options.json === true) {
    cli.terminal.json(grantPageWire.format(page));
    return;
  }
  if (page.rows.length === 0) {
    cli.terminal.note("nothing is approved");
    return;
  }
  printTable(
    cli.terminal,
    [
      { heading: "ID", cell: ({ approval }: Grant) => approval.id },
      { heading: "SCOPE", cell: ({ approval }) => scopeOf(approval) },
      { heading: "LEFT", cell: leftOf },
      { heading: "SUBJECT", cell: ({ approval: { subject } }) => `${subject.type} ${subject.name}` },
      { heading: "MAY", cell: ({ approval }) => labelOf(approval) },
      { heading: "MATCH", cell: ({ approval }) => approval.match },
      { heading: "TARGET", cell: ({ approval }) => approval.resource.target },
    ],
    page.rows,
  );
  if (page.next !== null) cli.terminal.note(`there is more: \`--after ${cli.terminal.shown(page.next)}\``);
}

function scopeOf(approval: Grant["approval"]): string {
  return approval.scope === "session" ? `session ${approval.sessionKey}` : "permanent";
}

function leftOf({ approval: { maxUses, uses, expiresAt }, alive }: Grant): string {
  if (!alive) return maxUses !== null && uses >= maxUses ? "nothing: used up" : "nothing: over";
  const left = maxUses === null ? [] : [`${maxUses - uses} of ${maxUses} uses`];
  return [...left, ...(expiresAt === null ? [] : [`until ${expiresAt}`])].join(", ") || "always";
}

async function listDenials(cli: CommandLine, options: GrantsOptions): Promise<void> {
  const page = await cli.withOwner(options, (admin) =>
    admin.denials(identityFilter(options), pageOf(options)),
  );
  if (options.json === true) {
    cli.terminal.json(denialPageWire.format(page));
    return;
  }
  if (page.rows.length === 0) {
    cli.terminal.note("nothing is denied");
    return;
  }
  printTable(
    cli.terminal,
    [
      { heading: "ID", cell: ({ id }: Denial) => id },
      { heading: "SUBJECT", cell: ({ subject }) => `${subject.type} ${subject.name}` },
      { heading: "MAY NOT", cell: labelOf },
      { heading: "REASON", cell: ({ reason }) => reason ?? "" },
      { heading: "TARGET", cell: ({ resource }) => resource.target },
    ],
    page.rows,
  );
  if (page.next !== null) cli.terminal.note(`there is more: \`--after ${cli.terminal.shown(page.next)}\``);
}

async function revoke(
  cli: CommandLine,
  options: CommonOptions & { readonly reason?: string },
  id: string,
): Promise<ExitName> {
  const kind = /^(approval|denial|rule)-/.exec(id)?.[1];
  if (kind !== "approval" && kind !== "denial")
    throw new CliFault({
      exit: "usage",
      message: `\`${id}\` is no approval and no denial`,
      next:
        kind === "rule"
          ? `\`sallyport rules remove ${id}\` takes a rule away`
          : "`sallyport grants` and `sallyport grants --denials` list them",
    });
  const answer = await cli.withOwner(options, (admin) =>
    kind === "approval" ? admin.revokeApproval(id, options.reason) : admin.revokeDenial(id, options.reason),
  );
  const done = kind === "approval" ? "revoked: the next use asks again" : "lifted: it can be asked for again";
  return tellChange(cli, options, answer, done);
}

/** Prints what a change did; ends the command where it was refused. */
export function tellChange(
  cli: CommandLine,
  options: CommonOptions,
  answer: ChangeAnswerView,
  done: string,
): ExitName {
  if (!answer.ok) throw refusedBy(answer.code, answer.message);
  if (options.json === true) cli.terminal.json(changeAnswerWire.format(answer));
  else cli.terminal.line(answer.repeated ? "it was so already" : cli.terminal.paint("green", done));
  return "done";
}
