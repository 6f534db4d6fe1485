/**
 * The owner of a data folder, in this process. Quiet, for one command: the administration API without any socket.
 * Serving, for `up` and `run`: the API on a port, the admin socket and the door of `run` in the data folder.
 * Trusts whoever may open the data folder; must never listen before the service denies guarded code its own places.
 */
import { createServer as createNetServer } from "node:net";
import { type AdminClient, createAdminClient } from "@sallyport/client/admin";
import type { ManifestView } from "@sallyport/contract/admin";
import type { SubjectDeclaration } from "@sallyport/runtime";
import {
  type AdminOptions,
  type ListenOptions,
  type PeerCheck,
  type SallyportServer,
  createServer,
} from "@sallyport/server";
import { type Sallyport, createSallyport } from "../create-sallyport.ts";
import { adminSocketOf, runSocketOf } from "../data-folder.ts";
import { apiAddresses, apiHosts, plainAddress } from "./api-addresses.ts";
import { obtainPeerCheck } from "./peer-check.ts";
import { type RunDoor, openRunDoor } from "./run-door.ts";
import type { SettingOptions } from "./server-settings.ts";
import { SOCKET_ORIGIN } from "./socket-fetch.ts";
import { VERSION } from "./version.ts";

export interface Owner {
  readonly admin: AdminClient;
  close(): Promise<void>;
}

export interface ServingOwner extends Owner {
  readonly sallyport: Sallyport;
  readonly origin: string;
  /** How it is told who comes in by the admin socket. */
  readonly peers: PeerCheck;
}

/** What its server is told beside what every owner tells it. */
type Told = Pick<AdminOptions, "consoleFolder" | "guide"> & SettingOptions;

export interface ServingOptions {
  readonly folder: string;
  /** 0: a free one. */
  readonly port: number;
  readonly listen: Pick<ListenOptions, "origin" | "tls" | "unsafePlaintext"> & { readonly host: string };
  readonly told: Told;
  /** Runs stopped work that was approved. */
  readonly runsResumes: boolean;
  readonly onFault: (error: unknown) => void;
}

/** WHY no resumes: the actions live in the process that registered them, and this one is gone in a moment. */
export async function openQuietOwner(folder: string): Promise<Owner> {
  const sallyport = await createSallyport({ dataFolder: folder, runsResumes: false });
  const { localFetch } = serverOf(sallyport, {}, () => undefined);
  return {
    admin: createAdminClient({ origin: SOCKET_ORIGIN, fetch: localFetch }),
    close: () => sallyport.close(),
  };
}

/** For `run` where nobody owns the folder: as `up`, without a console, for as long as the program runs. */
export function openRunOwner(folder: string): Promise<ServingOwner> {
  return openServingOwner({
    folder,
    port: 0,
    listen: { host: "127.0.0.1" },
    told: {},
    runsResumes: false,
    onFault: () => undefined,
  });
}

export async function openServingOwner(options: ServingOptions): Promise<ServingOwner> {
  const { folder, listen, told, runsResumes, onFault } = options;
  const port = options.port === 0 ? await freePort(listen.host) : options.port;
  const addresses = await apiAddresses(listen.host);
  const apiOrigins = listen.origin === undefined ? [] : [listen.origin];
  const places = { apiPorts: [port], apiHosts: apiHosts(addresses), apiOrigins };
  const sallyport = await createSallyport({ dataFolder: folder, ...places, runsResumes, onFault });
  const closing: (() => Promise<void>)[] = [() => sallyport.close()];
  const close = async (): Promise<void> => {
    for (const end of closing.toReversed()) await end();
  };
  try {
    const server = serverOf(sallyport, told, onFault);
    const peers = await obtainPeerCheck();
    const adminSocket = { path: adminSocketOf(folder), peers };
    const takesAt = (address: string): boolean => addresses.has(plainAddress(address));
    const listening = await server.listen({ ...listen, port, adminSocket, takesAt });
    closing.push(() => listening.close());
    const door: RunDoor = await openRunDoor(sallyport, runSocketOf(folder));
    closing.push(() => door.close());
    const admin = createAdminClient({ origin: SOCKET_ORIGIN, fetch: server.localFetch });
    return { admin, sallyport, origin: listening.origin, peers, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function serverOf(sallyport: Sallyport, told: Told, onFault: (error: unknown) => void): SallyportServer {
  const { service, registry } = sallyport;
  return createServer({
    ...sallyport.serverParts(),
    onFault,
    admin: {
      service,
      version: VERSION,
      ...told,
      manifests: () => registry.declarations().map(manifestView),
    },
  });
}

function manifestView({ subject, phase, access, allowedImports, root }: SubjectDeclaration): ManifestView {
  const rules = access.map(({ resourceType, operation, target }) => ({ resourceType, operation, target }));
  return { subject, phase, access: rules, allowedImports, source: root ?? null } as ManifestView;
}

/** WHY before the service starts: its port is among the places that it denies to everybody. */
function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createNetServer();
    server.once("error", reject);
    server.listen(0, host, () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
