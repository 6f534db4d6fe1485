/**
 * The denies that nothing lifts: Sallyport's own data folder, key ring, admin socket, API port and public origin.
 */
import { OPERATIONS } from "@sallyport/contract";
import type { BuiltinDeny } from "./question.ts";

export interface OwnPlaces {
  /** Absolute real folders whose every file is ours. */
  readonly folders: readonly string[];
  /** Absolute real paths of unix sockets. */
  readonly sockets: readonly string[];
  readonly apiPorts: readonly number[];
  /** Addresses the API listens on beside the local host. */
  readonly apiHosts: readonly string[];
  /** `host:port` of every origin by which people reach the API, such as that of a proxy in front of it. */
  readonly apiOrigins: readonly string[];
}

/** WHY: connecting to an unspecified address reaches the local host on Linux. */
const LOCAL_HOSTS = ["localhost", "0.0.0.0", "[::]"];

export function builtinDenies(places: OwnPlaces): readonly BuiltinDeny[] {
  const denies: BuiltinDeny[] = [];
  const add = (rule: Omit<BuiltinDeny, "id">): number =>
    denies.push({ id: `builtin:${denies.length}`, ...rule });
  for (const folder of places.folders) {
    for (const operation of OPERATIONS.filesystem)
      add({ resourceType: "filesystem", operation, target: `${folder}/` });
    // WHY: whoever may move a folder above ours away may open it under another name.
    for (const above of foldersAbove(folder))
      add({ resourceType: "filesystem", operation: "delete", target: above });
  }
  for (const socket of places.sockets) {
    add({ resourceType: "network", operation: "connect", target: `unix:${socket}` });
    for (const operation of OPERATIONS.filesystem)
      add({ resourceType: "filesystem", operation, target: socket });
    for (const above of foldersAbove(socket))
      add({ resourceType: "filesystem", operation: "delete", target: above });
  }
  const hosts = [...LOCAL_HOSTS, ...places.apiHosts];
  const served = hosts.flatMap((host) => places.apiPorts.map((port) => `${host}:${port}`));
  for (const target of [...served, ...places.apiOrigins])
    for (const operation of OPERATIONS.network) add({ resourceType: "network", operation, target });
  return denies;
}

function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
    folders.push(path.slice(0, end));
  return folders;
}
