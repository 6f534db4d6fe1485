/**
 * The guided example of `sallyport up --example`: an agent platform in a folder of its own that needs a person three
 * times. A tool waits to read a file, the agent around it waits for an address, and an import has stopped and goes on by
 * itself once it is approved. Cooperative: everything here asks through the SDK.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Registered, RegistryRefusal, RunOptions, Sdk } from "@sallyport/runtime";
import type { Sallyport } from "../create-sallyport.ts";

export interface GuidedExample {
  close(): void;
}

const MODULE = { type: "module", name: "example" } as const;
const AGENT = { type: "agent", name: "example.reader_agent" } as const;
const TOOL = { type: "tool", name: "example.read_file" } as const;
const ACTION = "example.resume_import";
const WAIT = { timeoutMs: 86_400_000 } as const;

interface Place {
  readonly folder: string;
  readonly customers: string;
  readonly report: string;
  readonly rates: string;
}

export async function startExample(
  sallyport: Sallyport,
  tell: (line: string) => void,
): Promise<GuidedExample> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-example-")));
  const server = await ratesServer();
  const place: Place = {
    folder,
    customers: join(folder, "imports", "customer.csv"),
    report: join(folder, "reports", "customers.txt"),
    rates: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rates.json`,
  };
  furnish(place);
  register(sallyport, place);
  const user: RunOptions = {
    user: { id: 21, roles: ["member"] },
    organizationId: 7,
    sessionKey: `example-${randomUUID()}`,
    taskId: "import-1",
    interactive: true,
  };
  registerResume(sallyport, tell);
  const parts = [readsFile(sallyport, user, place, tell), fetchesRates(sallyport, user, place, tell)];
  const close = (): void => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  };
  // WHY: a part that is cut off when everything ends has nothing more to tell.
  for (const part of parts) part.catch(() => undefined);
  await stopsImport(sallyport, user, place, tell);
  return { close };
}

function furnish({ folder, customers }: Place): void {
  for (const name of ["module/inbox", "imports", "reports"])
    mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "module/inbox/note.txt"), "a note that the tool declared\n");
  writeFileSync(customers, "id,name\n1,Ada\n2,Grace\n");
}

function register({ registry }: Sallyport, { folder }: Place): void {
  const inbox = { resource_type: "filesystem", operation: "read", target: "./inbox/" };
  const root = join(folder, "module");
  must(registry.registerModule({ name: MODULE.name, root, manifest: { access: [inbox] } }));
  must(registry.registerAgent({ name: AGENT.name, module: MODULE.name, definition: { access: [] } }));
  must(registry.registerTool({ name: TOOL.name, module: MODULE.name, definition: { access: [inbox] } }));
}

function must(answer: Registered | RegistryRefusal): void {
  if (!answer.ok) throw new Error(answer.message);
}

function registerResume({ runtime }: Sallyport, tell: (line: string) => void): void {
  runtime.run(MODULE, {}, (sdk) =>
    sdk.actions.register(ACTION, {
      schema: { parse: reportContext },
      handler: async ({ report }, run) => {
        await run.sdk.fs.writeFile(report, "2 customers\n", { flag: "wx" });
        tell(`the import that had stopped went on by itself and wrote ${report}`);
      },
    }),
  );
}

function reportContext(value: unknown): { readonly report: string } {
  const { report } = value as { readonly report?: unknown };
  if (typeof report !== "string") throw new TypeError("the context of the import holds no report");
  return { report };
}

/** The tool, called by the agent: blocked on a file. */
function readsFile(
  { runtime }: Sallyport,
  user: RunOptions,
  { folder, customers }: Place,
  tell: (line: string) => void,
): Promise<void> {
  return runtime.run(AGENT, user, () =>
    runtime.run(TOOL, {}, async (sdk) => {
      await sdk.fs.readFile(join(folder, "module/inbox/note.txt"), "utf8");
      tell("the tool read a note that it declared, without being asked");
      tell(`the tool is blocked: it wants to read ${customers}`);
      const { allowed, code } = await sdk.access.checkExternalAccess(sdk.access.filesystem.read(customers), {
        wait: WAIT,
      });
      if (!allowed) return tell(`the tool was told no (${code}) and goes on without the file`);
      const text = await sdk.fs.readFile(customers, "utf8");
      tell(`the tool goes on: it read ${text.trim().split("\n").length - 1} customers`);
    }),
  );
}

/** The agent itself: blocked on an address. */
function fetchesRates(
  { runtime }: Sallyport,
  user: RunOptions,
  { rates }: Place,
  tell: (line: string) => void,
): Promise<void> {
  return runtime.run(AGENT, user, async (sdk) => {
    tell(`the agent is blocked: it wants to receive ${rates}`);
    const { allowed, code } = await sdk.access.checkExternalAccess(sdk.access.network.receive(rates), {
      wait: WAIT,
    });
    if (!allowed) return tell(`the agent was told no (${code}) and goes on without the rates`);
    const answer = await sdk.http.fetch(rates);
    tell(`the agent goes on: it received ${await answer.text()}`);
  });
}

/** An import that does not wait: it says how to go on, and stops. */
function stopsImport(
  { runtime }: Sallyport,
  user: RunOptions,
  { report }: Place,
  tell: (line: string) => void,
): Promise<void> {
  return runtime.run(MODULE, user, async (sdk: Sdk) => {
    await sdk.access.requireExternalAccess(sdk.access.filesystem.create(report), {
      resumeAction: ACTION,
      resumeContext: { report },
    });
    tell(`an import has stopped: it wants to create ${report}, and says how to go on`);
  });
}

function ratesServer(): Promise<Server> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end('{"EUR":1,"USD":1.08}');
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}
