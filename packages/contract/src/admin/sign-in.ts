/**
 * Signing in, and the local accounts behind it. A password travels to the server and never back; a token of a link is
 * worth one sign-in.
 */
import { z } from "zod";
import { PERMISSION_MODES } from "../decision.ts";
import { type WireType, defineWire } from "../wire/define-wire.ts";
import {
  HOST_ID_LENGTH_MAX,
  messageSchema,
  organizationIdSchema,
  timestampSchema,
  userIdSchema,
} from "../wire/identifier.ts";
import { pageSchema } from "./admin-page.ts";

/** How a person came in. `host`: the embedding host vouches for them. */
export const SIGN_IN_WAYS = ["link", "password", "oidc", "socket", "host"] as const;
export type SignInWay = (typeof SIGN_IN_WAYS)[number];

const ACCOUNT_NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$/;
export const PASSWORD_LENGTH_MIN = 12;
export const PASSWORD_LENGTH_MAX = 1024;

const roleName = z.string().min(1).max(HOST_ID_LENGTH_MAX);
const roles = z.array(roleName).max(100);
const accountName = z.string().regex(ACCOUNT_NAME, {
  error: "must be a name of 1 to 128 characters: letters, digits and any of ._@+- (not first)",
});
const password = z.string().min(PASSWORD_LENGTH_MIN).max(PASSWORD_LENGTH_MAX);

export const linkSignInWire = defineWire(z.strictObject({ token: z.string().min(1).max(256) }));
export const passwordSignInWire = defineWire(
  z.strictObject({ name: z.string().min(1).max(256), password: z.string().min(1).max(PASSWORD_LENGTH_MAX) }),
);

/** A link that signs one person in, once. For whoever has authority: it gives what it says. */
export const signInLinkWordsWire = defineWire(
  z.strictObject({
    /** For people; the record says who came in by it. */
    name: accountName,
    /** 15 minutes unless said. */
    ttl_ms: z.int().min(1000).max(86_400_000).exactOptional(),
  }),
);
export type SignInLinkWords = WireType<typeof signInLinkWordsWire>;

export const signInLinkWire = defineWire(
  z.strictObject({ url: z.string().min(1).max(1024), expires_at: timestampSchema }),
);
export type SignInLink = WireType<typeof signInLinkWire>;

const signedInUser = z.strictObject({
  id: userIdSchema,
  /** For people; the id is who it is. */
  name: z.string().min(1).max(HOST_ID_LENGTH_MAX),
  roles,
  access_level: roleName.nullable(),
  organization_id: organizationIdSchema.nullable(),
});

export const adminSessionWire = defineWire(
  z.strictObject({
    /** `null`: nobody is signed in. */
    user: signedInUser.nullable(),
    way: z.enum(SIGN_IN_WAYS).nullable(),
    /** The person stands on a local account, whose password they may set. */
    has_account: z.boolean(),
    /** Whether the service would let this person decide. */
    may_decide: z.boolean(),
    /** When this sign-in ends at the latest. */
    expires_at: timestampSchema.nullable(),
    /**
     * For the header `X-CSRF-Token`, which every call beside the cookie needs. Told at sign-in, and to whoever
     * sends it: a cookie alone, which other ports of this machine see too, is worth nothing.
     */
    csrf_token: z.string().min(1).max(256).nullable(),
    server: z.strictObject({
      version: z.string().min(1).max(64),
      node: z.string().min(1).max(256),
      engine: z.string().min(1).max(64),
      origin: z.string().min(1).max(512),
      sign_in_ways: z.array(z.enum(SIGN_IN_WAYS)).max(SIGN_IN_WAYS.length),
      /** Whether the service can vouch for approvals now. Left out for those who are not signed in. */
      live: z.boolean().exactOptional(),
      revision: z.int().min(0).exactOptional(),
      mode: z.enum(PERMISSION_MODES).exactOptional(),
      frozen: z.boolean().exactOptional(),
      /** Whether the host has a guided example for people. */
      guided: z.boolean().exactOptional(),
    }),
  }),
);
export type AdminSession = WireType<typeof adminSessionWire>;

export const accountSchema = z.strictObject({
  id: z.string().min(1).max(128),
  name: accountName,
  roles,
  /** A person of an organization decides nothing for others. */
  organization_id: organizationIdSchema.nullable(),
  disabled: z.boolean(),
  created_at: timestampSchema,
  /** `null`: it has no password yet, and comes in by a link only. */
  password_changed_at: timestampSchema.nullable(),
  last_sign_in_at: timestampSchema.nullable(),
});
export const accountWire = defineWire(accountSchema);
export type Account = WireType<typeof accountWire>;
export const accountPageWire = defineWire(pageSchema(accountSchema));

export const newAccountWire = defineWire(
  z.strictObject({
    name: accountName,
    password,
    roles,
    organization_id: organizationIdSchema.nullable(),
  }),
);
export type NewAccount = WireType<typeof newAccountWire>;

const linkTtl = z
  .int()
  .min(1000)
  .max(86_400_000 * 7);

/** An account without a password, and the link that its person comes in by the first time. */
export const inviteWire = defineWire(
  z.strictObject({
    name: accountName,
    roles,
    organization_id: organizationIdSchema.nullable(),
    /** 24 hours unless said. */
    ttl_ms: linkTtl.exactOptional(),
  }),
);
export type Invite = WireType<typeof inviteWire>;

export const accountLinkWordsWire = defineWire(z.strictObject({ ttl_ms: linkTtl.exactOptional() }));

/** The one time that the link is told. */
export const invitedWire = defineWire(
  z.strictObject({ account: accountSchema, link: signInLinkWire.schema }),
);
export type Invited = WireType<typeof invitedWire>;

/** What a person of the account may do from the next call on. */
export const accountAccessWire = defineWire(
  z.strictObject({
    roles,
    organization_id: organizationIdSchema.nullable(),
    reason: messageSchema.exactOptional(),
  }),
);
export type AccountAccess = WireType<typeof accountAccessWire>;

/** One's own. The present one is needed, except right after coming in by a link. */
export const ownPasswordWire = defineWire(
  z.strictObject({
    password,
    present: z.string().min(1).max(PASSWORD_LENGTH_MAX).exactOptional(),
  }),
);
export type OwnPassword = WireType<typeof ownPasswordWire>;

export const newPasswordWire = defineWire(z.strictObject({ password }));
export const disableAccountWire = defineWire(
  z.strictObject({ disabled: z.boolean(), reason: messageSchema.exactOptional() }),
);
