/**
 * How the owner of a data folder tells who comes in by its admin socket: by the program that reads it from the kernel where
 * that can be had, else by the modes of folder and socket alone, with the reason. Never says that a peer is read where the
 * program was not tried out.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { obtainProgram } from "@sallyport/sandbox";
import { PEER_SOURCES, type Peer, type PeerCheck, peerFault, readPeer } from "@sallyport/server";

const NEVER = new AbortController().signal;

/** Built on first use, as the launcher is. */
export async function obtainPeerCheck(): Promise<PeerCheck> {
  if (process.platform !== "linux")
    return modesOnly(`${process.platform}: the program that reads a peer is for Linux`);
  try {
    const path = await obtainProgram("peer-uid", fileURLToPath(PEER_SOURCES));
    const fault = await trialFault(path);
    return fault === null ? Object.freeze({ kind: "program", path }) : modesOnly(fault);
  } catch (error) {
    return modesOnly(error instanceof Error ? error.message : String(error));
  }
}

function modesOnly(reason: string): PeerCheck {
  return Object.freeze({ kind: "modes_only", reason });
}

/** A connection of this process to itself: what is read must be its own user. */
async function trialFault(program: string): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-peer-"));
  const path = join(folder, "trial.sock");
  const server = createServer();
  const open: Socket[] = [];
  try {
    const read = new Promise<Peer | null>((resolve) => {
      server.once("connection", (socket) => {
        open.push(socket);
        resolve(readPeer(program, socket, NEVER));
      });
    });
    server.listen(path);
    await once(server, "listening");
    open.push(connect(path));
    return peerFault(await read);
  } finally {
    for (const socket of open) socket.destroy();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
