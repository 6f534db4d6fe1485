/**
 * The door by which `sallyport run` gets a gate for its program: a unix socket in the data folder, the owner's alone. One
 * line says what the program runs by; from then on the connection is the gate of that program and nothing else.
 * INVARIANT: whoever comes through here is guarded code from its first byte on: it asks and never decides.
 * Trusts the owner of the folder to start programs; trusts nothing that the program then sends.
 */
import { randomUUID } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";
import { type Server, type Socket, createServer } from "node:net";
import type { Subject } from "@sallyport/contract";
import type { Sallyport } from "../create-sallyport.ts";
import { readDoorLine } from "./door-line.ts";

/** What `run` says; everything but the manifest is the word of the person who runs it. */
export interface RunWords {
  readonly manifest: string;
  readonly root: string;
  /** Left out: a session of this run, which ends with it. */
  readonly sessionKey: string | null;
  readonly taskId: string | null;
  readonly interactive: boolean;
}

export type RunAnswer =
  | { readonly ok: true; readonly subject: Subject; readonly sessionKey: string }
  | { readonly ok: false; readonly message: string };

export interface RunDoor {
  close(): Promise<void>;
}

const OWNER_ONLY = 0o600;
const FIRST_LINE_MS = 10_000;
const CONNECTIONS_MAX = 1024;

export function openRunDoor(sallyport: Sallyport, path: string): Promise<RunDoor> {
  const sockets = new Set<Socket>();
  const held = new Set<Promise<void>>();
  const server = createServer({ allowHalfOpen: false }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const visit = letIn(sallyport, socket).catch(() => void socket.destroy());
    held.add(visit);
    void visit.finally(() => held.delete(visit));
  });
  server.maxConnections = CONNECTIONS_MAX;
  return listening(server, path).then(() => ({
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      // INVARIANT: a session that ends with its program has ended before the service stops.
      await Promise.all([closed, ...held]);
    },
  }));
}

/** WHY the mask: the socket is never open to others, not even between its making and its closing. */
function listening(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    const mask = process.umask(0o177);
    server.listen(path, () => {
      chmodSync(path, OWNER_ONLY);
      server.off("error", reject);
      resolve();
    });
    process.umask(mask);
  });
}

async function letIn(sallyport: Sallyport, socket: Socket): Promise<void> {
  socket.setTimeout(FIRST_LINE_MS, () => socket.destroy());
  const words = wordsOf(await readDoorLine(socket));
  socket.setTimeout(0);
  if (words === undefined) {
    refuse(socket, "the words of this run are not understood: use the same version on both sides");
    return;
  }
  const registered = sallyport.registry.registerLocal({ root: words.root, manifest: words.manifest });
  if (!registered.ok) {
    refuse(socket, registered.message);
    return;
  }
  await hold(sallyport, socket, registered.subject, words);
}

/** The frame stands until the program has gone; a session of the run's own ends with it. */
async function hold(sallyport: Sallyport, socket: Socket, subject: Subject, words: RunWords): Promise<void> {
  const { runtime, service } = sallyport;
  const sessionKey = words.sessionKey ?? `run-${randomUUID()}`;
  const user = { id: `local:${process.getuid?.() ?? 0}` };
  const { taskId, interactive } = words;
  await runtime.run(subject, { user, sessionKey, taskId, interactive }, async () => {
    const gone = new Promise<void>((resolve) => {
      const session = service.gate.attachChild(socket, runtime.caller(), { onClosed: () => resolve() });
      socket.once("close", () => session.close());
    });
    answer(socket, { ok: true, subject, sessionKey });
    await gone;
  });
  if (words.sessionKey !== null) return;
  const session = { organizationId: null, userId: user.id, sessionKey };
  await runtime.runAsHost({}, () => service.endSession(runtime.caller(), session));
}

function refuse(socket: Socket, message: string): void {
  socket.end(`${JSON.stringify({ ok: false, message } satisfies RunAnswer)}\n`);
}

function answer(socket: Socket, words: RunAnswer): void {
  socket.write(`${JSON.stringify(words)}\n`);
}

function wordsOf(value: unknown): RunWords | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { manifest, root, sessionKey, taskId, interactive } = value as Partial<
    Record<keyof RunWords, unknown>
  >;
  if (typeof manifest !== "string" || typeof root !== "string" || typeof interactive !== "boolean")
    return undefined;
  if (!isTextOrNull(sessionKey) || !isTextOrNull(taskId)) return undefined;
  return { manifest, root, sessionKey, taskId, interactive };
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || (typeof value === "string" && /^[^\p{Cc}]{1,256}$/u.test(value));
}
