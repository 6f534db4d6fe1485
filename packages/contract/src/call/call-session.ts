/**
 * A session of calls between a remote host and its server: what both say to open one, and what each call is a MAC over.
 * Written once so that both sides mean the same bytes. The key itself never travels.
 */
import { z } from "zod";
import { defineWire } from "../wire/define-wire.ts";

/** A raw point of P-256, uncompressed: 65 bytes. */
const point = z.string().regex(/^[A-Za-z0-9_-]{87}$/, { error: "must be a point of P-256 in base64url" });

export const openSessionWire = defineWire(z.strictObject({ public_key: point }));
export const openedSessionWire = defineWire(
  z.strictObject({
    session_id: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
    public_key: point,
    expires_at_ms: z.number().min(0),
  }),
);

/** The scheme of the header `Authorization`: `SallyportSession ID.NUMBER.TIME.MAC`. */
export const CALL_SESSION_SCHEME = "SallyportSession";

export interface CallWords {
  readonly method: string;
  /** Origin and path, without a query. */
  readonly url: string;
  /** From 1 on; each serves once. */
  readonly number: number;
  readonly timeMs: number;
}

/** What stands before the bytes of the body. No field can hold a line break, so that no two calls have one text. */
export function callSessionMacInput({ method, url, number, timeMs }: CallWords): string {
  return `${method}\n${url}\n${number}\n${timeMs}\n`;
}

/** What a key is derived for: this session, and the holder that proved itself. */
export function callSessionInfo(sessionId: string, keyThumbprint: string): string {
  return `sallyport.call-session.1\n${sessionId}\n${keyThumbprint}`;
}
