/**
 * The audit log for people: rows with the columns that it is searched by, following, verifying, counts over time; and
 * the stream that says that something changed without saying what.
 */
import { z } from "zod";
import { DECISION_SOURCES, OUTCOMES } from "../decision.ts";
import { RESOURCE_TYPES, type ResourceType } from "../resource.ts";
import { SUBJECT_TYPES } from "../subject.ts";
import { FILESYSTEM_TARGET_BYTES_MAX } from "../target/filesystem.ts";
import { type WireType, defineWire } from "../wire/define-wire.ts";
import { messageSchema, organizationIdSchema, timestampSchema, userIdSchema } from "../wire/identifier.ts";
import { CURSOR_LENGTH_MAX, pageSchema } from "./admin-page.ts";

const id = z.string().max(256);

const eventViewSchema = z.strictObject({
  node: id,
  seq: z.int().min(1),
  time: timestampSchema,
  type: z.string().max(64),
  subject_type: z.enum(SUBJECT_TYPES).nullable(),
  subject_name: id.nullable(),
  resource_type: z.enum(RESOURCE_TYPES as [ResourceType, ...ResourceType[]]).nullable(),
  operation: z.string().max(64).nullable(),
  /** Masked. */
  target: z.string().max(FILESYSTEM_TARGET_BYTES_MAX).nullable(),
  organization_id: organizationIdSchema.nullable(),
  user_id: userIdSchema.nullable(),
  session_key: id.nullable(),
  task_id: id.nullable(),
  request_id: id.nullable(),
  decision: z.enum(OUTCOMES).nullable(),
  decision_source: z.enum(DECISION_SOURCES).nullable(),
  /** Of a check its code, of a person's act its action. */
  code: id.nullable(),
  hash: z.string().max(128),
  /** The CloudEvent as it was hashed: canonical JSON. WHY text: keys in it are not respelled. */
  body: z.string().max(4_194_304),
});
export const eventViewWire = defineWire(eventViewSchema);
export type EventView = WireType<typeof eventViewWire>;
export const eventPageWire = defineWire(pageSchema(eventViewSchema));

const followCursor = z.string().max(CURSOR_LENGTH_MAX * 16);

/** What arrives while the log is followed. Give `cursor` back to go on behind it. */
export const followedWire = defineWire(
  z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("event"), event: eventViewSchema, cursor: followCursor }),
    z.strictObject({
      kind: z.literal("removed"),
      node: id,
      from_seq: z.int(),
      to_seq: z.int(),
      cursor: followCursor,
    }),
  ]),
);
export type FollowedView = WireType<typeof followedWire>;

export const verifyViewWire = defineWire(
  z.strictObject({
    ok: z.boolean(),
    /** In words: how much was verified, or which row is the first bad one. */
    message: messageSchema,
    /** The first bad row. */
    node: id.nullable(),
    seq: z.int().nullable(),
    rows: z.int().min(0).nullable(),
  }),
);
export type VerifyView = WireType<typeof verifyViewWire>;

export const STATS_BUCKETS_MAX = 2000;

/** How many events of a decision fell into each span of time; spans without any are left out. */
export const eventStatsWire = defineWire(
  z.strictObject({
    bucket_ms: z.int().min(1),
    buckets: z
      .array(
        z.strictObject({
          from: timestampSchema,
          decision: z.enum(OUTCOMES),
          count: z.int().min(1),
        }),
      )
      .max(STATS_BUCKETS_MAX * OUTCOMES.length),
  }),
);
export type EventStats = WireType<typeof eventStatsWire>;

export const LIVE_TOPICS = [
  "requests",
  "approvals",
  "denials",
  "rules",
  "mode",
  "freeze",
  "sessions",
  "jobs",
  "deliveries",
  "events",
] as const;
export type LiveTopic = (typeof LIVE_TOPICS)[number];

export const liveChangeWire = defineWire(
  z.strictObject({
    kind: z.enum(["hello", "changed"]),
    revision: z.int().min(0),
    what: z.array(z.enum(LIVE_TOPICS)).max(LIVE_TOPICS.length),
  }),
);
export type LiveChange = WireType<typeof liveChangeWire>;
