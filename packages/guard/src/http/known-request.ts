/**
 * A request that a connection has asked for before, letter by letter, and that memory alone lets pass: declared, without a
 * body, and in one text. Reading it again would say the same again; whether it may pass is decided each time.
 * Trusts texts alone, which nobody can change. INVARIANT: what differs in anything, or is not plainly allowed, goes the way of
 * all other bytes, and false decides nothing.
 */
import { bare, charCodeAt } from "../captured.ts";
import type { Ground } from "../ground.ts";
import type { Connection, KnownRequest } from "../network/connection.ts";
import { hasNames } from "../network/endpoint.ts";
import { dropNote } from "./noted-requests.ts";
import { parseHead } from "./request-head.ts";
import { isTellingApart } from "./request-note.ts";
import { checkedRequest } from "./request-part.ts";

const LATIN1_MAX = 0xff;

/** Whether what is written is one request that may leave as it is; it is then on record. */
export function isKnownRequest(
  ground: Ground,
  connection: Connection,
  data: unknown,
  encoding: unknown,
): boolean {
  // WHY: in whose name requests of several subjects are decided is told by their notes.
  if (typeof data !== "string" || encoding !== "latin1" || isTellingApart()) return false;
  const { passage, held, decided, hasOtherName, wire } = connection;
  if (passage !== "requests" || held !== undefined || decided !== undefined || hasOtherName) return false;
  if (!wire.isAtHead) return false;
  const last = connection.known;
  const known =
    last !== undefined && last.text === data && isCurrent(connection, last)
      ? last
      : readRequest(ground, connection, data);
  connection.known = known;
  if (known === undefined || !ground.decider.passes(known.question)) return false;
  dropNote(connection.host, connection.port, known.target);
  return true;
}

function isCurrent({ host, address }: Connection, known: KnownRequest): boolean {
  if (known.address !== address) return false;
  return known.aliases === undefined || hasNames(host, known.aliases);
}

/** `undefined` where it is anything but one plain request of this connection's origin, written as it is decided on. */
function readRequest(ground: Ground, connection: Connection, text: string): KnownRequest | undefined {
  if (!isLatin1(text)) return undefined;
  const head = parseHead(text);
  if (head === undefined || head.body.kind !== "none" || head.upgrade !== "none") return undefined;
  const request = checkedRequest(connection, head);
  const part = request?.parts[0];
  if (request?.own === undefined || part === undefined || request.opens) return undefined;
  if (request.own.operation !== "receive" || request.target !== head.target) return undefined;
  const question = ground.decider.known(part);
  if (question === undefined) return undefined;
  const { address, aliases } = part;
  return bare({ text, target: head.target, question, address, aliases });
}

/** WHY: of a character beyond these only half is written, and that half may end a line. */
function isLatin1(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (charCodeAt(text, index) > LATIN1_MAX) return false;
  return true;
}
