/** A server on a free port of this machine, over a real service on a real SQLite store in a folder of its own. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Access,
  type Ask,
  BLANK_CALLER,
  type CallerContext,
  type CallerFrame,
  type Subject,
  parseAccess,
  parseSubject,
  sameSubject,
  whatwgUrl,
} from "@sallyport/contract";
import type { IssuedCredential, RuntimeGrant } from "@sallyport/contract/remote";
import { AccessService, ActionRegistry, newKeyRing } from "@sallyport/service";
import type { AccessStore } from "@sallyport/store";
import { openSqliteStore } from "@sallyport/store/sqlite";
import type { AdminOptions, ListenOptions, Listening, SallyportServer, ServerOptions } from "../index.ts";
import { createServer } from "../server.ts";

export function subject(type: string, name: string): Subject {
  const parsed = parseSubject(type, name);
  if (!parsed.ok) throw new TypeError(parsed.message);
  return parsed.value;
}

export function access(resourceType: string, operation: string, target: string): Access {
  const parsed = parseAccess({ resourceType, operation, target }, whatwgUrl);
  if (!parsed.ok) throw new TypeError(parsed.message);
  return parsed.value;
}

export const READER = subject("tool", "demo.read_file");
export const AGENT = subject("agent", "demo.reader_agent");
/** Registered on the server, and in no credential of the tests. */
export const BANK = subject("tool", "bank.transfer");

export const receive = (target: string): Access => access("network", "receive", target);

const REGISTERED: readonly CallerFrame[] = [
  { subject: READER, phase: "runtime", entry: "host", contracts: ["contract-reader"] },
  { subject: AGENT, phase: "runtime", entry: "host", contracts: ["contract-agent"] },
  { subject: BANK, phase: "runtime", entry: "host", contracts: ["contract-bank"] },
];

const CONTRACTS = {
  "contract-reader": ["https://declared.example.com"],
  "contract-agent": ["https://agent.example.com", "https://declared.example.com"],
  "contract-bank": ["https://bank.example.com"],
} as const;

/** Guarded code of user 21 in session `sess-21`, as the host of this machine or of another one holds it. */
export function guardedCaller(changes: Partial<CallerContext> = {}): CallerContext {
  return {
    ...BLANK_CALLER,
    frames: REGISTERED.slice(0, 1),
    user: { id: 21, roles: [], accessLevel: null },
    organizationId: 7,
    sessionKey: "sess-21",
    taskId: "task-1",
    interactive: true,
    ...changes,
  };
}

export const frameOf = (who: Subject): CallerFrame => {
  const found = REGISTERED.find((frame) => sameSubject(frame.subject, who));
  if (found === undefined) throw new Error("not registered");
  return found;
};

/** A person who may decide. */
export function person(): CallerContext {
  return guardedCaller({
    frames: [],
    user: { id: 1, roles: ["super"], accessLevel: null },
    organizationId: null,
    sessionKey: null,
    taskId: null,
    credential: "host",
  });
}

export function ask(what: Access, changes: Partial<Ask> = {}): Ask {
  return { access: what, attestedBy: "service", enforced: false, ...changes };
}

export const grant = {
  subjects: [
    { subject: READER, phase: "runtime" },
    { subject: AGENT, phase: "runtime" },
  ],
  userId: 21,
  organizationId: 7,
  sessionKey: "sess-21",
  taskId: null,
  interactive: true,
} as unknown as RuntimeGrant;

export interface ServerFixture {
  readonly service: AccessService;
  readonly store: AccessStore;
  readonly server: SallyportServer;
  readonly listening: Listening;
  readonly origin: string;
  /** The data folder, in which the admin socket is. */
  readonly folder: string;
  /** What the server's host was told of, that nobody expected. */
  readonly faults: readonly unknown[];
  /** Headers of the person who is signed in. */
  readonly personHeaders: Readonly<Record<string, string>>;
  issue(keyThumbprint: string, changes?: Partial<RuntimeGrant>): Promise<IssuedCredential>;
  /** The digest that the approver would click on. */
  shown(requestId: string | undefined): Promise<{ readonly requestId: string; readonly digest: string }>;
  /** Type and code of every event of the log, oldest first. */
  events(): Promise<readonly { readonly type: string; readonly code: string | null }[]>;
  close(): Promise<void>;
}

