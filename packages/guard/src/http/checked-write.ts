/**
 * Where bytes leave: everything that is written to a connection which was opened for requests. Each request is read from
 * the bytes, decided, and only then sent, as it was decided on. What is no request needs network connect to the endpoint.
 * A connection that was decided on as such passes untouched.
 * INVARIANT: nothing of the program runs between the decision and the bytes, and the bytes are the guard's own.
 */
import net from "node:net";
import type { AccessPart } from "../access-part.ts";
import { refusedError } from "../blocked-call.ts";
import { append, apply, bare, freeze, getOwnPropertyDescriptor, put } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { type Connection, connectionOf, isRaw, makeRaw } from "../network/connection.ts";
import { writeOwn, writeReleased } from "../network/released-write.ts";
import { replaceExport } from "../replace-export.ts";
import { isKnownRequest } from "./known-request.ts";
import { type Piece, bytesLength, fromLatin1, joined, ownBytes, part, plainLength } from "./own-bytes.ts";
import type { RequestHead } from "./request-head.ts";
import type { RequestNote } from "./noted-requests.ts";
import { noteWrittenTo, takeNote } from "./request-note.ts";
import { checkedRequest, connecting, requestPart } from "./request-part.ts";
import type { WireStep } from "./request-wire.ts";

type Written = (error?: unknown) => void;
// oxlint-disable-next-line typescript/no-explicit-any -- Node's own method, called with its own arguments
type NativeWrite = (...args: any[]) => unknown;

type Socket = object;

export function guardWrites(ground: Ground): void {
  replaceExport(
    net.Socket.prototype,
    "_writeGeneric",
    (original) =>
      function _writeGeneric(
        this: Socket,
        isMany: boolean,
        data: unknown,
        encoding: unknown,
        written: Written,
      ): unknown {
        const connection = connectionOf(this);
        if (connection === undefined || isRaw(connection))
          return apply(original, this, [isMany, data, encoding, written]);
        if (!isMany && isKnownRequest(ground, connection, data, encoding)) {
          // WHY no look at whether Node takes it for open: a text is kept as it is, and comes here again.
          writeReleased(original, this, connection, data, encoding, written);
          return undefined;
        }
        const send = (bytes: Uint8Array): void => {
          // WHY: Node would keep bytes for later where the program can reach them; the guard knows that it is open.
          if (getOwnPropertyDescriptor(this, "connecting")?.value !== false) put(this, "connecting", false);
          writeOwn(original, this, connection, bytes, written);
        };
        write(ground, connection, bare({ isMany, data, encoding, written, send, socket: this, original }));
        return undefined;
      },
  );
}

interface Writing {
  readonly isMany: boolean;
  readonly data: unknown;
  readonly encoding: unknown;
  readonly written: Written;
  readonly send: (bytes: Uint8Array) => void;
  readonly socket: Socket;
  readonly original: NativeWrite;
}

function write(ground: Ground, connection: Connection, writing: Writing): void {
  const { isMany, data, encoding, written, socket, original } = writing;
  if (connection.passage === "opening") {
    append(connection.waiting, (isOpen) => {
      if (!isOpen) written(new Error("the connection was closed before it was open"));
      else if (connection.passage === "raw") apply(original, socket, [isMany, data, encoding, written]);
      else write(ground, connection, writing);
    });
    return;
  }
  if (connection.passage !== "requests") {
    written(refusedError("this connection is written to by Node alone", bare({ syscall: "write" })));
    return;
  }
  if (!isMany && isPlainBody(connection, bare({ chunk: data, encoding }))) {
    writeReleased(original, socket, connection, data, encoding, written);
    return;
  }
  let bytes: Uint8Array;
  try {
    bytes = ownBytes(isMany ? (data as Piece[]) : [bare({ chunk: data, encoding })], connection.held);
  } catch (error) {
    written(error);
    return;
  }
  connection.held = undefined;
  follow(ground, connection, bare({ bytes, at: 0, passed: 0, out: [], writing }));
}

/** Bytes in the middle of a body: whatever they are, they cannot begin a request. */
function isPlainBody({ held, wire }: Connection, piece: Piece): boolean {
  const left = wire.plainLeft;
  if (held !== undefined || left === 0) return false;
  const length = plainLength(piece);
  if (length === undefined || length > left) return false;
  wire.skip(length);
  return true;
}

