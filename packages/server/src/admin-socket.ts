/**
 * The second door: a unix socket in the data folder, for the command line of the owner. Who may come in is the kernel's
 * to say, twice. To connect takes search on the folder (0700) and write on the socket (0600), which its owner and root
 * alone have; both are checked before listening, for every connection and for every call, so that a folder that was opened
 * to others since closes the door. And who did connect is read from the connection before its first byte is
 * (`peer-credentials.ts`). Where that cannot be had the modes stand alone, and whoever opens the door has said so.
 */
import { chmodSync, lstatSync, rmSync } from "node:fs";
import type { Server as HttpServer } from "node:http";
import { type Socket, connect } from "node:net";
import { dirname } from "node:path";
import type { Answering } from "./connection-limits.ts";
import { type Peer, type PeerCheck, peerFault, readPeer } from "./peer-credentials.ts";
import { problemResponse } from "./problem.ts";

const OTHERS = 0o077;
const OWNER_SOCKET = 0o600;
const OWNER_MASK = 0o177;
/** What an address of a unix socket can hold. */
const PATH_BYTES_MAX = 107;

export interface AdminSocket {
  /** In a folder of mode 0700. */
  readonly path: string;
  readonly peers: PeerCheck;
}

export interface DoorWatch {
  readonly closing: AbortSignal;
  /** Somebody came who is neither the owner nor root. `null`: it cannot be told who. */
  readonly onRefused: (reason: string, peer: Peer | null) => void;
}

export async function listenOnSocket(
  server: HttpServer,
  { path, peers }: AdminSocket,
  watch: DoorWatch,
): Promise<void> {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX)
    throw new Error(`\`${path}\` is too long for a socket: use a data folder with a shorter path`);
  const fault = folderFault(path);
  if (fault !== null) throw new Error(fault);
  await removeStale(path);
  guardDoor(server, path, peers, watch);
  await bound(server, path);
  const left = socketFault(path);
  if (left !== null) {
    server.close();
    throw new Error(left);
  }
}

/** INVARIANT: the server sees no byte of a connection before its peer has been found to be the owner or root. */
function guardDoor(server: HttpServer, path: string, peers: PeerCheck, watch: DoorWatch): void {
  const own = server.listeners("connection") as ((socket: Socket) => void)[];
  const letIn = (socket: Socket): Socket => {
    for (const take of own) take.call(server, socket);
    return socket;
  };
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    if (doorFault(path) !== null) {
      socket.destroy();
      return;
    }
    switch (peers.kind) {
      case "modes_only":
        letIn(socket);
        return;
      case "program":
        void judged(peers.path, socket, watch)
          .then((isWelcome) => (isWelcome ? letIn(socket).resume() : socket.destroy()))
          .catch(() => socket.destroy());
    }
  });
}

async function judged(program: string, socket: Socket, { closing, onRefused }: DoorWatch): Promise<boolean> {
  const gone = (): void => void socket.destroy();
  socket.once("error", gone);
  const peer = await readPeer(program, socket, closing).catch(() => null);
  socket.off("error", gone);
  if (socket.destroyed || closing.aborted) return false;
  const fault = peerFault(peer);
  if (fault !== null) onRefused(fault, peer);
  // WHY the bytes: whatever was read meanwhile would be missing where the call is read.
  return fault === null && socket.bytesRead === 0;
}

/** An application that answers only while the door is its owner's alone; a connection may be older than the fault. */
export function behindDoor(app: Answering, path: string): Answering {
  return {
    fetch: (request) =>
      doorFault(path) === null
        ? app.fetch(request)
        : problemResponse({
            code: "permission_error",
            detail: "the admin socket is open to others: it is closed",
          }),
  };
}

const doorFault = (path: string): string | null => folderFault(path) ?? socketFault(path);

/** WHY the mask: the socket is never there with a wider mode, not even for a moment. */
function bound(server: HttpServer, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    const former = process.umask(OWNER_MASK);
    try {
      server.listen(path, () => {
        server.off("error", reject);
        chmodSync(path, OWNER_SOCKET);
        resolve();
      });
    } finally {
      process.umask(former);
    }
  });
}

/** What is wrong with the folder; `null`: it is its owner's alone. */
function folderFault(path: string): string | null {
  const folder = dirname(path);
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined || !found.isDirectory()) return `\`${folder}\` is not a folder: make it first`;
  if (found.uid !== process.getuid?.())
    return `\`${folder}\` belongs to another user: use a folder of your own`;
  if ((found.mode & OTHERS) !== 0) return `\`${folder}\` is open to others: set its mode to 700`;
  return null;
}

function socketFault(path: string): string | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isSocket()) return `\`${path}\` is not our socket any more`;
  if (found.uid !== process.getuid?.() || (found.mode & OTHERS) !== 0)
    return `\`${path}\` is open to others: remove it and start again`;
  return null;
}

/** A socket that nobody listens on any more is removed; anything else that stands there is left alone. */
async function removeStale(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`\`${path}\` is in the way of the admin socket: move it`);
  if (await answers(path)) throw new Error(`\`${path}\` is in use: another server owns this data folder`);
  rmSync(path, { force: true });
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
