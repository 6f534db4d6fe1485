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
import type { GuideView } from "@sallyport/contract/admin";
import type { Sallyport } from "../create-sallyport.ts";
import type { ExampleGuide } from "./example-guide.ts";
import type { ServingOwner } from "./owner.ts";

export interface GuidedExample {
  close(): Promise<void>;
}

/** Whose folder it runs in. */
type Host = Pick<ServingOwner, "sallyport" | "admin">;

const MODULE = { type: "module", name: "example" } as const;
const AGENT = { type: "agent", name: "example.reader_agent" } as const;
const TOOL = { type: "tool", name: "example.read_file" } as const;
const ACTION = "example.resume_import";
const WAIT = { timeoutMs: 86_400_000 } as const;
const SESSIONS_LOOKED_AT = 100;
const SESSION_BEGINS = "sallyport-example-";

interface Place {
  readonly folder: string;
  readonly customers: string;
  readonly report: string;
  readonly rates: string;
}

interface Run {
  readonly sallyport: Sallyport;
  readonly user: RunOptions;
  readonly place: Place;
  readonly guide: ExampleGuide;
  readonly tell: (line: string) => void;
}

type Asked = GuideView["steps"][number]["requestId"];

export async function startExample(
  host: Host,
  guide: ExampleGuide,
  tellAll: (line: string) => void,
): Promise<GuidedExample> {
  const { sallyport } = host;
  await endOldSessions(host);
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
    sessionKey: `${SESSION_BEGINS}${randomUUID()}`,
    taskId: "import-1",
    interactive: true,
  };
  let isOver = false;
  // WHY: a part that is cut off when everything ends has nothing more to tell.
  const tell = (line: string): void => {
    if (!isOver) tellAll(line);
  };
  const run: Run = { sallyport, user, place, guide, tell };
  registerResume(run);
  const parts = [readsFile(run), fetchesRates(run)];
  const close = async (): Promise<void> => {
    isOver = true;
    await endOldSessions(host);
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  };
  for (const part of parts) part.catch(() => undefined);
  await stopsImport(run);
  return { close };
}

/** WHY: a request of an example that is gone waits for nobody, and would stand in the inbox for days. */
async function endOldSessions({ admin }: Host): Promise<void> {
  const { rows } = await admin.sessions({ limit: SESSIONS_LOOKED_AT });
  for (const { organizationId, userId, sessionKey } of rows)
    if (sessionKey.startsWith(SESSION_BEGINS)) await admin.endSession({ organizationId, userId, sessionKey });
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

function registerResume({ sallyport: { runtime }, guide, tell }: Run): void {
  runtime.run(MODULE, {}, (sdk) =>
    sdk.actions.register(ACTION, {
      schema: { parse: reportContext },
      handler: async ({ report }, run) => {
        await run.sdk.fs.writeFile(report, "2 customers\n", { flag: "wx" });
        guide.ended("report", "went_on", "it was resumed by itself and wrote the report");
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
function readsFile({ sallyport: { runtime }, user, place, guide, tell }: Run): Promise<void> {
  const { folder, customers } = place;
  return runtime.run(AGENT, user, () =>
    runtime.run(TOOL, {}, async (sdk) => {
      await sdk.fs.readFile(join(folder, "module/inbox/note.txt"), "utf8");
      tell("the tool read a note that it declared, without being asked");
      tell(`the tool is blocked: it wants to read ${customers}`);
      const code = await decided(sdk, sdk.access.filesystem.read(customers), (id) => guide.asked("file", id));
      if (code !== null) {
        guide.ended("file", "refused", "it was told no, and goes on without the file");
        return tell(`the tool was told no (${code}) and goes on without the file`);
      }
      const text = await sdk.fs.readFile(customers, "utf8");
      const customersRead = text.trim().split("\n").length - 1;
      guide.ended("file", "went_on", `it went on and read ${customersRead} customers`);
      tell(`the tool goes on: it read ${customersRead} customers`);
    }),
  );
}

/** The agent itself: blocked on an address. */
function fetchesRates({ sallyport: { runtime }, user, place, guide, tell }: Run): Promise<void> {
  const { rates } = place;
  return runtime.run(AGENT, user, async (sdk) => {
    tell(`the agent is blocked: it wants to receive ${rates}`);
    const code = await decided(sdk, sdk.access.network.receive(rates), (id) => guide.asked("address", id));
    if (code !== null) {
      guide.ended("address", "refused", "it was told no, and goes on without the rates");
      return tell(`the agent was told no (${code}) and goes on without the rates`);
    }
    const answer = await (await sdk.http.fetch(rates)).text();
    guide.ended("address", "went_on", "it went on and received the rates");
    tell(`the agent goes on: it received ${answer}`);
  });
}

/** Asks, and waits for a person. `null`: it may; else the code of the no. */
async function decided(
  sdk: Sdk,
  access: ReturnType<Sdk["access"]["filesystem"]["read"]> | ReturnType<Sdk["access"]["network"]["receive"]>,
  onAsked: (requestId: Asked) => void,
): Promise<string | null> {
  const asked = await sdk.access.checkExternalAccess(access);
  if (asked.requestId !== undefined) {
    onAsked(asked.requestId);
    await sdk.access.waitForDecision(asked, WAIT);
  }
  const { allowed, code } = await sdk.access.checkExternalAccess(access, { registerRequest: false });
  return allowed ? null : code;
}

/** An import that does not wait: it says how to go on, and stops. */
function stopsImport({ sallyport: { runtime }, user, place, guide, tell }: Run): Promise<void> {
  const { report } = place;
  return runtime.run(MODULE, user, async (sdk: Sdk) => {
    const { requestId } = await sdk.access.requireExternalAccess(sdk.access.filesystem.create(report), {
      resumeAction: ACTION,
      resumeContext: { report },
    });
    guide.asked("report", requestId);
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
