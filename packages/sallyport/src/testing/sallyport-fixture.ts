/** An embedded Sallyport in a folder of its own with a few subjects, and the same one reached over HTTP. */
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RuntimeCredential, generateHolderKey, runtimeCredential } from "@sallyport/client";
import { BLANK_CALLER, type CallerContext } from "@sallyport/contract";
import type { Registered, RegistryRefusal, RunOptions, Runtime, Sdk } from "@sallyport/runtime";
import { createServer } from "@sallyport/server";
import { type RemoteSallyport, type RemoteSallyportOptions, connectSallyport } from "../connect-sallyport.ts";
import { type Sallyport, type SallyportOptions, createSallyport } from "../create-sallyport.ts";

export const entry = (resource_type: string, operation: string, target: string) => ({
  resource_type,
  operation,
  target,
});
export const DEMO = { type: "module", name: "demo" } as const;
export const BANK = { type: "module", name: "bank" } as const;
export const TOOL = { type: "tool", name: "demo.read_file" } as const;
export const AGENT = { type: "agent", name: "demo.reader_agent" } as const;
export const WHISPER = { type: "engine", name: "whisper" } as const;
export const DECLARED = "https://declared.example.com/feed";

/** User 21 of organization 7 in session `sess-21`. */
export const MEMBER: RunOptions = {
  user: { id: 21, roles: ["member"] },
  organizationId: 7,
  sessionKey: "sess-21",
  taskId: "task-1",
  interactive: true,
};
/** A person who may decide. */
export const ADMIN: RunOptions = { user: { id: 1, roles: ["super"] } };

export interface Fixture extends Sallyport {
  /** Real path of a folder that is removed by `close`; the data folder is `data` in it. */
  readonly folder: string;
  readonly dataFolder: string;
  /** The log's events, oldest first: the type, and the whole as it was written. */
  events(): Promise<readonly { readonly type: string; readonly text: string }[]>;
  /** What an approver would click on. */
  shown(requestId: string | undefined): Promise<{ readonly requestId: string; readonly digest: string }>;
}

export async function openFixture(changes: Partial<SallyportOptions> = {}): Promise<Fixture> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-embedded-")));
  const dataFolder = join(folder, "data");
  for (const name of ["demo", "bank", "whisper", "work"]) mkdirSync(join(folder, name));
  const sallyport = await createSallyport({
    dataFolder,
    variables: { workspace: join(folder, "work") },
    rate: { burst: 100_000, perSecond: 100_000 },
    ...changes,
  });
  registerSubjects(sallyport.registry, folder);
  const { service } = sallyport;
  return {
    ...sallyport,
    folder,
    dataFolder,
    events: async () => {
      await service.audit.flush();
      const found = [];
      for await (const line of await service.trail.export(adminCaller())) found.push(eventIn(line));
      return found.flatMap((event) => event ?? []);
    },
    shown: async (requestId) => {
      const record = await service.list.request(adminCaller(), requestId ?? "");
      if (record === null) throw new Error("there is no such request");
      return { requestId: record.id, digest: record.digest };
    },
    close: async () => {
      await sallyport.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function registerSubjects(registry: Runtime["registry"], folder: string): void {
  const receive = entry("network", "receive", "https://declared.example.com");
  const must = (answer: Registered | RegistryRefusal): void => {
    if (!answer.ok) throw new Error(answer.message);
  };
  must(
    registry.registerModule({
      name: "demo",
      root: join(folder, "demo"),
      manifest: { access: [receive, entry("filesystem", "read", "./")] },
    }),
  );
  must(
    registry.registerModule({
      name: "bank",
      root: join(folder, "bank"),
      manifest: { access: [entry("network", "send", "https://bank.example.com")] },
    }),
  );
  must(registry.registerTool({ name: TOOL.name, module: "demo", definition: { access: [receive] } }));
  must(registry.registerAgent({ name: AGENT.name, module: "demo", definition: { access: [] } }));
  must(
    registry.registerEngine({
      name: WHISPER.name,
      root: join(folder, "whisper"),
      manifest: {
        runtime: { access: [entry("network", "receive", "https://api.example.com/v1/")] },
        install: { access: [entry("network", "receive", "https://packages.example.com")] },
      },
    }),
  );
}

export function adminCaller(): CallerContext {
  return {
    ...BLANK_CALLER,
    user: { id: 1, roles: ["super"], accessLevel: null },
    credential: "host",
  };
}

/** A line of the export that holds an event. */
function eventIn(line: string): { readonly type: string; readonly text: string } | undefined {
  const [, type] = /"type":"([a-z_]+\.[a-z_]+)"/.exec(line) ?? [];
  return type === undefined ? undefined : { type, text: line };
}

/** One way to reach a service: as guarded code, and as a person who decides. */
export interface Way {
  readonly fixture: Fixture;
  readonly runtime: Runtime;
  readonly sdk: Sdk;
  close(): Promise<void>;
}

export async function embeddedWay(): Promise<Way> {
  const fixture = await openFixture();
  return { fixture, runtime: fixture.runtime, sdk: fixture.sdk, close: () => fixture.close() };
}

/** A server on a free port over an embedded Sallyport, and credentials of remote hosts. */
export interface ServedFixture {
  readonly fixture: Fixture;
  readonly origin: string;
  /** For `MEMBER` as the demo and bank modules, the tool and the agent, unless said. */
  credential(changes?: object): Promise<RuntimeCredential>;
  /** A remote host with its own registry of the same subjects. */
  connect(changes?: object, options?: Pick<RemoteSallyportOptions, "onFault">): Promise<RemoteSallyport>;
  revoke(credential: RuntimeCredential): Promise<void>;
  /** The server is gone; the service behind it is not. */
  stopServing(): Promise<void>;
  close(): Promise<void>;
}

export async function serveFixture(changes: Partial<SallyportOptions> = {}): Promise<ServedFixture> {
  const fixture = await openFixture(changes);
  const signedIn = randomUUID();
  const server = createServer({
    ...fixture.serverParts(),
    authenticate: async ({ headers }) => (headers.get("x-signed-in") === signedIn ? adminCaller() : null),
  });
  const listening = await server.listen();
  const { origin } = listening;
  const hosts: RemoteSallyport[] = [];
  const credential = async (granted: object = {}): Promise<RuntimeCredential> => {
    const key = await generateHolderKey();
    const subjects = [DEMO, BANK, TOOL, AGENT].map((subject) => ({ subject, phase: "runtime" }));
    const grant = { subjects, userId: 21, organizationId: 7, sessionKey: "sess-21", taskId: null };
    const words = { ...grant, interactive: true, ...granted } as never;
    return runtimeCredential(await server.credentials.issue(words, key.thumbprint), key);
  };
  return {
    fixture,
    origin,
    credential,
    connect: async (granted, options) => {
      const remote = connectSallyport({
        ...options,
        origin,
        credential: await credential(granted),
        person: { kind: "person", headers: () => ({ "x-signed-in": signedIn }) },
      });
      registerSubjects(remote.registry, fixture.folder);
      hosts.push(remote);
      return remote;
    },
    revoke: ({ issued }) => server.credentials.revoke(issued.credentialId),
    stopServing: () => listening.close(),
    close: async () => {
      for (const host of hosts) await host.close();
      await listening.close();
      await fixture.close();
    },
  };
}

/** The same service through a server on a free port, with a credential for `MEMBER`. */
export async function remoteWay(): Promise<Way> {
  const served = await serveFixture();
  const { runtime, sdk } = await served.connect();
  return { fixture: served.fixture, runtime, sdk, close: () => served.close() };
}
