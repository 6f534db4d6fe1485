/**
 * The console as people get it: built files, a real server over a real service on SQLite, and a real chromium.
 * Requests come from registered subjects through the runtime; nothing between page and store is replaced.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BLANK_CALLER } from "@sallyport/contract";
import type { RunOptions } from "@sallyport/runtime";
import { type AdminOptions, type Listening, type SallyportServer, createServer } from "@sallyport/server";
import type { CallerContext } from "@sallyport/service";
import { type Sallyport, createSallyport } from "sallyport";
import { afterAll, expect } from "vitest";
import { buildConsole } from "../../tools/build-console.mjs";
import { launchBrowser } from "../../tools/browser.mjs";
import type { Browser, Page } from "./browser-page.ts";

export const MODULE = { type: "module", name: "demo" } as const;
export const TOOL = { type: "tool", name: "demo.read_file" } as const;
export const AGENT = { type: "agent", name: "demo.reader_agent" } as const;

/** Every page, by its address. */
export const PAGES = [
  "/",
  "/grants",
  "/denials",
  "/rules",
  "/manifests",
  "/what-if",
  "/audit",
  "/jobs",
  "/sessions",
  "/sandbox",
  "/notifications",
  "/accounts",
  "/credentials",
  "/tokens",
] as const;

/** For something that comes; how long it takes is the machine's affair. */
const WAIT_MS_MAX = 60_000;

export const MEMBER: RunOptions = {
  user: { id: 21, roles: ["member"] },
  organizationId: 7,
  sessionKey: "sess-21",
  taskId: "task-1",
  interactive: true,
};

export interface Asked {
  readonly resourceType: string;
  readonly operation: string;
  readonly target: string;
}

