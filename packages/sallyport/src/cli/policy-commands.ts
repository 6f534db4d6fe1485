/** `sallyport session`, `mode`, `rules` and `freeze`: host policy, one change at a time. */
import {
  OPERATIONS,
  PERMISSION_MODES,
  type PermissionMode,
  RESOURCE_TYPES,
  RULE_EFFECTS,
  RULE_SOURCES,
  type RuleSource,
  SUBJECT_TYPES,
} from "@sallyport/contract";
import {
  type RuleView,
  freezeViewWire,
  modeViewWire,
  rulePageWire,
  ruleWordsWire,
  sessionPageWire,
} from "@sallyport/contract/admin";
import { type Command, Option } from "commander";
import { CliFault } from "./cli-fault.ts";
import { type CommandLine, type CommonOptions, addGroup, addLeaf, durationOption } from "./command-line.ts";
import type { ExitName } from "./exit-code.ts";
import {
  type FilterOptions,
  pageOf,
  pageOptions,
  principalOption,
  sessionFilter,
  sessionOptions,
} from "./filter-options.ts";
import { tellChange } from "./grant-commands.ts";
import { printTable } from "./table.ts";

interface ReasonOptions extends CommonOptions {
  readonly reason?: string;
}

export function addPolicyCommands(program: Command, cli: CommandLine): void {
  addSessionCommands(program, cli);
  addModeCommand(program, cli);
  addRuleCommands(program, cli);
  addFreezeCommand(program, cli);
}

function addSessionCommands(program: Command, cli: CommandLine): void {
  const group = addGroup(program, "session", "list and end sessions");
  addLeaf<FilterOptions>(group, cli, {
    name: "list",
    isDefault: true,
    description: "list sessions that hold an approval or a request",
    shape: pageOptions,
    run: async (line, options) => {
      const page = await line.withOwner(options, (admin) => admin.sessions(pageOf(options)));
      if (options.json === true) line.terminal.json(sessionPageWire.format(page));
      else if (page.rows.length === 0) line.terminal.note("no session holds anything");
      else
        printTable(
          line.terminal,
          [
            { heading: "ORGANIZATION", cell: ({ organizationId }) => JSON.stringify(organizationId) },
            { heading: "USER", cell: ({ userId }) => JSON.stringify(userId) },
            { heading: "APPROVALS", cell: ({ approvals }) => String(approvals) },
            { heading: "PENDING", cell: ({ pending }) => String(pending) },
            { heading: "KEY", cell: ({ sessionKey }) => sessionKey },
          ],
          page.rows,
        );
      if (options.json !== true && page.next !== null)
        line.terminal.note(`there is more: \`--after ${line.terminal.shown(page.next)}\``);
    },
  });
  addLeaf<FilterOptions>(group, cli, {
    name: "end",
    description: "end a session: its approvals go, its requests are cancelled, its key is never used again",
    shape: (command) =>
      command
        .argument("<key>", "the session key")
        .option(
          "--organization <id>",
          'its organization (`"7"` for a text); none unless said',
          principalOption,
        )
        .option("--user <id>", 'its user (`"21"` for a text); none unless said', principalOption),
    run: async (line, options, [sessionKey = ""]) => {
      const { organizationId = null, userId = null } = sessionFilter(options);
      const session = { organizationId, userId, sessionKey } as never;
      const answer = await line.withOwner(options, (admin) => admin.endSession(session));
      return tellChange(line, options, answer, "ended");
    },
  });
}

function addModeCommand(program: Command, cli: CommandLine): void {
  addLeaf<ReasonOptions & { readonly for?: number }>(program, cli, {
    name: "mode",
    description: "show the permission mode, or change it",
    shape: (command) =>
      command
        .argument("[mode]", `one of ${PERMISSION_MODES.join(", ")}`)
        .option("--for <time>", "until then, such as `30m`; `bypass` needs it", durationOption)
        .option("--reason <words>", "why; the record keeps it"),
    run: (line, options, [mode]) =>
      mode === undefined ? showMode(line, options) : setMode(line, options, mode),
  });
}

async function showMode(cli: CommandLine, options: CommonOptions): Promise<void> {
  const view = await cli.withOwner(options, (admin) => admin.mode());
  if (options.json === true) cli.terminal.json(modeViewWire.format(view));
  else {
    const until = view.expiresAt === null ? "" : ` until ${view.expiresAt}`;
    cli.terminal.line(`${cli.terminal.paint("bold", view.mode)}${cli.terminal.shown(until)}`);
  }
}

async function setMode(
  cli: CommandLine,
  options: ReasonOptions & { readonly for?: number },
  mode: string,
): Promise<ExitName> {
  if (!(PERMISSION_MODES as readonly string[]).includes(mode))
    throw new CliFault({
      exit: "usage",
      message: `\`${mode}\` is no mode`,
      next: `use one of ${PERMISSION_MODES.join(", ")}`,
    });
  const answer = await cli.withOwner(options, (admin) =>
    admin.setMode({
      mode: mode as PermissionMode,
      ...(options.for === undefined ? {} : { expiresAtMs: Date.now() + options.for }),
      ...(options.reason === undefined ? {} : { reason: options.reason }),
    }),
  );
  return tellChange(cli, options, answer, `the mode is ${mode}`);
}

interface RuleOptions extends FilterOptions {
  readonly source: RuleSource;
  readonly id?: string;
}

