/**
 * Credentials of remote hosts: short-lived, for one server, bound to what they may act as and to the key of their
 * holder, signed with a key of this server. Trusts the host that calls `issue` for the grant. A credential asks; nothing
 * in it can decide, and renewing it never adds anything.
 */
import { type KeyObject, createPublicKey } from "node:crypto";
import { type IssuedCredential, type RuntimeGrant, runtimeGrantWire } from "@sallyport/contract/remote";
import { type JWTPayload, SignJWT, jwtVerify } from "jose";
import { MemoryRevocationList, type Revocable, type RevocationList } from "./revocation-list.ts";

export interface SigningKey {
  readonly id: string;
  /** Ed25519. */
  readonly privateKey: KeyObject;
}

export interface VerifyingKey {
  readonly id: string;
  readonly publicKey: KeyObject;
}

export interface RuntimeCredentialOptions {
  readonly signingKey: SigningKey;
  /** Keys of before, whose tokens are still taken. */
  readonly formerKeys?: readonly VerifyingKey[] | undefined;
  /** The origin that the server is reached by; tokens for any other are refused. */
  readonly audience: () => string;
  readonly nowMs: () => number;
  readonly newId: () => string;
  /** Of one token; 5 minutes unless said. */
  readonly ttlMs?: number | undefined;
  /** Of a token with all its renewals; 12 hours unless said. */
  readonly lifetimeMs?: number | undefined;
  /** In memory unless said: shared by no other node, and everything from before a restart is refused. */
  readonly revocations?: RevocationList | undefined;
}

/** A token that was found good. */
export interface HeldCredential {
  readonly tokenId: string;
  readonly credentialId: string;
  readonly grant: RuntimeGrant;
  /** RFC 7638, SHA-256. */
  readonly keyThumbprint: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
  readonly endsAtMs: number;
}

const TYPE = "sallyport-runtime+jwt";
const THUMBPRINT = /^[A-Za-z0-9_-]{43}$/;
export const TOKEN_LENGTH_MAX = 16_384;

export class RuntimeCredentials {
  readonly #options: RuntimeCredentialOptions;
  readonly #ttlMs: number;
  readonly #lifetimeMs: number;
  readonly #revocations: RevocationList;
  readonly #keys: ReadonlyMap<string, KeyObject>;

