/**
 * The door by which `sallyport run` gets a gate for its program: a unix socket in the data folder, the owner's alone. A
 * first line says what the program runs by, a second one what stands around it; from then on the connection is the gate of
 * that program, or of the broker of its sandbox, and nothing else.
 * INVARIANT: whoever comes through here is guarded code from its first byte on: it asks and never decides.
 * Trusts the owner of the folder to start programs; trusts nothing that the program then sends.
 */
import { randomUUID } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";
import { type Server, type Socket, createServer } from "node:net";
import {
  type Parsed,
  type PermissionMode,
  SENSITIVE_IMPORT_NAMES,
  type SandboxProfile,
  type Subject,
  fault,
  parseSubject,
  sameSubject,
  sandboxProfileWire,
  subjectLabel,
} from "@sallyport/contract";
import type { Sallyport } from "../create-sallyport.ts";
import { readDoorLine } from "./door-line.ts";
import { LearnedBooks } from "./run/learned-books.ts";

/** What `run` says; everything but the manifest is the word of the person who runs it. */
export interface RunWords {
  readonly manifest: string;
  readonly root: string;
  /** A subject that the owner has registered, in place of the manifest. */
  readonly subject: { readonly type: string; readonly name: string } | null;
  /** Left out: a session of this run, which ends with it. */
  readonly sessionKey: string | null;
  readonly taskId: string | null;
  readonly interactive: boolean;
  /** Nothing but deny rules and denials blocks, and what is asked is taken down for `learned`. */
  readonly learns: boolean;
}

/** In place of {@link RunWords}: what the programs of a session were seen to need. Answered with one line, once. */
export interface LearnedWords {
  readonly learned: string;
}

export type RunAnswer =
  | {
      readonly ok: true;
      readonly subject: Subject;
      readonly sessionKey: string;
      readonly mode: PermissionMode;
      /** Sensitive imports that the program may use. */
      readonly imports: readonly string[];
      /** What a sandbox is made from: the facts that its broker will hear first. */
      readonly changes: readonly unknown[];
    }
  | { readonly ok: false; readonly message: string };

/** What stands around the program, said once it is known and before anything runs. */
export interface RunStand {
  /** On the wire. */
  readonly profile: unknown;
  /** Who speaks here: the program's own guard, or the broker of the sandbox around it. */
  readonly enforcer: "guard" | "sandbox";
  /** Another connection of the same run has said it before. */
  readonly joins: boolean;
}

export interface RunDoor {
  close(): Promise<void>;
}

const OWNER_ONLY = 0o600;
const FIRST_LINE_MS = 10_000;
const CONNECTIONS_MAX = 1024;

