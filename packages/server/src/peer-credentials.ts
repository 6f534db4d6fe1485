/**
 * Who is at the other end of the admin socket. Node cannot ask the kernel (`SO_PEERCRED`), so a small program of our own is
 * handed the connection for a moment and says it (`native/peer/peer-uid.c`). Trusts that program and the kernel; whatever
 * else it says, or does not say, is nobody.
 */
import { spawn } from "node:child_process";
import type { Socket } from "node:net";

/** Where the source of the program is; whoever composes the server builds it. */
export const PEER_SOURCES = new URL("../native/peer/", import.meta.url);

/**
 * How a peer is told. `modes_only`: by nothing but who may open folder and socket; the reason is for people, and whoever
 * says so shows it to them.
 */
export type PeerCheck =
  | { readonly kind: "program"; readonly path: string }
  | { readonly kind: "modes_only"; readonly reason: string };

export interface Peer {
  readonly uid: number;
  /** 0: of another namespace of processes. */
  readonly pid: number;
}

const ROOT = 0;
/** WHY so long: on a machine that is overloaded the owner is let in late; nobody is let in for being late. */
const ANSWER_MS = 60_000;
const ANSWER = /^([0-9]{1,10}) ([0-9]{1,10})\n$/;

/**
 * The peer of a connection, and `null` where it cannot be told. Called in the turn in which the connection came: it stops
 * reading it, so that no byte is lost before whoever reads it next.
 */
export async function readPeer(program: string, socket: Socket, closing: AbortSignal): Promise<Peer | null> {
  socket.pause();
  return new Promise((resolve) => {
    // WHY the fourth: the first three are made blocking when a program is started, for this process as well.
    const child = spawn(program, [], {
      stdio: ["ignore", "pipe", "ignore", socket],
      cwd: "/",
      env: {},
      signal: closing,
      timeout: ANSWER_MS,
      killSignal: "SIGKILL",
    });
    child.once("error", () => resolve(null));
    let said = "";
    child.stdout?.setEncoding("latin1").on("data", (part: string) => (said += part));
    child.once("close", (code) => resolve(code === 0 ? peerOf(said) : null));
  });
}

/** What is wrong with a peer; `null`: it is the owner of this process, or root. */
export function peerFault(peer: Peer | null): string | null {
  if (peer === null) return "the user at the other end of the admin socket could not be told";
  if (peer.uid === ROOT || peer.uid === process.getuid?.()) return null;
  return `user ${peer.uid} (process ${peer.pid}) came in by the admin socket, which is its owner's`;
}

function peerOf(said: string): Peer | null {
  const [, uid, pid] = ANSWER.exec(said) ?? [];
  if (uid === undefined || pid === undefined) return null;
  return Object.freeze({ uid: Number(uid), pid: Number(pid) });
}
