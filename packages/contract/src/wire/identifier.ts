/**
 * Identifiers and timestamps as they travel. Ids are branded, so that one kind cannot stand for another.
 * Ids that Sallyport makes are ASCII; ids that a host makes are text as given, bounded and without control characters.
 */
import { z } from "zod";

export const ID_LENGTH_MAX = 128;
export const HOST_ID_LENGTH_MAX = 256;

const ID_MESSAGE = `must be an id of 1 to ${ID_LENGTH_MAX} characters: letters, digits and any of ._:- (not first)`;
const HOST_ID_MESSAGE = `must be text of 1 to ${HOST_ID_LENGTH_MAX} characters without control characters`;

const ownId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, { error: ID_MESSAGE });
const hostId = z.string().regex(/^[^\u0000-\u001f\u007f-\u009f]{1,256}$/, { error: HOST_ID_MESSAGE });
const principalId = z.union([z.int(), hostId], {
  error: `must be an integer, or ${HOST_ID_MESSAGE.slice("must be ".length)}`,
});

export const requestIdSchema = ownId.brand<"RequestId">();
export const decisionIdSchema = ownId.brand<"DecisionId">();
export const approvalIdSchema = ownId.brand<"ApprovalId">();
export const denialIdSchema = ownId.brand<"DenialId">();
export const ruleIdSchema = ownId.brand<"RuleId">();
export const contractIdSchema = ownId.brand<"ContractId">();
export const actionIdSchema = ownId.brand<"ActionId">();
export const eventIdSchema = ownId.brand<"EventId">();
/** A pointer to something recorded elsewhere: a rule, an approval, an environment, a violation. */
export const refSchema = ownId.brand<"Ref">();

/** An empty string is no session key. */
export const sessionKeySchema = hostId.brand<"SessionKey">();
export const taskIdSchema = hostId.brand<"TaskId">();
/** As the host gives it: `21` and `"21"` are two users. */
export const userIdSchema = principalId.brand<"UserId">();
/** Zero is an organization. */
export const organizationIdSchema = principalId.brand<"OrganizationId">();

export type RequestId = z.output<typeof requestIdSchema>;
export type DecisionId = z.output<typeof decisionIdSchema>;
export type ApprovalId = z.output<typeof approvalIdSchema>;
export type DenialId = z.output<typeof denialIdSchema>;
export type RuleId = z.output<typeof ruleIdSchema>;
export type ContractId = z.output<typeof contractIdSchema>;
export type ActionId = z.output<typeof actionIdSchema>;
export type EventId = z.output<typeof eventIdSchema>;
export type Ref = z.output<typeof refSchema>;
export type SessionKey = z.output<typeof sessionKeySchema>;
export type TaskId = z.output<typeof taskIdSchema>;
export type UserId = z.output<typeof userIdSchema>;
export type OrganizationId = z.output<typeof organizationIdSchema>;

/** RFC 3339 in UTC, kept as it was written. */
export const timestampSchema = z.iso
  .datetime({ error: "must be a time in UTC such as `2026-01-31T09:30:00Z`" })
  .max(30, { error: "must have at most nine digits of a second" })
  .brand<"Timestamp">();
export type Timestamp = z.output<typeof timestampSchema>;

/** What was shown to the person who decides: SHA-256 in lower-case hex. */
export const digestSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/, { error: "must be a SHA-256 digest: 64 lower-case hex digits" })
  .brand<"Digest">();
export type Digest = z.output<typeof digestSchema>;

export const REFS_MAX = 1000;
export const refListSchema = z.array(refSchema).max(REFS_MAX);

export const MESSAGE_LENGTH_MAX = 2000;
/** Words for a person; never read by a program. */
export const messageSchema = z.string().min(1).max(MESSAGE_LENGTH_MAX);
