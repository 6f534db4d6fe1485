/**
 * What a server is told by its host in a file: whom to notify, where people sign in, who may read its figures. Holds
 * secrets; it is read where it lies and travels nowhere.
 */
import { z } from "zod";
import { type WireType, defineWire } from "../wire/define-wire.ts";
import { HOST_ID_LENGTH_MAX } from "../wire/identifier.ts";

const URL_LENGTH_MAX = 8192;
const SECRET_LENGTH_MAX = 4096;
const LIST_MAX = 64;

const name = z.string().min(1).max(HOST_ID_LENGTH_MAX);
const url = z.string().min(1).max(URL_LENGTH_MAX);
const secret = z.string().min(1).max(SECRET_LENGTH_MAX);

const webhookSchema = z.strictObject({
  /** Names it in the outbox and in the console; keep it when the URL changes. */
  id: name,
  url,
  form: z.enum(["event", "slack"]),
  secret: secret.min(32),
});

const oidcSchema = z.strictObject({
  issuer: url,
  client_id: secret,
  client_secret: secret,
  scope: name.optional(),
  /** Which claim holds the groups of a person. */
  groups_claim: name.optional(),
  /** WHY a list: names of groups are the provider's, and keys of JSON are ours. */
  groups: z.array(z.strictObject({ name, roles: z.array(name).min(1).max(LIST_MAX) })).max(LIST_MAX),
  organization_claim: name.optional(),
});

export const serverSettingsWire = defineWire(
  z.strictObject({
    webhooks: z
      .array(webhookSchema)
      .max(LIST_MAX)
      .refine((hooks) => new Set(hooks.map(({ id }) => id)).size === hooks.length, {
        error: "names a webhook twice: each needs an id of its own",
      })
      .optional(),
    oidc: oidcSchema.optional(),
    /** What a monitor sends to read `/metrics`, as a bearer token. */
    metrics_token: secret
      .min(32)
      .regex(/^[!-~]+$/, { error: "must be one word of printable ASCII: it travels in a header" })
      .optional(),
  }),
);
export type ServerSettings = WireType<typeof serverSettingsWire>;
