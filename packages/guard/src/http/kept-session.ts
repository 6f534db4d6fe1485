/**
 * What the guard keeps of an HTTP/2 session whose streams are decided. Trusts what Node has put on a session that the
 * program has not had yet; must never read there later what a decision rests on.
 */
import type { ClientHttp2Session as Session } from "node:http2";
import { bare, isSymbolOf, ownKeys } from "../captured.ts";
import type { Connection } from "../network/connection.ts";
import type { HeldConnection } from "../network/guard-sockets.ts";

/** A session whose streams are decided. */
export interface Kept {
  readonly connection: Connection;
  /** What Node says to be asked where a request names nothing. */
  readonly authority: string | undefined;
  /** Until it is dialled. */
  held: HeldConnection | undefined;
  /** Somebody asked for a stream. */
  isAsked: boolean;
}

/** Of a session that was made just now. */
export function keptFor(session: Session, connection: Connection, held: HeldConnection | undefined): Kept {
  const symbol = symbolIn(session, "authority");
  const said =
    symbol === undefined ? undefined : (session as unknown as Record<PropertyKey, unknown>)[symbol];
  const authority = typeof said === "string" ? said : undefined;
  return bare({ connection, authority, held, isAsked: held === undefined });
}

/** One of Node's own names for what it keeps on a session. */
export function symbolIn(session: object, name: string): PropertyKey | undefined {
  const keys = ownKeys(session);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    if (isSymbolOf(key, name)) return key;
  }
  return undefined;
}
