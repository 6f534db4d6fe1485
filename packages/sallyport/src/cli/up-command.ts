/**
 * `sallyport up`: service, API and console on the embedded store of a data folder, until ctrl-c. Listens on loopback;
 * elsewhere only behind TLS. Prints a one-time sign-in link, then what is asked and decided.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CONSOLE_FOLDER } from "@sallyport/console";
import { followedWire } from "@sallyport/contract/admin";
import { type Command, InvalidArgumentError } from "commander";
import { eventLine } from "./audit-commands.ts";
import { CliFault } from "./cli-fault.ts";
import { type CommandLine, type CommonOptions, addLeaf } from "./command-line.ts";
import { dataFolderOf } from "./data-place.ts";
import type { ExitName } from "./exit-code.ts";
import { startExample } from "./guided-example.ts";
import { type ServingOwner, openServingOwner } from "./owner.ts";

interface UpOptions extends CommonOptions {
  readonly port: number;
  readonly listen: string;
  readonly origin?: string;
  readonly console: boolean;
  readonly example?: boolean;
}

const PORT = 7411;
const TOLD = new Set(["permission.requested", "permission.resolved", "policy.changed", "policy.refused"]);

export function addUpCommand(program: Command, cli: CommandLine): void {
  addLeaf<UpOptions>(program, cli, {
    name: "up",
    description: "start service, API and console on the embedded store; print a sign-in link",
    shape: (command) =>
      command
        .option("--port <port>", "the port; 0 for a free one", portOption, PORT)
        .option(
          "--listen <address>",
          "the address to listen on; beyond loopback it needs --origin",
          "127.0.0.1",
        )
        .option("--origin <origin>", "the https origin of the proxy in front, which ends TLS")
        .option("--no-console", "the API only")
        .option("--example", "start an example agent that waits for a decision"),
    run: (line, options) => up(line, options),
  });
}

async function up(cli: CommandLine, options: UpOptions): Promise<ExitName> {
  const folder = dataFolderOf(cli, options);
  const { listen: host, port, origin } = options;
  const consoleFolder = options.console ? builtConsole() : undefined;
  const owner = await openServingOwner({
    folder,
    host,
    port,
    origin,
    consoleFolder,
    runsResumes: true,
    onFault: (error) => cli.terminal.note(`fault: ${cli.terminal.shown(String(error))}`),
  });
  try {
    const { url, expiresAt } = await owner.admin.createSignInLink({ name: "administrator" });
    if (options.json === true) {
      const { origin: reached, peers } = owner;
      const admin = { peers: peers.kind === "program" ? "read" : peers.kind, reason: unread(owner) };
      const where = { origin: reached, data: folder, admin_socket: admin };
      cli.terminal.json({ ...where, sign_in_link: url, expires_at: expiresAt });
    } else greet(cli, owner, { folder, url });
    const example =
      options.example === true ? await startExample(owner.sallyport, teller(cli, options)) : undefined;
    try {
      await tellEvents(cli, owner, options);
    } finally {
      example?.close();
    }
  } finally {
    await owner.close();
  }
  return "done";
}

function builtConsole(): string {
  const folder = fileURLToPath(CONSOLE_FOLDER);
  if (existsSync(folder)) return folder;
  throw new CliFault({
    exit: "failed",
    message: "the console is not built",
    next: "`npm run build -w @sallyport/console` builds it; `--no-console` starts without it",
  });
}

function greet(
  cli: CommandLine,
  owner: ServingOwner,
  { folder, url }: { folder: string; url: string },
): void {
  const { terminal } = cli;
  const row = (name: string, text: string): void =>
    terminal.line(`  ${terminal.paint("dim", name.padEnd(9))}${text}`);
  const again = `this link works once, for 15 minutes; \`${ownCommand(cli, folder, "admin link")}\` prints another`;
  terminal.line(`\n${terminal.paint("bold", "Sallyport is up")}`);
  row("sign in", terminal.shown(url, "cyan"));
  row("", terminal.paint("dim", again));
  row("address", terminal.shown(owner.origin));
  row("data", terminal.shown(folder));
  row("terminal", `\`${ownCommand(cli, folder, "approve")}\` decides here as well`);
  const reason = unread(owner);
  if (reason !== null)
    row(
      "socket",
      terminal.paint("yellow", `who connects is not read, file modes alone hold: ${terminal.shown(reason)}`),
    );
  row("end", "ctrl-c\n");
}

/** Why it cannot be told who comes in by the admin socket; `null`: it is. */
const unread = ({ peers }: ServingOwner): string | null =>
  peers.kind === "modes_only" ? peers.reason : null;

/** How this command is called from where the person is: by its name, or as a script of the clone. */
function ownCommand({ terminal, env, cwd }: CommandLine, folder: string, words: string): string {
  const isScript = env["npm_lifecycle_event"] !== undefined;
  const isUsual = folder === dataFolderOf({ env: {}, cwd }, {});
  const data = isUsual ? "" : ` ${isScript ? "-- " : ""}--data ${terminal.shown(folder)}`;
  return `${isScript ? "npm run sallyport" : "sallyport"} ${words}${data}`;
}

function teller(cli: CommandLine, { json }: CommonOptions): (line: string) => void {
  return (line) => {
    if (json === true) cli.terminal.json({ example: line });
    else cli.terminal.line(`${cli.terminal.paint("cyan", "example")}  ${cli.terminal.shown(line)}`);
  };
}

/** What is asked and decided, until the person ends it. */
async function tellEvents(cli: CommandLine, owner: ServingOwner, { json }: CommonOptions): Promise<void> {
  try {
    for await (const told of owner.admin.followEvents({}, { signal: cli.ending })) {
      if (told.kind !== "event" || !TOLD.has(told.event.type)) continue;
      if (json === true) cli.terminal.json(followedWire.format(told));
      else cli.terminal.line(eventLine(cli, told.event));
    }
  } catch (error) {
    if (!cli.ending.aborted) throw error;
  }
}

function portOption(text: string): number {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError("write a port from 0 to 65535");
}