export async function openServer({
  admin,
  listen,
  ...changes
}: Partial<Omit<ServerOptions, "credentials" | "admin">> & {
  readonly credentials?: Partial<ServerOptions["credentials"]>;
  readonly admin?: Partial<AdminOptions>;
  readonly listen?: ListenOptions;
} = {}): Promise<ServerFixture> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-server-")));
  const store = await openSqliteStore({ path: join(folder, "store.db") });
  const port = await freePort();
  const service = serviceOn(store, folder, port);
  await service.start();
  const signedIn = randomUUID();
  const faults: unknown[] = [];
  const server = createServer({
    service,
    parseUrl: whatwgUrl,
    frameOf: (who, phase) =>
      REGISTERED.find((frame) => frame.phase === phase && sameSubject(frame.subject, who)) ?? null,
    authenticate: async ({ headers }) => (headers.get("x-signed-in") === signedIn ? person() : null),
    onFault: (fault) => faults.push(fault),
    ...changes,
    ...(admin === undefined ? {} : { admin: { service, version: "0.0.0-test", ...admin } }),
    credentials: {
      signingKey: { id: "key-1", privateKey: generateKeyPairSync("ed25519").privateKey },
      newId: randomUUID,
      ...changes.credentials,
    },
  });
  const peers = { kind: "modes_only", reason: "read in a test of its own" } as const;
  const adminSocket = admin === undefined ? undefined : { path: join(folder, "admin.sock"), peers };
  const listening = await server.listen({ port, adminSocket, ...listen });
  return {
    service,
    store,
    server,
    listening,
    origin: listening.origin,
    folder,
    faults,
    personHeaders: { "x-signed-in": signedIn },
    issue: (keyThumbprint, granted = {}) => server.credentials.issue({ ...grant, ...granted }, keyThumbprint),
    shown: async (requestId) => {
      const record = await service.list.request(person(), requestId ?? "");
      if (record === null) throw new Error("there is no such request");
      return { requestId: record.id, digest: record.digest };
    },
    events: async () => {
      await service.audit.flush();
      const { rows } = await store.read((tx) => tx.events.search({}, { limit: 1000, order: "oldest" }));
      return rows.map(({ type, code }) => ({ type, code }));
    },
    close: async () => {
      await listening.close();
      await service.stop();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function serviceOn(store: AccessStore, folder: string, port: number): AccessService {
  const ring = newKeyRing("2026-01-31T09:00:00Z");
  const actions = new ActionRegistry((who) => who.name.split(".")[0]);
  for (const module of ["demo", "bank"])
    actions.register({ name: `${module}.resume`, module, handler: () => undefined });
  const service = new AccessService({
    store,
    nodeId: "node-a",
    seed: [1, 2],
    parseUrl: whatwgUrl,
    keyRing: () => ring,
    maskingKey: new Uint8Array(32).fill(7),
    actions,
    ownPlaces: { folders: [folder], sockets: [], apiPorts: [port], apiHosts: [], apiOrigins: [] },
    runsResumes: false,
    rate: { burst: 100_000, perSecond: 100_000 },
  });
  for (const [id, targets] of Object.entries(CONTRACTS)) {
    const declared = targets.map(
      (target) => ({ resourceType: "network", operation: "receive", target }) as const,
    );
    service.applyHost({ kind: "contract_set", contract: { id, access: declared } });
  }
  for (const { subject: who, contracts } of REGISTERED)
    service.applyHost({ kind: "subject_registered", registration: { subject: who, contracts } });
  return service;
}

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
