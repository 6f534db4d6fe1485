/**
 * Two connected sockets for one branch: a program inherits the one end, and the other is joined to the branch. Made in the
 * worker of the gate, so that foreign code of the main thread has no part in it. Node has no `socketpair`; a listener with a
 * name that nobody knows stands in for it for as long as one connection takes.
 */
import { once } from "node:events";
import { type Server, Socket, connect, createServer } from "node:net";
import type { Duplex } from "node:stream";

const NAME_BYTES = 24;

/** WHY not above: it takes a while to load, and most processes start no others. */
const crypto = () => import("node:crypto");

export interface BranchPair {
  /** For the program. */
  readonly fd: number;
  readonly keptFd: number;
  /** Closes the program's end in this process. */
  readonly release: () => void;
}

/** Rejects where this system gives no such pair. */
export async function openBranchPair(branch: Duplex): Promise<BranchPair> {
  const { randomBytes } = await crypto();
  const name = `\0sallyport-${randomBytes(NAME_BYTES).toString("hex")}`;
  const server = createServer({ pauseOnConnect: true });
  server.maxConnections = 1;
  const accepted = new Promise<Socket>((resolve, reject) => {
    server.once("connection", resolve);
    server.once("error", reject);
  });
  await listening(server, name);
  const far = connect({ path: name });
  // INVARIANT: nothing is read at this end: what comes is for the program.
  far.pause();
  far.on("error", () => undefined);
  const connected = new Promise<void>((resolve, reject) => {
    far.once("connect", resolve);
    far.once("error", reject);
  });
  try {
    const [near] = await Promise.all([accepted, connected]);
    near.on("error", () => undefined);
    await requireSame(far, near);
    const fds = { fd: fdOf(far), keptFd: fdOf(near) };
    join(near, branch);
    return { ...fds, release: () => far.destroy() };
  } catch (error) {
    far.destroy();
    throw error;
  } finally {
    server.close();
  }
}

function listening(server: Server, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(name, resolve);
  });
}

/** WHY: names of listeners can be read by others of this user, and whoever is faster would have the gate of this subject. */
async function requireSame(far: Socket, near: Socket): Promise<void> {
  const { randomBytes, timingSafeEqual } = await crypto();
  const sign = randomBytes(NAME_BYTES);
  far.write(sign);
  let seen: Buffer | null = near.read(NAME_BYTES) as Buffer | null;
  while (seen === null) {
    await Promise.race([once(near, "readable"), once(near, "close")]);
    if (near.destroyed || near.readableEnded) break;
    seen = near.read(NAME_BYTES) as Buffer | null;
  }
  if (seen !== null && seen.length === NAME_BYTES && timingSafeEqual(seen, sign)) return;
  near.destroy();
  throw new Error("the two ends are not of one pair");
}

function join(near: Socket, branch: Duplex): void {
  near.once("close", () => branch.destroy());
  branch.once("close", () => near.destroy());
  branch.pipe(near);
  near.pipe(branch);
}

function fdOf(socket: Socket): number {
  const fd = (socket as unknown as { readonly _handle?: { readonly fd?: unknown } | null })._handle?.fd;
  if (typeof fd !== "number" || fd < 0) throw new Error("a socket without a descriptor");
  return fd;
}
