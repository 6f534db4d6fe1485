/**
 * Signed checkpoints: what a node vouches for at one row, kept outside the store as JSON lines. Whoever can write
 * the store but has not the private key cannot change what lies before a checkpoint, nor cut the log behind it.
 * Trusts the map of public keys. Never reads a line that is not exactly what it would write.
 */
import { type KeyObject, createPublicKey, generateKeyPairSync, hash, sign, verify } from "node:crypto";
import { framed } from "../framing/field-writer.ts";
import { canonical } from "./canonical-json.ts";
import { type ChainHead, GENESIS_HASH, isHash, isHead } from "./event-chain.ts";

const DOMAIN = "sallyport.audit.checkpoint";
const CHECKPOINT_FORMAT = 1;
export const CHECKPOINT_LINE_LENGTH_MAX = 1_048_576;

/** The row that the first row of a chain continues from. */
export type ChainBegin = Pick<ChainHead, "seq" | "hash">;

/** Of a chain from which nothing was removed. */
export const WHOLE_CHAIN: ChainBegin = Object.freeze({ seq: 0, hash: GENESIS_HASH });

export interface Checkpoint extends ChainHead {
  readonly time: string;
  /** Rows up to here were removed by retention. Signed, so that nobody else can shorten a chain from its beginning. */
  readonly begin: ChainBegin;
  /** Heads of other nodes that this node knew. */
  readonly heads: readonly ChainHead[];
}

export interface SignedCheckpoint extends Checkpoint {
  readonly keyId: string;
  /** Ed25519, lower-case hex. */
  readonly signature: string;
}

export interface CheckpointSigner {
  readonly keyId: string;
  readonly privateKey: KeyObject;
}

/** Public keys by id. A key that was retired stays here as long as its checkpoints are kept. */
export type CheckpointKeys = ReadonlyMap<string, KeyObject>;

export function generateCheckpointSigner(): CheckpointSigner {
  const { privateKey } = generateKeyPairSync("ed25519");
  return signerOf(privateKey);
}

export function signerOf(privateKey: KeyObject): CheckpointSigner {
  if (privateKey.type !== "private" || privateKey.asymmetricKeyType !== "ed25519") {
    throw new TypeError("checkpoints are signed with Ed25519: give such a private key");
  }
  return Object.freeze({ keyId: checkpointKeyId(createPublicKey(privateKey)), privateKey });
}

/** The id follows from the key, so that no other key can go by it unnoticed. */
export function checkpointKeyId(publicKey: KeyObject): string {
  return hash("sha256", publicKey.export({ type: "spki", format: "der" }), "hex").slice(0, 32);
}

export function checkpointKeys(publicKeys: Iterable<KeyObject>): CheckpointKeys {
  return new Map(Array.from(publicKeys, (key) => [checkpointKeyId(key), key]));
}

export function signCheckpoint(checkpoint: Checkpoint, signer: CheckpointSigner): SignedCheckpoint {
  const { node, seq, hash: rowHash, time, begin, heads } = checkpoint;
  const plain = { node, seq, hash: rowHash, time, begin, heads, keyId: signer.keyId };
  const signature = sign(null, signedBytes(plain), signer.privateKey).toString("hex");
  return Object.freeze({ ...plain, heads: Object.freeze([...heads]), signature });
}

export type SignatureFault = "bad_signature" | "unknown_key";

/** `undefined`: the signature is good. */
export function checkSignature(
  checkpoint: SignedCheckpoint,
  keys: CheckpointKeys,
): SignatureFault | undefined {
  const key = keys.get(checkpoint.keyId);
  if (key === undefined) return "unknown_key";
  const isGood = verify(null, signedBytes(checkpoint), key, Buffer.from(checkpoint.signature, "hex"));
  return isGood ? undefined : "bad_signature";
}

function signedBytes(checkpoint: Omit<SignedCheckpoint, "signature">): Buffer {
  const { keyId, node, seq, hash: rowHash, time, begin, heads } = checkpoint;
  const others = heads.map((head) => [head.node, head.seq, head.hash]);
  const from = [begin.seq, begin.hash];
  return framed(DOMAIN, [CHECKPOINT_FORMAT, keyId, node, seq, rowHash, time, from, others]);
}

/** One line of the export, without its line break. */
export function checkpointLine(checkpoint: SignedCheckpoint): string {
  const { keyId, node, seq, hash: rowHash, time, begin, heads, signature } = checkpoint;
  return canonical({
    begin: { seq: begin.seq, hash: begin.hash },
    format: CHECKPOINT_FORMAT,
    hash: rowHash,
    heads: heads.map((head) => ({ node: head.node, seq: head.seq, hash: head.hash })),
    key_id: keyId,
    node,
    seq,
    signature,
    time,
  });
}

/** `undefined` where the line is anything but a checkpoint as `checkpointLine` writes it. */
export function parseCheckpointLine(line: string): SignedCheckpoint | undefined {
  if (line.length > CHECKPOINT_LINE_LENGTH_MAX) return undefined;
  const read = readCheckpoint(line);
  return read !== undefined && checkpointLine(read) === line ? read : undefined;
}

function readCheckpoint(line: string): SignedCheckpoint | undefined {
  try {
    const {
      begin,
      format,
      hash: rowHash,
      heads,
      key_id: keyId,
      node,
      seq,
      signature,
      time,
    } = JSON.parse(line);
    const head = { node, seq, hash: rowHash };
    const from = { seq: begin.seq, hash: begin.hash };
    const isSound =
      format === CHECKPOINT_FORMAT &&
      isHead(head) &&
      isHash(rowHash) &&
      isHead({ node, ...from }) &&
      Array.isArray(heads) &&
      heads.every(isHead) &&
      typeof keyId === "string" &&
      typeof time === "string" &&
      typeof signature === "string" &&
      /^[0-9a-f]{128}$/.test(signature);
    return isSound ? { ...head, time, begin: from, heads, keyId, signature } : undefined;
  } catch {
    return undefined;
  }
}

/** What the checkpoints of another node say about this one, in their order. For `verifyChain`. */
export async function* headsOf(
  node: string,
  lines: AsyncIterable<string> | Iterable<string>,
  keys: CheckpointKeys,
): AsyncGenerator<ChainHead> {
  for await (const line of lines) {
    const checkpoint = parseCheckpointLine(line);
    // INVARIANT: only a good signature vouches; a bad one is reported where its own node is verified.
    if (checkpoint === undefined || checkSignature(checkpoint, keys) !== undefined) continue;
    for (const head of checkpoint.heads) if (head.node === node) yield head;
  }
}
