/**
 * The keys that resume contexts are sealed with. One is active and seals; kept ones still open what they sealed;
 * a retired one has lost its bytes, and only its id is remembered, so that its contexts can be told from damaged ones.
 * A ring is a value: every change gives a new one. The bytes of a key leave this file only as text for the key file.
 */
import { type KeyObject, createSecretKey, randomBytes } from "node:crypto";

export const KEY_STATES = ["active", "kept", "retired"] as const;
export type KeyState = (typeof KEY_STATES)[number];

export interface SealKey {
  readonly id: string;
  readonly state: KeyState;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Absent once retired. */
  readonly key: KeyObject | undefined;
}

export interface KeyRing {
  /** Oldest first. */
  readonly keys: readonly SealKey[];
}

export type KeyRingResult =
  | { readonly ok: true; readonly ring: KeyRing }
  | { readonly ok: false; readonly message: string };

const KEY_BYTES = 32;
const ID_BYTES = 8;
const RING_FORMAT = 1;
const KEYS_MAX = 1000;
/** As it stands in an envelope: its length fits one byte. */
const KEY_ID = /^[0-9a-f]{16}$/;

export function newKeyRing(createdAt: string): KeyRing {
  return ringOf([freshKey(createdAt)]);
}

/** A new key seals from now on; the one before is kept for what it sealed. */
export function rotateKeyRing(ring: KeyRing, createdAt: string): KeyRing {
  const kept = ring.keys.map((key) => (key.state === "active" ? { ...key, state: "kept" as const } : key));
  return ringOf([...kept, freshKey(createdAt)]);
}

/** Nothing that this key sealed can be opened again. */
export function retireKey(ring: KeyRing, id: string): KeyRingResult {
  const found = findKey(ring, id);
  if (found === undefined) return fault(`there is no key \`${id}\`: list the ring`);
  if (found.state === "active")
    return fault(`key \`${id}\` is active: rotate the ring first, then retire it`);
  const keys = ring.keys.map((key) =>
    key.id === id ? { ...key, state: "retired" as const, key: undefined } : key,
  );
  return { ok: true, ring: ringOf(keys) };
}

export function findKey(ring: KeyRing, id: string): SealKey | undefined {
  return ring.keys.find((key) => key.id === id);
}

export function activeKey(ring: KeyRing): SealKey & { readonly key: KeyObject } {
  return ring.keys.find((key) => key.state === "active") as SealKey & { readonly key: KeyObject };
}

/** Secret: the text of the key file. */
export function formatKeyRing(ring: KeyRing): string {
  const keys = ring.keys.map(({ id, state, createdAt, key }) => ({
    id,
    state,
    created_at: createdAt,
    material: key?.export().toString("base64") ?? null,
  }));
  return `${JSON.stringify({ format: RING_FORMAT, keys }, undefined, 2)}\n`;
}

/** INVARIANT: no message repeats what it read; it is secret. */
export function parseKeyRing(text: string): KeyRingResult {
  const file = parsedObject(text);
  if (file === undefined) return fault("the key ring is not a JSON object: restore it from a backup");
  if (file["format"] !== RING_FORMAT) {
    return fault(`the key ring has another format than ${RING_FORMAT}: use the version that wrote it`);
  }
  const entries = file["keys"];
  if (!Array.isArray(entries) || entries.length > KEYS_MAX)
    return fault("the key ring has no list of keys: restore it from a backup");
  const keys: SealKey[] = [];
  for (const [index, entry] of entries.entries()) {
    const key = parsedKey(entry);
    if (key === undefined)
      return fault(`key ${index + 1} of the key ring is damaged: restore it from a backup`);
    keys.push(key);
  }
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) {
    return fault("the key ring has one id twice: restore it from a backup");
  }
  if (keys.filter(({ state }) => state === "active").length !== 1) {
    return fault("the key ring must have exactly one active key: restore it from a backup");
  }
  return { ok: true, ring: ringOf(keys) };
}

function parsedKey(entry: unknown): SealKey | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const { id, state, created_at: createdAt, material } = entry as Record<string, unknown>;
  if (typeof id !== "string" || !KEY_ID.test(id) || typeof createdAt !== "string") return undefined;
  if (!(KEY_STATES as readonly unknown[]).includes(state)) return undefined;
  if (state === "retired") {
    return material === null ? { id, state, createdAt, key: undefined } : undefined;
  }
  const bytes = typeof material === "string" ? Buffer.from(material, "base64") : undefined;
  if (bytes?.length !== KEY_BYTES || bytes.toString("base64") !== material) return undefined;
  return { id, state: state as KeyState, createdAt, key: createSecretKey(bytes) };
}

function freshKey(createdAt: string): SealKey {
  const id = randomBytes(ID_BYTES).toString("hex");
  return { id, state: "active", createdAt, key: createSecretKey(randomBytes(KEY_BYTES)) };
}

function ringOf(keys: readonly SealKey[]): KeyRing {
  return Object.freeze({ keys: Object.freeze(keys.map((key) => Object.freeze(key))) });
}

function parsedObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function fault(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