export interface ConsoleFixture {
  readonly origin: string;
  readonly sallyport: Sallyport;
  readonly folder: string;
  /** What the server's host was told of, that nobody expected. */
  readonly faults: readonly unknown[];
  /** As the tool inside the agent; answers the id of the request, or the code where there is none. */
  ask(asked: Asked, options?: Partial<RunOptions> & { readonly resumeAction?: string }): Promise<string>;
  /** A new browser profile with a person signed in; `path` is opened. */
  signedIn(path?: string, options?: object): Promise<Page>;
  /** A new browser profile and nothing in it. */
  page(options?: object): Promise<Page>;
  link(): Promise<string>;
  /** Stops service and server, and starts both on the same folder and port. */
  restart(between?: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export interface ConsoleOptions {
  readonly pendingMax?: number;
  /** Where its folder is made; the usual place for temporary files unless said. */
  readonly place?: string;
  /** Ways to sign in and to be told, as a host sets them. */
  readonly admin?: Pick<AdminOptions, "oidc" | "webhooks" | "guide">;
}

async function openConsole({ place = tmpdir(), ...options }: ConsoleOptions = {}): Promise<ConsoleFixture> {
  const consoleFolder = await buildConsole();
  const browser: Browser = await launchBrowser();
  const folder = realpathSync(mkdtempSync(join(place, "sallyport-console-")));
  mkdirSync(join(folder, "demo"));
  const port = await freePort();
  const faults: unknown[] = [];
  const start = () => served({ folder, port, consoleFolder, faults, ...options });
  let running = await start();
  const page = async (words: object = {}): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...words });
    context.setDefaultTimeout(WAIT_MS_MAX);
    return context.newPage();
  };
  const link = async (): Promise<string> => (await running.server.createSignInLink({ name: "ada" })).url;
  return {
    origin: running.listening.origin,
    get sallyport() {
      return running.sallyport;
    },
    folder,
    faults,
    ask: (asked, words) => askAs(running.sallyport, asked, words),
    page,
    link,
    signedIn: async (path = "/", words = {}) => {
      const opened = await page(words);
      await opened.goto(await link());
      await opened.getByRole("heading", { name: "Inbox" }).waitFor();
      if (path !== "/") await opened.goto(running.listening.origin + path);
      return opened;
    },
    restart: async (between) => {
      await running.close();
      await between?.();
      running = await start();
    },
    close: async () => {
      await browser.close();
      await running.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * The console of a test file: open before its first test, closed behind its last. What its host was told of that nobody
 * expected fails the file.
 */
export async function consoleOfFile(options: ConsoleOptions = {}): Promise<ConsoleFixture> {
  const opening = openConsole(options);
  afterAll(async () => {
    const fixture = await opening;
    await fixture.close();
    expect(fixture.faults).toEqual([]);
  });
  return opening;
}

interface Running {
  readonly sallyport: Sallyport;
  readonly server: SallyportServer;
  readonly listening: Listening;
  close(): Promise<void>;
}

async function served({
  folder,
  port,
  consoleFolder,
  faults,
  pendingMax = 1000,
  admin = {},
}: {
  readonly folder: string;
  readonly port: number;
  readonly consoleFolder: string;
  readonly faults: unknown[];
  readonly pendingMax?: number;
  readonly admin?: ConsoleOptions["admin"];
}): Promise<Running> {
  const sallyport = await createSallyport({
    dataFolder: join(folder, "data"),
    apiPorts: [port],
    rate: { burst: 100_000, perSecond: 100_000 },
    // A resume that fails once is parked: trying again is then up to a person.
    limits: { pendingMax, attemptsMax: 1 },
  });
  registerSubjects(sallyport, folder);
  const { service } = sallyport;
  const server = createServer({
    ...sallyport.serverParts(),
    admin: { service, version: "0.1.0", consoleFolder, manifests: () => declared, ...admin },
    onFault: (fault) => faults.push(fault),
  });
  const listening = await server.listen({ port });
  return {
    sallyport,
    server,
    listening,
    close: async () => {
      await listening.close();
      await sallyport.close();
    },
  };
}

const FEED = {
  resource_type: "network",
  operation: "receive",
  target: "https://declared.example.com",
} as const;
const declared = [
  {
    subject: TOOL,
    phase: "runtime",
    access: [{ resourceType: FEED.resource_type, operation: FEED.operation, target: FEED.target }],
    allowedImports: [],
    source: null,
  },
] as unknown as NonNullable<Parameters<typeof createServer>[0]["admin"]>["manifests"] extends
  | (() => infer Views)
  | undefined
  ? Views
  : never;

function registerSubjects({ registry }: Sallyport, folder: string): void {
  const answers = [
    registry.registerModule({ root: join(folder, "demo"), manifest: { name: "demo", access: [] } }),
    registry.registerAgent({ name: AGENT.name, module: MODULE.name, definition: { access: [] } }),
    registry.registerTool({ name: TOOL.name, module: MODULE.name, definition: { access: [FEED] } }),
  ];
  for (const answer of answers) if (!answer.ok) throw new Error(answer.message);
}

async function askAs(
  { runtime, sdk }: Sallyport,
  { resourceType, operation, target }: Asked,
  { resumeAction, ...options }: Partial<RunOptions> & { readonly resumeAction?: string } = {},
): Promise<string> {
  const access = { resourceType, operation, target } as never;
  const check = await runtime.run(AGENT, { ...MEMBER, ...options }, () =>
    runtime.run(TOOL, {}, () =>
      resumeAction === undefined
        ? sdk.access.checkExternalAccess(access)
        : sdk.access.requireExternalAccess({
            ...(access as object),
            resumeAction,
            resumeContext: {},
          } as never),
    ),
  );
  return check.requestId ?? check.code;
}

/** A call of the page itself, as a form of it would make; answers the status. */
export const postFrom = (page: Page, path: string, body: unknown): Promise<number> =>
  page.evaluate<number>(`fetch("/v1${path}", {
    method: "POST",
    headers: { "content-type": "application/json", "x-csrf-token": localStorage.getItem("sallyport.csrf") },
    body: ${JSON.stringify(JSON.stringify(body))},
  }).then(({ status }) => status)`);

/** A person with authority on the host's side, to look behind the page. */
export const PERSON: CallerContext = {
  ...BLANK_CALLER,
  user: { id: 1, roles: ["super"], accessLevel: null },
  interactive: true,
  credential: "host",
};

/** WHY: the service is told its own API port before the server that needs the service can listen. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createSocketServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