interface Following {
  readonly bytes: Uint8Array;
  /** Where the next step begins. */
  at: number;
  /** Up to where bytes were put to what is sent. */
  passed: number;
  readonly out: Uint8Array[];
  readonly writing: Writing;
}

function follow(ground: Ground, connection: Connection, following: Following): void {
  // WHY: a loop and not a call, since one write may hold any number of requests.
  for (;;) {
    const found = connection.passage === "raw" ? PASS : connection.wire.next(following.bytes, following.at);
    if (found.kind === "pass" || found.kind === "partial") {
      finish(connection, following, found);
      return;
    }
    let isAnswered = false;
    let isWaiting = false;
    decide(ground, connection, following, found, () => {
      if (isWaiting) follow(ground, connection, following);
      else isAnswered = true;
    });
    if (!isAnswered) {
      isWaiting = true;
      return;
    }
  }
}

type Over = Extract<WireStep, { readonly kind: "pass" | "partial" }>;

function finish(connection: Connection, following: Following, found: Over): void {
  const { bytes, out, passed, writing } = following;
  const end = found.kind === "partial" ? found.at : bytesLength(bytes);
  if (found.kind === "partial") connection.held = part(bytes, end, bytesLength(bytes));
  if (end > passed) append(out, part(bytes, passed, end));
  // WHY TLS: an empty write makes it say what it has to say itself, such as that hands be shaken again.
  if (out.length === 0 && !connection.isTls) writing.written();
  else writing.send(out.length === 1 ? (out[0] as Uint8Array) : joined(out));
}

type Judged = Extract<WireStep, { readonly kind: "head" | "message" | "unknown" }>;

/** Goes on where it passes; else the write fails, and the connection with it. */
function decide(
  ground: Ground,
  connection: Connection,
  following: Following,
  found: Judged,
  goOn: () => void,
): void {
  const ask = (parts: readonly AccessPart[], passed: () => void): void => {
    const path = parts[0]?.target;
    ground.decider.later(parts, bare({ syscall: "write", path }), (blocked) => {
      if (blocked !== undefined) following.writing.written(blocked);
      else {
        passed();
        goOn();
      }
    });
  };
  switch (found.kind) {
    case "head":
      decideHead(connection, following, found, ask);
      return;
    case "message":
      following.at = found.at;
      ask([requestPart("send", connection.websocket as string, connection)], () => undefined);
      return;
    case "unknown":
      ask([connecting(connection)], () => makeRaw(following.writing.socket, connection));
  }
}

/** Asks nothing where there are no parts. */
type Ask = (parts: readonly AccessPart[], passed: () => void) => void;

function decideHead(
  connection: Connection,
  following: Following,
  { at, end, head }: Extract<WireStep, { readonly kind: "head" }>,
  ask: Ask,
): void {
  const request = checkedRequest(connection, head);
  if (request === undefined) {
    ask([connecting(connection)], () => makeRaw(following.writing.socket, connection));
    return;
  }
  const { own, parts, target, opens } = request;
  const exact = noteWrittenTo(following.writing.socket);
  const fits = ({ host, port, target: noted }: RequestNote): boolean =>
    host === connection.host && port === connection.port && noted === head.target;
  const known = exact !== undefined && fits(exact) ? exact : undefined;
  const note = known === undefined ? takeNote(fits) : (takeNote((one) => one === known) ?? known);
  const passed = (): void => {
    if (target !== head.target) rewrite(following, at, end, head, target);
    following.at = end;
    if (opens) makeRaw(following.writing.socket, connection);
    if (head.upgrade === "websocket") connection.websocket = parts[0]?.target;
  };
  const { decided } = connection;
  connection.decided = undefined;
  const isDecided =
    decided !== undefined &&
    own !== undefined &&
    decided.operation === own.operation &&
    decided.url === own.url &&
    // INVARIANT: of two requests with one URL the decision is for the one that it was asked for.
    (known === undefined || decided.note === known);
  if (isDecided) ask(NOTHING, passed);
  else if (note === undefined) ask(parts, passed);
  else note.within(() => ask(parts, passed));
}

const PASS = freeze(bare({ kind: "pass" as const }));
const NOTHING: readonly AccessPart[] = freeze([]);

/** The request line as it was decided on, all else as it was. */
function rewrite(following: Following, at: number, end: number, head: RequestHead, target: string): void {
  const { bytes, out, passed } = following;
  if (at > passed) append(out, part(bytes, passed, at));
  append(out, fromLatin1(`${head.method} ${target}${head.tail}`));
  following.passed = end;
}