export function openRunDoor(sallyport: Sallyport, path: string): Promise<RunDoor> {
  const sockets = new Set<Socket>();
  const held = new Set<Promise<void>>();
  const books = new LearnedBooks();
  const server = createServer({ allowHalfOpen: false }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const visit = letIn(sallyport, socket, books).catch(() => void socket.destroy());
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

async function letIn(sallyport: Sallyport, socket: Socket, books: LearnedBooks): Promise<void> {
  socket.setTimeout(FIRST_LINE_MS, () => socket.destroy());
  const line = await readDoorLine(socket);
  const words = wordsOf(line);
  socket.setTimeout(0);
  const learned = (line as Partial<LearnedWords> | null)?.learned;
  if (typeof learned === "string") {
    socket.end(`${JSON.stringify({ seen: books.take(learned) ?? null })}\n`);
    return;
  }
  if (words === undefined) {
    refuse(socket, "the words of this run are not understood: use the same version on both sides");
    return;
  }
  const subject = subjectOf(sallyport, words);
  if (!subject.ok) refuse(socket, subject.message);
  else await hold(sallyport, socket, subject.value, words, books);
}

function subjectOf({ registry }: Sallyport, { subject, root, manifest }: RunWords): Parsed<Subject> {
  if (subject === null) {
    const registered = registry.registerLocal({ root, manifest });
    return registered.ok
      ? { ok: true, value: registered.subject }
      : fault("invalid_manifest", "manifest", registered.message);
  }
  const named = parseSubject(subject.type, subject.name);
  if (!named.ok || registry.declarations().some((one) => sameSubject(one.subject, named.value))) return named;
  return fault(
    "invalid_subject",
    "subject",
    `\`${subjectLabel(named.value)}\` is not registered with the owner of this folder: run by \`--manifest\``,
  );
}

/** The frame stands until the program has gone; a session of the run's own ends with it. */
async function hold(
  sallyport: Sallyport,
  socket: Socket,
  subject: Subject,
  words: RunWords,
  books: LearnedBooks,
): Promise<void> {
  const { runtime, service } = sallyport;
  const sessionKey = words.sessionKey ?? `run-${randomUUID()}`;
  const user = { id: `local:${process.getuid?.() ?? 0}` };
  const { taskId, interactive, learns: observe } = words;
  await runtime.run(subject, { user, sessionKey, taskId, interactive, observe }, async () => {
    const premises = await service.gate.factsOf(runtime.caller());
    const imports = observe ? SENSITIVE_IMPORT_NAMES : importsOf(sallyport, subject);
    say(socket, { ok: true, subject, sessionKey, imports, ...premises } satisfies RunAnswer);
    const stand = standOf(await readDoorLine(socket));
    if (stand === undefined) {
      refuse(socket, "what stands around this run is not understood: use the same version on both sides");
      return;
    }
    const { profile, enforcer, joins } = stand;
    const caller = { ...runtime.caller(), sandboxProfile: profile, confined: isComplete(profile) };
    if (!joins) await service.recordSandbox(caller);
    const gone = new Promise<void>((resolve) => {
      const session = service.gate.attachChild(socket, caller, {
        enforcer,
        imports,
        onAsked: observe ? books.listen(sessionKey) : undefined,
        onClosed: () => resolve(),
      });
      socket.once("close", () => session.close());
    });
    say(socket, { ok: true });
    await gone;
  });
  if (words.sessionKey !== null) return;
  const session = { organizationId: null, userId: user.id, sessionKey };
  await runtime.runAsHost({}, () => service.endSession(runtime.caller(), session));
}

/** The process is the subject's own: it has the sensitive imports that its manifest lists. */
function importsOf({ registry }: Sallyport, subject: Subject): readonly string[] {
  const entry = registry.enter(subject, { use: "own" });
  if (!entry.ok) return [];
  entry.leave();
  return entry.allowedImports;
}

function refuse(socket: Socket, message: string): void {
  socket.end(`${JSON.stringify({ ok: false, message } satisfies RunAnswer)}\n`);
}

function say(socket: Socket, words: object): void {
  socket.write(`${JSON.stringify(words)}\n`);
}

type Stand = Omit<RunStand, "profile"> & { readonly profile: SandboxProfile };

function standOf(value: unknown): Stand | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { profile, enforcer, joins } = value as Partial<Record<keyof RunStand, unknown>>;
  const parsed = sandboxProfileWire.parse(profile);
  if (!parsed.ok || typeof joins !== "boolean") return undefined;
  return enforcer === "guard" || enforcer === "sandbox"
    ? { profile: parsed.value, enforcer, joins }
    : undefined;
}

/** INVARIANT: only a wall of the kernel lets undecided actions run confined. */
function isComplete({ mode, notEnforced }: SandboxProfile): boolean {
  return mode === "os" && !notEnforced.some((name) => name.endsWith("_not_asked"));
}

function wordsOf(value: unknown): RunWords | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { manifest, root, subject, sessionKey, taskId, interactive, learns } = value as Partial<
    Record<keyof RunWords, unknown>
  >;
  if (typeof manifest !== "string" || typeof root !== "string" || typeof interactive !== "boolean")
    return undefined;
  if (typeof learns !== "boolean") return undefined;
  if (!isTextOrNull(sessionKey) || !isTextOrNull(taskId) || !isNameOrNull(subject)) return undefined;
  return { manifest, root, subject, sessionKey, taskId, interactive, learns };
}

function isNameOrNull(value: unknown): value is RunWords["subject"] {
  if (value === null) return true;
  const { type, name } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof type === "string" && typeof name === "string";
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || (typeof value === "string" && /^[^\p{Cc}]{1,256}$/u.test(value));
}
