/**
 * The data folder of an embedded Sallyport: store, key ring, masking key, signing keys, checkpoints. Its owner alone may
 * read it. What is missing is made once and then kept; what is broken is an error, never replaced.
 */
import {
  type KeyObject,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
} from "node:crypto";
import { realpathSync } from "node:fs";
import { chmod, constants, mkdir, open, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import {
  type CheckpointSigner,
  type KeyRing,
  type RingPlace,
  loadKeyRing,
  newKeyRing,
  saveKeyRing,
  signerOf,
} from "@sallyport/service";

export interface DataFolder {
  /** Absolute and real. */
  readonly folder: string;
  readonly storeFile: string;
  readonly checkpointFile: string;
  readonly keyRing: KeyRing;
  readonly maskingKey: Uint8Array;
  readonly signer: CheckpointSigner;
  /** Signs the credentials of remote hosts. */
  readonly credentialKey: { readonly id: string; readonly privateKey: KeyObject };
}

/** Where the owner of a data folder is administered, and where it hands gates to programs that are run. */
export const adminSocketOf = (folder: string): string => join(folder, "admin.sock");
export const runSocketOf = (folder: string): string => join(folder, "run.sock");

const OWNER_FOLDER = 0o700;
const OWNER_FILE = 0o600;
const OTHERS = 0o077;
const MASKING_BYTES = 32;

export async function openDataFolder(path: string): Promise<DataFolder> {
  await mkdir(path, { recursive: true, mode: OWNER_FOLDER });
  const folder = realpathSync(path);
  await chmod(folder, OWNER_FOLDER);
  const masking = await secretFile(folder, "masking.key", () => randomBytes(MASKING_BYTES).toString("hex"));
  const maskingKey = Buffer.from(masking, "hex");
  if (maskingKey.length !== MASKING_BYTES)
    throw new Error("the masking key in the data folder is broken: restore it from a backup");
  const checkpoints = createPrivateKey(await secretFile(folder, "checkpoint.pem", newKeyPem));
  const credentials = createPrivateKey(await secretFile(folder, "runtime-credentials.pem", newKeyPem));
  return Object.freeze({
    folder,
    storeFile: join(folder, "store.db"),
    checkpointFile: join(folder, "checkpoints.jsonl"),
    keyRing: await ringIn(folder),
    maskingKey,
    signer: signerOf(checkpoints),
    credentialKey: Object.freeze({ id: keyId(credentials), privateKey: credentials }),
  });
}

function newKeyPem(): string {
  const { privateKey } = generateKeyPairSync("ed25519");
  return privateKey.export({ type: "pkcs8", format: "pem" }) as string;
}

/** Names a key by its public part. */
function keyId(privateKey: KeyObject): string {
  const bytes = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  return createHash("sha256").update(bytes).digest("base64url");
}

async function ringIn(folder: string): Promise<KeyRing> {
  const place: RingPlace = { files: { open, rename, unlink }, folder, name: "key-ring.json" };
  const loaded = await loadKeyRing(place);
  if (loaded.ok === true) return loaded.ring;
  if (loaded.ok === false) throw new Error(loaded.message);
  const ring = newKeyRing(new Date().toISOString());
  await saveKeyRing(place, ring);
  return ring;
}

/** Written whole under another name and then linked into its place, so that half a secret is never found. */
async function secretFile(folder: string, name: string, make: () => string): Promise<string> {
  const path = join(folder, name);
  const known = await readSecret(path);
  if (known !== undefined) return known;
  const fresh = `${path}.new`;
  await unlink(fresh).catch(ignoreMissing);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const secret = make();
  const handle = await open(fresh, flags, OWNER_FILE);
  try {
    await handle.writeFile(secret, "utf8");
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, path);
  return secret;
}

async function readSecret(path: string): Promise<string | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(ignoreMissing);
  if (handle === undefined) return undefined;
  try {
    const { mode } = await handle.stat();
    // INVARIANT: a secret that others could read is not used.
    if ((mode & OTHERS) !== 0)
      throw new Error(`\`${path}\` is open to others: find out who, replace it, and set its mode to 600`);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
  throw error;
}