function addRuleCommands(program: Command, cli: CommandLine): void {
  const group = addGroup(program, "rules", "list, add and remove rules of the host");
  addLeaf<CommonOptions>(group, cli, {
    name: "list",
    isDefault: true,
    description: "list every rule",
    run: (line, options) => listRules(line, options),
  });
  addLeaf<RuleOptions>(group, cli, {
    name: "add",
    description: "add a rule; deny beats ask beats allow",
    shape: (command) =>
      sessionOptions(
        command
          .argument("<effect>", RULE_EFFECTS.join(", "))
          .argument("<resource-type>", RESOURCE_TYPES.join(", "))
          .argument("<operation>", "an operation of it")
          .argument("<target>", "spelled as in a manifest")
          .addOption(
            new Option("--source <source>", "whose rule it is").choices([...RULE_SOURCES]).default("host"),
          )
          .addOption(new Option("--subject-type <type>", "only for this subject").choices([...SUBJECT_TYPES]))
          .option("--subject-name <name>", "the name of that subject")
          .option("--id <id>", "replace the rule with this id"),
      ),
    run: (line, options, words) => addRule(line, options, words),
  });
  addLeaf<ReasonOptions>(group, cli, {
    name: "remove",
    description: "remove a rule",
    shape: (command) =>
      command.argument("<id>", "the rule").option("--reason <words>", "why; the record keeps it"),
    run: async (line, options, [id = ""]) => {
      const answer = await line.withOwner(options, (admin) => admin.removeRule(id, options.reason));
      return tellChange(line, options, answer, "removed");
    },
  });
}

async function listRules(cli: CommandLine, options: CommonOptions): Promise<void> {
  const page = await cli.withOwner(options, (admin) => admin.rules());
  if (options.json === true) {
    cli.terminal.json(rulePageWire.format(page));
    return;
  }
  if (page.rows.length === 0) {
    cli.terminal.note("there are no rules");
    return;
  }
  printTable(
    cli.terminal,
    [
      { heading: "ID", cell: ({ rule }: RuleView) => rule.id },
      { heading: "EFFECT", cell: ({ rule }) => rule.effect },
      { heading: "SOURCE", cell: ({ rule }) => rule.source },
      { heading: "SUBJECT", cell: subjectOfRule },
      { heading: "ON", cell: ({ rule }) => `${rule.resourceType} ${rule.operation}` },
      { heading: "TARGET", cell: ({ rule }) => rule.target },
    ],
    page.rows,
  );
}

function subjectOfRule({ rule: { subject } }: RuleView): string {
  return subject === undefined ? "everybody" : `${subject.type} ${subject.name}`;
}

async function addRule(cli: CommandLine, options: RuleOptions, words: readonly string[]): Promise<ExitName> {
  const [effect, resourceType, operation, target] = words;
  const { subjectType, subjectName, organization, user, session } = options;
  if ((subjectType === undefined) !== (subjectName === undefined))
    throw new CliFault({
      exit: "usage",
      message: "a subject is a type and a name",
      next: "give `--subject-type` and `--subject-name` together",
    });
  const known = { effect, source: options.source, resource_type: resourceType, operation, target };
  const rule = ruleWordsWire.parse({
    ...known,
    ...(options.id === undefined ? {} : { id: options.id }),
    ...(subjectType === undefined ? {} : { subject: { type: subjectType, name: subjectName } }),
    ...(organization === undefined ? {} : { organization_id: organization }),
    ...(user === undefined ? {} : { user_id: user }),
    ...(session === undefined ? {} : { session_key: session }),
  });
  if (!rule.ok)
    throw new CliFault({
      exit: "invalid",
      code: "invalid_request",
      message: rule.faults.map(({ pointer, message }) => `${pointer.slice(1)} ${message}`).join("; "),
      next: `operations: ${RESOURCE_TYPES.map((type) => `${type} ${OPERATIONS[type].join("|")}`).join(", ")}`,
    });
  const answer = await cli.withOwner(options, (admin) => admin.setRule(rule.value));
  return tellChange(cli, options, answer, `added ${answer.ok ? (answer.ruleId ?? "") : ""}`);
}

function addFreezeCommand(program: Command, cli: CommandLine): void {
  addLeaf<ReasonOptions & { readonly off?: boolean; readonly status?: boolean }>(program, cli, {
    name: "freeze",
    description: "refuse everything outside the allowlist at once, whatever was approved",
    shape: (command) =>
      command
        .option("--off", "let approvals hold again")
        .option("--status", "only say whether it is frozen")
        .option("--reason <words>", "why; the record keeps it"),
    run: async (line, options) => {
      if (options.status === true) return showFreeze(line, options);
      const frozen = options.off !== true;
      const reason = options.reason === undefined ? {} : { reason: options.reason };
      const answer = await line.withOwner(options, (admin) => admin.freeze({ frozen, ...reason }));
      const done = frozen ? "frozen: only declared access is allowed now" : "no longer frozen";
      return tellChange(line, options, answer, done);
    },
  });
}

async function showFreeze(cli: CommandLine, options: CommonOptions): Promise<ExitName> {
  const view = await cli.withOwner(options, (admin) => admin.freezeState());
  if (options.json === true) cli.terminal.json(freezeViewWire.format(view));
  else {
    const why = view.reason === null ? "" : `: ${view.reason}`;
    cli.terminal.line(view.frozen ? `frozen${cli.terminal.shown(why)}` : "not frozen");
  }
  return "done";
}
