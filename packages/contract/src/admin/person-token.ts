/**
 * Tokens of a person for scripts: `Authorization: Bearer sallyport_…`. Each reads a part of the administration API for a
 * while. A token decides and changes nothing, whoever it belongs to, and is told once.
 */
import { z } from "zod";
import { type WireType, defineWire } from "../wire/define-wire.ts";
import { HOST_ID_LENGTH_MAX, timestampSchema, userIdSchema } from "../wire/identifier.ts";
import { pageSchema } from "./admin-page.ts";

/**
 * What a token may read. `requests`: requests and their details. `policy`: approvals, denials, rules, mode, freeze.
 * `runs`: jobs, sessions, manifests, state, sandbox profiles, notifications. `events`: the log and its streams.
 * `check`: asking what would happen, which registers nothing.
 */
export const TOKEN_SCOPES = ["requests", "policy", "runs", "events", "check"] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

const DAY_MS = 86_400_000;
export const TOKEN_TTL_MAX_MS = 90 * DAY_MS;

const scopes = z
  .array(z.enum(TOKEN_SCOPES))
  .min(1)
  .max(TOKEN_SCOPES.length)
  .refine((given) => new Set(given).size === given.length, { error: "names a scope twice: name it once" });
/** For people: what the token is for. */
const tokenName = z.string().min(1).max(HOST_ID_LENGTH_MAX);

export const tokenWordsWire = defineWire(
  z.strictObject({ name: tokenName, scopes, ttl_ms: z.int().min(60_000).max(TOKEN_TTL_MAX_MS) }),
);
export type TokenWords = WireType<typeof tokenWordsWire>;

const tokenViewSchema = z.strictObject({
  id: z.string().min(1).max(128),
  name: tokenName,
  scopes,
  /** Whose it is: it sees what this person may see, for as long as they may. */
  user_id: userIdSchema,
  user_name: z.string().min(1).max(HOST_ID_LENGTH_MAX),
  created_at: timestampSchema,
  expires_at: timestampSchema,
  /** To the minute. */
  last_used_at: timestampSchema.nullable(),
});
export type TokenView = WireType<{ readonly schema: typeof tokenViewSchema }>;
export const tokenPageWire = defineWire(pageSchema(tokenViewSchema));

/** The one time that the token itself travels. */
export const madeTokenWire = defineWire(
  z.strictObject({ token: z.string().min(1).max(256), view: tokenViewSchema }),
);
export type MadeToken = WireType<typeof madeTokenWire>;
