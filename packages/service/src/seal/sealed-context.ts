/**
 * Resume contexts, sealed: AES-256-GCM over JSON, bound to the identity of one continuation of one request. A context
 * opens for exactly that continuation, or not at all. Only the executor opens; nothing else sees the plain text.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Resource, Subject } from "@sallyport/contract";
import type { PrincipalId } from "@sallyport/policy";
import { framed } from "../framing/field-writer.ts";
import { contextText, deepFrozen } from "./json-context.ts";
import { type KeyRing, activeKey, findKey } from "./key-ring.ts";

/** What a sealed context belongs to. */
export interface ContinuationIdentity {
  readonly requestId: string;
  readonly continuationId: string;
  readonly subject: Subject;
  /** Type, operation and normalized target. */
  readonly resource: Resource;
  readonly organizationId: PrincipalId | null;
  readonly userId: PrincipalId | null;
  readonly sessionKey: string | null;
  readonly action: string;
}

export interface SealedContext {
  readonly ok: true;
  /** The envelope, as it is stored. */
  readonly bytes: Uint8Array;
  readonly keyId: string;
}

export type Sealed = SealedContext | { readonly ok: false; readonly message: string };

export const OPEN_FAULTS = {
  unknown_version: "the resume context was sealed by another version: run the version that sealed it",
  unknown_key: "the resume context was sealed with a key that this ring never had: restore the key ring",
  retired_key: "the key of the resume context was retired: deny the request, or ask the subject to try again",
  damaged:
    "the resume context is damaged or belongs to another request: deny the request and look at the audit log",
} as const;

export type OpenFault = keyof typeof OPEN_FAULTS;

export type Opened =
  | { readonly outcome: "opened"; readonly context: unknown }
  | { readonly outcome: OpenFault; readonly message: string };

const DOMAIN = "sallyport.resume.context";
const VERSION = 1;
const CIPHER = "aes-256-gcm";
const KEY_ID_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES;

/** The context must be plain JSON of at most 16 KiB. Version, key id, nonce, tag, ciphertext: all of fixed length but the last. */
export function sealContext(ring: KeyRing, identity: ContinuationIdentity, context: unknown): Sealed {
  const plain = contextText(context);
  if (!plain.ok) return plain;
  const { id: keyId, key } = activeKey(ring);
  // WHY: random nonces of 96 bits are safe for 2^32 contexts of one key; rotate long before.
  const nonce = freshNonce();
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associatedData(identity, keyId));
  const ciphertext = Buffer.concat([cipher.update(plain.text, "utf8"), cipher.final()]);
  const head = Buffer.concat([
    Buffer.from([VERSION]),
    Buffer.from(keyId, "latin1"),
    nonce,
    cipher.getAuthTag(),
  ]);
  return Object.freeze({ ok: true, bytes: Buffer.concat([head, ciphertext]), keyId });
}

export function openContext(ring: KeyRing, identity: ContinuationIdentity, bytes: Uint8Array): Opened {
  const envelope = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (envelope.length > 0 && envelope[0] !== VERSION) return refused("unknown_version");
  if (envelope.length < HEAD_BYTES) return refused("damaged");
  const nonceStart = 1 + KEY_ID_BYTES;
  const tagStart = nonceStart + NONCE_BYTES;
  const keyId = envelope.toString("latin1", 1, nonceStart);
  const found = findKey(ring, keyId);
  if (found === undefined) return refused("unknown_key");
  if (found.key === undefined) return refused("retired_key");
  try {
    const nonce = envelope.subarray(nonceStart, tagStart);
    const decipher = createDecipheriv(CIPHER, found.key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(associatedData(identity, keyId));
    decipher.setAuthTag(envelope.subarray(tagStart, HEAD_BYTES));
    const text = Buffer.concat([decipher.update(envelope.subarray(HEAD_BYTES)), decipher.final()]);
    return Object.freeze({
      outcome: "opened",
      context: deepFrozen(JSON.parse(text.toString("utf8")) as unknown),
    });
  } catch {
    return refused("damaged");
  }
}

export function freshNonce(): Buffer {
  return randomBytes(NONCE_BYTES);
}

function associatedData(identity: ContinuationIdentity, keyId: string): Buffer {
  const { subject, resource } = identity;
  return framed(DOMAIN, [
    VERSION,
    keyId,
    identity.requestId,
    identity.continuationId,
    [subject.type, subject.name],
    [resource.type, resource.operation, resource.target],
    identity.organizationId,
    identity.userId,
    identity.sessionKey,
    identity.action,
  ]);
}

function refused(outcome: OpenFault): Opened {
  return Object.freeze({ outcome, message: OPEN_FAULTS[outcome] });
}
