/**
 * `sallyport up`: service, API and console on the embedded store of a data folder, until ctrl-c. Listens on loopback;
 * elsewhere only behind TLS, or with the danger named. Prints a one-time sign-in link, then what is asked and decided.
 */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { fileURLToPath } from "node:url";
import { CONSOLE_FOLDER } from "@sallyport/console";
import { followedWire } from "@sallyport/contract/admin";
import type { TlsFiles } from "@sallyport/server";
import { type Command, InvalidArgumentError } from "commander";
import { eventLine } from "./audit-commands.ts";
import { CliFault } from "./cli-fault.ts";
import { type CommandLine, type CommonOptions, addLeaf } from "./command-line.ts";
import { dataFolderOf } from "./data-place.ts";
import { ExampleGuide } from "./example-guide.ts";
import type { ExitName } from "./exit-code.ts";
import { startExample } from "./guided-example.ts";
import { type ServingOwner, openServingOwner } from "./owner.ts";
import { type SettingOptions, readSettings } from "./server-settings.ts";

interface UpOptions extends CommonOptions {
  readonly port: number;
  readonly listen: string;
  readonly origin?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly unsafePlaintext?: boolean;
  readonly console: boolean;
  readonly example?: boolean;
}

const PORT = 7411;
const LOOPBACK = new Set(["127.0.0.1", "::1"]);
const TOLD = new Set(["permission.requested", "permission.resolved", "policy.changed", "policy.refused"]);

export function addUpCommand(program: Command, cli: CommandLine): void {
  addLeaf<UpOptions>(program, cli, {
    name: "up",
    description: "start service, API and console on the embedded store; print a sign-in link",
    shape: (command) =>
      command
        .option("--port <port>", "the port; 0 for a free one", portOption, PORT)
        .option("--listen <address>", "the address to listen on; beyond loopback it needs TLS", "127.0.0.1")
        .option("--origin <origin>", "what people reach it by: the https origin of a proxy, or its own name")
        .option("--tls-cert <file>", "serve https itself: the certificate (PEM)")
        .option("--tls-key <file>", "its key (PEM)")
        .option(
          "--unsafe-plaintext",
          "beyond loopback without TLS: whoever is on the way can read and decide",
        )
        .option("--no-console", "the API only")
        .option("--example", "start an example agent that waits for a decision"),
    run: (line, options) => up(line, options),
  });
}

async function up(cli: CommandLine, options: UpOptions): Promise<ExitName> {
  const folder = dataFolderOf(cli, options);
  const { listen: host, port, origin, unsafePlaintext } = options;
  const listen = { host, origin, unsafePlaintext, tls: tlsFiles(cli, options) };
  mustBeSafe(options);
  const settings = readSettings(folder);
  const consoleFolder = options.console ? builtConsole() : undefined;
  const guide = options.example === true ? new ExampleGuide() : undefined;
  const owner = await openServingOwner({
    folder,
    port,
    listen,
    told: { consoleFolder, ...(guide === undefined ? {} : { guide: () => guide.view() }), ...settings },
    runsResumes: true,
    onFault: (error) => cli.terminal.note(`fault: ${cli.terminal.shown(String(error))}`),
  });
  try {
    const { url, expiresAt } = await owner.admin.createSignInLink({ name: "administrator" });
    if (options.json === true) {
      const { origin: reached, peers } = owner;
      const admin = { peers: peers.kind === "program" ? "read" : peers.kind, reason: unread(owner) };
      const where = { origin: reached, data: folder, admin_socket: admin, settings: settingNames(settings) };
      cli.terminal.json({ ...where, sign_in_link: url, expires_at: expiresAt });
    } else greet(cli, owner, { folder, url, settings });
    const example = guide === undefined ? undefined : await startExample(owner, guide, teller(cli, options));
    try {
      await tellEvents(cli, owner, options, guide);
    } finally {
      await example?.close();
    }
  } finally {
    await owner.close();
  }
  return "done";
}

function tlsFiles({ cwd }: CommandLine, { tlsCert, tlsKey }: UpOptions): TlsFiles | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new CliFault({ exit: "usage", message: "give both `--tls-cert` and `--tls-key`, or neither" });
  const [cert, key] = [pem(resolve(cwd, tlsCert)), pem(resolve(cwd, tlsKey))];
  try {
    createSecureContext({ cert, key });
  } catch {
    throw new CliFault({
      exit: "invalid",
      message: `\`${tlsCert}\` and \`${tlsKey}\` are no certificate with its key`,
      next: "give both as PEM; the key must not be encrypted",
    });
  }
  return { cert, key };
}

function pem(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    throw new CliFault({ exit: "not_found", message: `\`${path}\` cannot be read` });
  }
}

/** WHY before anything is opened: what it answers decides, and an answer without TLS can be forged on the way. */
function mustBeSafe({ listen, origin, tlsCert, unsafePlaintext = false }: UpOptions): void {
  if (LOOPBACK.has(listen) || origin !== undefined || tlsCert !== undefined || unsafePlaintext) return;
  throw new CliFault({
    exit: "failed",
    message: `\`${listen}\` is not loopback, and there is no TLS`,
    next: "`--tls-cert` and `--tls-key`, the `--origin` of a proxy that ends TLS, or `--unsafe-plaintext`",
  });
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
  { folder, url, settings }: { folder: string; url: string; settings: SettingOptions },
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
  const told = settingNames(settings);
  if (told.length > 0) row("settings", told.join(", "));
  row("terminal", `\`${ownCommand(cli, folder, "approve")}\` decides here as well`);
  const reason = unread(owner);
  if (reason !== null)
    row(
      "socket",
      terminal.paint("yellow", `who connects is not read, file modes alone hold: ${terminal.shown(reason)}`),
    );
  row("end", "ctrl-c\n");
}

/** What is set, without a value of it. */
function settingNames({ oidc, webhooks = [], metricsToken }: SettingOptions): readonly string[] {
  return [
    ...(oidc === undefined ? [] : ["sign-in at an identity provider"]),
    ...(webhooks.length === 0 ? [] : [webhooks.length === 1 ? "1 webhook" : `${webhooks.length} webhooks`]),
    ...(metricsToken === undefined ? [] : ["a token for figures"]),
  ];
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
async function tellEvents(
  cli: CommandLine,
  owner: ServingOwner,
  { json }: CommonOptions,
  guide: ExampleGuide | undefined,
): Promise<void> {
  try {
    for await (const told of owner.admin.followEvents({}, { signal: cli.ending })) {
      if (told.kind !== "event" || !TOLD.has(told.event.type)) continue;
      const { type, decision, requestId } = told.event;
      if (type === "permission.resolved" && decision !== "allowed") guide?.refused(requestId);
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