  constructor(options: RuntimeCredentialOptions) {
    this.#options = options;
    this.#ttlMs = options.ttlMs ?? 300_000;
    this.#lifetimeMs = options.lifetimeMs ?? 43_200_000;
    this.#revocations = options.revocations ?? new MemoryRevocationList(options.nowMs);
    const { signingKey, formerKeys = [] } = options;
    this.#keys = new Map([
      ...formerKeys.map(({ id, publicKey }) => [id, publicKey] as const),
      [signingKey.id, createPublicKey(signingKey.privateKey)],
    ]);
  }

  /** For the host's own code. Throws where the grant is not one: `core:core`, no subject, an empty session key. */
  async issue(grant: RuntimeGrant, keyThumbprint: string): Promise<IssuedCredential> {
    const parsed = runtimeGrantWire.parse(runtimeGrantWire.format(grant));
    if (!parsed.ok) {
      const [first] = parsed.faults;
      throw new TypeError(
        `the grant is not well formed: \`${first?.pointer ?? ""}\` ${first?.message ?? ""}`,
      );
    }
    if (!THUMBPRINT.test(keyThumbprint)) throw new TypeError("the thumbprint of the holder's key is not one");
    const nowMs = this.#options.nowMs();
    const credentialId = this.#options.newId();
    const endsAtMs = nowMs + this.#lifetimeMs;
    return this.#sign(
      { credentialId, tokenId: credentialId, grant: parsed.value, keyThumbprint, endsAtMs },
      nowMs,
    );
  }

  /** `undefined` for everything that is not a live credential of this server; never throws. */
  async verify(token: string): Promise<HeldCredential | undefined> {
    if (token.length > TOKEN_LENGTH_MAX) return undefined;
    const audience = this.#options.audience();
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => this.#keyOf(kid), {
        algorithms: ["EdDSA"],
        typ: TYPE,
        audience,
        issuer: audience,
        currentDate: new Date(this.#options.nowMs()),
        requiredClaims: ["jti", "iat", "exp"],
      });
      const held = heldOf(payload);
      // WHY the time again: the library compares whole seconds.
      return held !== undefined && (await this.isLive(held)) ? held : undefined;
    } catch {
      return undefined;
    }
  }

  /** The same for another while, and never past its end. `undefined`: it is over. */
  async renew(held: HeldCredential): Promise<IssuedCredential | undefined> {
    const nowMs = this.#options.nowMs();
    if (nowMs >= held.endsAtMs || nowMs >= held.expiresAtMs) return undefined;
    const { credentialId, grant, keyThumbprint, endsAtMs } = held;
    const tokenId = this.#options.newId();
    return this.#sign({ credentialId, tokenId, grant, keyThumbprint, endsAtMs }, nowMs);
  }

  /** By the id of a credential with all its renewals, or of a single token. */
  async revoke(id: string): Promise<void> {
    await this.#revocations.revoke(id, this.#options.nowMs() + this.#lifetimeMs);
  }

  isRevoked(held: Revocable): boolean | Promise<boolean> {
    return this.#revocations.isRevoked(held);
  }

  /** Neither over nor taken back. At once where the list of what was taken back answers at once. */
  isLive(held: HeldCredential): boolean | Promise<boolean> {
    if (this.#options.nowMs() >= held.expiresAtMs) return false;
    const revoked = this.isRevoked(held);
    return revoked instanceof Promise ? revoked.then((is) => !is) : !revoked;
  }

  #keyOf(id: string | undefined): KeyObject {
    const key = id === undefined ? undefined : this.#keys.get(id);
    if (key === undefined) throw new Error("unknown key");
    return key;
  }

  async #sign(
    {
      credentialId,
      tokenId,
      grant,
      keyThumbprint,
      endsAtMs,
    }: Omit<HeldCredential, "issuedAtMs" | "expiresAtMs">,
    nowMs: number,
  ): Promise<IssuedCredential> {
    const audience = this.#options.audience();
    const expiresAtMs = Math.min(nowMs + this.#ttlMs, endsAtMs);
    const claims = {
      cnf: { jkt: keyThumbprint },
      credential_id: credentialId,
      ends_at_ms: endsAtMs,
      grant: runtimeGrantWire.format(grant),
    };
    const { id, privateKey } = this.#options.signingKey;
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: "EdDSA", typ: TYPE, kid: id })
      .setIssuer(audience)
      .setAudience(audience)
      .setJti(tokenId)
      .setIssuedAt(nowMs / 1000)
      .setExpirationTime(expiresAtMs / 1000)
      .sign(privateKey);
    return Object.freeze({ token, credentialId, expiresAtMs, endsAtMs });
  }
}

function heldOf(payload: JWTPayload): HeldCredential | undefined {
  const {
    jti,
    iat,
    exp,
    cnf,
    credential_id: credentialId,
    ends_at_ms: endsAtMs,
  } = payload as JWTPayload & {
    readonly cnf?: { readonly jkt?: unknown };
  };
  const grant = runtimeGrantWire.parse(payload["grant"]);
  const keyThumbprint = cnf?.jkt;
  if (!grant.ok || typeof keyThumbprint !== "string" || !THUMBPRINT.test(keyThumbprint)) return undefined;
  if (typeof credentialId !== "string" || typeof endsAtMs !== "number") return undefined;
  if (jti === undefined || iat === undefined || exp === undefined) return undefined;
  return Object.freeze({
    tokenId: jti,
    credentialId,
    grant: grant.value,
    keyThumbprint,
    issuedAtMs: Math.round(iat * 1000),
    expiresAtMs: Math.round(exp * 1000),
    endsAtMs,
  });
}
