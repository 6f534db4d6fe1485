/**
 * Embedded use in one call: a store in a data folder, the service on it, the registry and the runtime over both.
 * Trusts the host that calls it; the data folder is closed to every subject by built-in denies.
 */
import { randomInt, randomUUID } from "node:crypto";
import { type ManifestVariable, type Subject, whatwgUrl } from "@sallyport/contract";
import { isGuarded } from "@sallyport/gate/targets";
import {
  type RegistryEvent,
  type Runtime,
  type RuntimePorts,
  type Sdk,
  SubjectRegistry,
  createRuntime,
} from "@sallyport/runtime";
import { AccessService, type AccessServiceOptions, ActionRegistry, checkpointFile } from "@sallyport/service";
import type { AccessStore } from "@sallyport/store";
import { openSqliteStore } from "@sallyport/store/sqlite";
import { VERSION } from "./cli/version.ts";
import { type DataFolder, adminSocketOf, openDataFolder, runSocketOf } from "./data-folder.ts";
import { type ServerParts, serverParts } from "./server-parts.ts";

/** What the host may decide about the service. */
type ServiceChoices = Pick<
  AccessServiceOptions,
  | "authorityNames"
  | "classifier"
  | "hook"
  | "limits"
  | "onFault"
  | "onNetworkAllowed"
  | "rate"
  | "runsResumes"
  | "setup"
  | "strictAudit"
  | "telemetry"
>;

export interface SallyportOptions extends ServiceChoices {
  /** Made where it does not exist; its owner's alone. */
  readonly dataFolder: string;
  /**
   * PostgreSQL in place of SQLite, for any number of nodes. The data folders of all of them hold the same secrets: copy
   * the first one's key files before the others start.
   */
  readonly shared?: SharedStore | undefined;
  /** The folders behind `${workspace}`, `${data}`, `${tmp}` and `${home}`. */
  readonly variables?: { readonly [V in ManifestVariable]?: string | undefined } | undefined;
  /** Ports on which the host serves Sallyport's API; closed to every subject. */
  readonly apiPorts?: readonly number[] | undefined;
  /** Addresses on which it is served beside the local host, IPv6 in brackets; closed on those ports. */
  readonly apiHosts?: readonly string[] | undefined;
  /** Origins by which people reach it, such as that of a proxy in front; closed to every subject. */
  readonly apiOrigins?: readonly string[] | undefined;
  /** Unix sockets on which the host is administered, by real path; closed to every subject. */
  readonly adminSockets?: readonly string[] | undefined;
  readonly installerHosts?: readonly string[] | undefined;
  readonly onRegistryEvent?: ((event: RegistryEvent) => void) | undefined;
  readonly ports?: Pick<RuntimePorts, "resolver" | "nowMs" | "ca"> | undefined;
  /** Where signed checkpoints go; a file in the data folder unless said. */
  readonly checkpointFile?: string | undefined;
}

export interface SharedStore {
  readonly postgresUrl: string;
  /** Names this node in the log; one of its own for every start unless said. */
  readonly nodeId?: string | undefined;
}

export interface Sallyport {
  readonly runtime: Runtime;
  readonly registry: SubjectRegistry;
  /** For guarded code. */
  readonly sdk: Sdk;
  /** For the host: rules, modes, lists, the audit trail. */
  readonly service: AccessService;
  /** What `createServer` needs of this host; see `server-parts.ts`. */
  serverParts(): ServerParts;
  close(): Promise<void>;
}

export async function createSallyport(options: SallyportOptions): Promise<Sallyport> {
  // WHY: a synchronous call that is blocked waits in its thread for the service, which therefore cannot be in that thread;
  // and the store would be within reach of the code that it decides about.
  if (isGuarded())
    throw new TypeError(
      "this process is guarded and cannot hold the service: create it in the host, start this program with `runtime.spawn`, and call `connectRuntime` here",
    );
  const data = await openDataFolder(options.dataFolder);
  const store = await openStore(options, data);
  try {
    const actions = new ActionRegistry((subject) => moduleNameOf(registry, subject));
    const service = new AccessService({
      ...serviceOptions(options, data),
      store,
      actions,
      enterCaller: (caller, work) => runtime.enterResume(caller, work),
    });
    const registry = new SubjectRegistry({
      parseUrl: whatwgUrl,
      variables: options.variables ?? {},
      installerHosts: options.installerHosts,
      apply: (change) => service.applyHost(change),
      onEvent: options.onRegistryEvent,
    });
    const runtime = createRuntime({
      policy: service,
      registry,
      ports: {
        ...options.ports,
        registerAction: (action) => actions.register(action),
        attachChild: (socket, caller, how) => service.gate.attachChild(socket, caller, how),
        recordRefusal: async (caller, verb) => {
          // WHY: the service says no before it looks at anything, and puts it on record.
          await service[verb](caller, { requestId: "", digest: "" });
        },
      },
    });
    await service.start().catch((error: unknown) => {
      runtime.close();
      throw error;
    });
    const close = async (): Promise<void> => {
      runtime.close();
      try {
        await service.stop();
      } finally {
        await store.close();
      }
    };
    return Object.freeze<Sallyport>({
      runtime,
      registry,
      sdk: runtime.sdk,
      service,
      serverParts: () => serverParts({ service, registry, store, data }),
      close,
    });
  } catch (error) {
    await store.close();
    throw error;
  }
}

const SEED_END = 2 ** 32;

async function openStore({ shared }: SallyportOptions, { storeFile }: DataFolder): Promise<AccessStore> {
  if (shared === undefined) return openSqliteStore({ path: storeFile, version: VERSION });
  // WHY: a host on SQLite does not load the driver of PostgreSQL.
  const { openPostgresStore } = await import("@sallyport/store/postgres");
  return openPostgresStore({ url: shared.postgresUrl });
}

function serviceOptions(options: SallyportOptions, data: DataFolder) {
  const { dataFolder: _folder, variables: _variables, ...choices } = options;
  const { installerHosts: _hosts, onRegistryEvent: _event, ports: _ports, ...rest } = choices;
  const {
    apiPorts = [],
    apiHosts = [],
    apiOrigins = [],
    adminSockets: sockets = [],
    shared,
    ...service
  } = rest;
  return {
    ...service,
    nodeId: shared === undefined ? "embedded" : (shared.nodeId ?? `node-${randomUUID()}`),
    seed: [randomInt(SEED_END), randomInt(SEED_END)] as const,
    parseUrl: whatwgUrl,
    keyRing: () => data.keyRing,
    maskingKey: data.maskingKey,
    ownPlaces: {
      folders: [data.folder],
      sockets: [adminSocketOf(data.folder), runSocketOf(data.folder), ...sockets],
      apiPorts,
      apiHosts,
      apiOrigins: apiOrigins.map(endpointOf),
    },
    checkpoints: {
      signer: data.signer,
      exportTo: checkpointFile(options.checkpointFile ?? data.checkpointFile),
    },
  };
}

/** `host:port`. Throws where it is no origin: a place that cannot be named cannot be closed. */
function endpointOf(origin: string): string {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.origin !== origin)
    throw new TypeError(`\`${origin}\` is not an origin such as \`https://sallyport.example.com\``);
  return `${url.hostname}:${url.port || (url.protocol === "https:" ? "443" : "80")}`;
}

function moduleNameOf(registry: SubjectRegistry, subject: Subject): string | undefined {
  return registry.moduleOf(subject)?.name;
}
