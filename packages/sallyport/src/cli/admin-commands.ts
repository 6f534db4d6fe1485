/**
 * `sallyport admin`: what a person with the data folder does where an administrator or a key was lost. A new sign-in link,
 * local accounts, the key ring. A password comes from a prompt or from stdin, never from an argument.
 */
import { isCancel, password as askPassword } from "@clack/prompts";
import type { AdminClient } from "@sallyport/client/admin";
import {
  type Account,
  PASSWORD_LENGTH_MIN,
  accountPageWire,
  accountWire,
  newAccountWire,
  signInLinkWire,
} from "@sallyport/contract/admin";
import type { Command } from "commander";
import { CliFault } from "./cli-fault.ts";
import { type CommandLine, type CommonOptions, addGroup, addLeaf } from "./command-line.ts";
import { principalOption } from "./filter-options.ts";
import { addKeyCommands } from "./key-commands.ts";
import { printTable } from "./table.ts";

interface LinkOptions extends CommonOptions {
  readonly name: string;
}

interface AddOptions extends CommonOptions {
  readonly role: readonly string[];
  readonly organization?: number | string | null;
}

export function addAdminCommands(program: Command, cli: CommandLine): void {
  const group = addGroup(program, "admin", "recover a lost administrator or key");
  addLeaf<LinkOptions>(group, cli, {
    name: "link",
    description: "print a new one-time sign-in link for an administrator of the server that runs",
    shape: (command) => command.option("--name <name>", "who it is for; the record says so", "administrator"),
    run: (line, options) => printLink(line, options),
  });
  addLeaf<CommonOptions>(group, cli, {
    name: "accounts",
    description: "list local accounts",
    run: (line, options) => listAccounts(line, options),
  });
  addLeaf<AddOptions>(group, cli, {
    name: "add",
    description: "add a local account; its password is asked for, or read from stdin",
    shape: (command) =>
      command
        .argument("<name>", "who signs in")
        .option("--role <role>", "a role, such as `super`; may be repeated", collected, [])
        .option("--organization <id>", 'scoped to this organization (`"7"` for a text)', principalOption),
    run: (line, options, [name = ""]) => addAccount(line, options, name),
  });
  addLeaf<CommonOptions>(group, cli, {
    name: "password",
    description: "give an account a new password; its sign-ins end",
    shape: (command) => command.argument("<name>", "the account"),
    run: async (line, options, [name = ""]) => {
      const password = await givenPassword(line);
      const account = await line.withOwner(options, async (admin) =>
        admin.setPassword((await accountOf(admin, name)).id, password),
      );
      tellAccount(line, options, account, "has a new password");
    },
  });
  addLeaf<CommonOptions & { readonly off?: boolean; readonly reason?: string }>(group, cli, {
    name: "disable",
    description: "disable an account; its sign-ins end",
    shape: (command) =>
      command
        .argument("<name>", "the account")
        .option("--off", "enable it again")
        .option("--reason <words>", "why; the record keeps it"),
    run: async (line, options, [name = ""]) => {
      const disabled = options.off !== true;
      const words = { disabled, ...(options.reason === undefined ? {} : { reason: options.reason }) };
      const account = await line.withOwner(options, async (admin) =>
        admin.disableAccount((await accountOf(admin, name)).id, words),
      );
      tellAccount(line, options, account, disabled ? "is disabled" : "is enabled");
    },
  });
  addKeyCommands(group, cli);
}

async function printLink(cli: CommandLine, options: LinkOptions): Promise<void> {
  const link = await cli.withOwner(options, (admin) => admin.createSignInLink({ name: options.name }));
  if (options.json === true) cli.terminal.json(signInLinkWire.format(link));
  else {
    cli.terminal.line(cli.terminal.shown(link.url));
    cli.terminal.note(
      `worth one sign-in until ${cli.terminal.shown(link.expiresAt)}; whoever has it is an administrator`,
    );
  }
}

async function listAccounts(cli: CommandLine, options: CommonOptions): Promise<void> {
  const page = await cli.withOwner(options, (admin) => admin.accounts({ limit: 500 }));
  if (options.json === true) {
    cli.terminal.json(accountPageWire.format(page));
    return;
  }
  if (page.rows.length === 0) {
    cli.terminal.note("there are no local accounts; `sallyport admin add NAME --role super` adds one");
    return;
  }
  printTable(
    cli.terminal,
    [
      { heading: "STATE", cell: ({ disabled }: Account) => (disabled ? "disabled" : "enabled") },
      { heading: "ORGANIZATION", cell: ({ organizationId }) => JSON.stringify(organizationId) },
      { heading: "ROLES", cell: ({ roles }) => roles.join(", ") },
      { heading: "NAME", cell: ({ name }) => name },
    ],
    page.rows,
  );
}

async function addAccount(cli: CommandLine, options: AddOptions, name: string): Promise<void> {
  const password = await givenPassword(cli);
  const words = newAccountWire.parse({
    name,
    password,
    roles: options.role,
    organization_id: options.organization ?? null,
  });
  if (!words.ok)
    throw new CliFault({
      exit: "invalid",
      code: "invalid_request",
      // INVARIANT: a message names the field and never repeats what it read.
      message: words.faults.map(({ pointer, message }) => `${pointer.slice(1)} ${message}`).join("; "),
    });
  const account = await cli.withOwner(options, (admin) => admin.createAccount(words.value));
  tellAccount(cli, options, account, "was added");
}

async function accountOf(admin: AdminClient, name: string): Promise<Account> {
  for (let after: string | undefined; ;) {
    const { rows, next } = await admin.accounts({ limit: 500, after });
    const found = rows.find((account) => account.name === name);
    if (found !== undefined) return found;
    if (next === null)
      throw new CliFault({
        exit: "not_found",
        message: `there is no account \`${name}\``,
        next: "`sallyport admin accounts` lists them",
      });
    after = next;
  }
}

function tellAccount(cli: CommandLine, { json }: CommonOptions, account: Account, done: string): void {
  if (json === true) cli.terminal.json(accountWire.format(account));
  else cli.terminal.line(cli.terminal.shown(`${account.name} ${done}`));
}

const PASSWORD_BYTES_MAX = 8192;

async function givenPassword(cli: CommandLine): Promise<string> {
  if (cli.terminal.isInteractive) {
    const typed = await askPassword({
      message: `Password (at least ${PASSWORD_LENGTH_MIN} characters)`,
      validate: (text) =>
        (text ?? "").length < PASSWORD_LENGTH_MIN ? `at least ${PASSWORD_LENGTH_MIN} characters` : undefined,
    });
    if (isCancel(typed)) throw new CliFault({ exit: "interrupted", message: "nothing was changed" });
    return typed;
  }
  let text = "";
  for await (const chunk of cli.terminal.streams.stdin) {
    text += String(chunk);
    if (text.length > PASSWORD_BYTES_MAX) break;
  }
  const password = text.replace(/\r?\n$/, "");
  if (password.length >= PASSWORD_LENGTH_MIN) return password;
  throw new CliFault({
    exit: "invalid",
    message: `a password has at least ${PASSWORD_LENGTH_MIN} characters`,
    next: "give it on stdin, on one line",
  });
}

function collected(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
