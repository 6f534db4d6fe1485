/** Rows, checkpoints and their lines. */
import { createPublicKey, generateKeyPairSync, hash } from "node:crypto";
import { eventWire } from "@sallyport/contract";
import { describe, expect, it } from "vitest";
import { sampleEvent, sampleRows } from "../testing/sample-event.ts";
import { canonical } from "./canonical-json.ts";
import {
  WHOLE_CHAIN,
  checkSignature,
  checkpointKeys,
  checkpointLine,
  generateCheckpointSigner,
  parseCheckpointLine,
  signCheckpoint,
  signerOf,
} from "./checkpoint.ts";
import { type EventRow, GENESIS_HASH, eventOfRow, genesisOf, hashRow, nextRow } from "./event-chain.ts";

const [row] = sampleRows("a", 1) as [EventRow];

describe("a row", () => {
  it("holds the event as canonical JSON and continues from its head", () => {
    expect(row.body).toBe(canonical(sampleEvent(1)));
    expect(row.body.startsWith('{"data":{"attested_by":"service","code":"resource_disabled"')).toBe(true);
    expect(row).toMatchObject({ seq: 1, previousHash: GENESIS_HASH, time: sampleEvent(1).time });
    expect(Object.isFrozen(row)).toBe(true);
  });

  it("has the hash of its framed fields, written out", () => {
    const field = (text: string): Buffer => {
      const bytes = Buffer.from(text, "utf8");
      const head = Buffer.from([1, 0, 0, 0, 0]);
      head.writeUInt32BE(bytes.length, 1);
      return Buffer.concat([head, bytes]);
    };
    const one = Buffer.from([3, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1]);
    const parts = [field("sallyport.audit.row"), one, field("a"), one];
    const rest = [row.time, row.previousHash, row.body].map(field);
    expect(row.hash).toBe(hash("sha256", Buffer.concat([...parts, ...rest]), "hex"));
  });

  it("gives its event back, and the links it vouches for", () => {
    const link = { node: "b", seq: 4, hash: "a".repeat(64) };
    const read = eventOfRow(nextRow(genesisOf("a"), sampleEvent(3), [link]));
    expect(read.ok && eventWire.format(read.event)).toEqual(sampleEvent(3));
    expect(read.ok && read.links).toEqual([link]);
  });

  it.each([
    ["not JSON", "{"],
    ["a list", "[]"],
    ["another event", '{"type":"x"}'],
    ["links that are no text", `{"crosslinks":[],${row.body.slice(1)}`],
    ["links that are no heads", `{"crosslinks":"[{}]",${row.body.slice(1)}`],
  ])("whose body is %s is no event", (_, body) => {
    expect(eventOfRow({ body })).toMatchObject({
      ok: false,
      message: expect.stringContaining("verify the chain"),
    });
  });

  it("can hold a target with half a surrogate pair", () => {
    const odd = nextRow(genesisOf("a"), sampleEvent(1, "https://a.example/\ud800"));
    expect(odd.body).toContain(String.raw`https://a.example/\\ud800`);
    expect(hashRow({ ...odd, body: odd.body.replace("\\\\ud800", "\\\\ud801") })).not.toBe(odd.hash);
    expect(() => canonical({ value: Number.NaN })).toThrow(/NaN/);
    expect(() => canonical(undefined)).toThrow(/canonical/);
  });
});

describe("a checkpoint", () => {
  const signer = generateCheckpointSigner();
  const publicKey = createPublicKey(signer.privateKey);
  const keys = checkpointKeys([publicKey]);
  const heads = [{ node: "b", seq: 2, hash: "b".repeat(64) }];
  const signed = signCheckpoint(
    { node: "a", seq: 1, hash: row.hash, time: row.time, begin: WHOLE_CHAIN, heads },
    signer,
  );

  it("is read again from its line, signature and all", () => {
    const read = parseCheckpointLine(checkpointLine(signed));
    expect(read).toEqual(signed);
    expect(read && checkSignature(read, keys)).toBeUndefined();
  });

  it("has a bad signature once any field is another", () => {
    const others = [
      { seq: 2 },
      { node: "b" },
      { hash: "c".repeat(64) },
      { time: "2026-01-31T09:00:00Z" },
      { begin: { seq: 1, hash: row.hash } },
      { heads: [] },
      { heads: [...heads, ...heads] },
      { signature: "0".repeat(128) },
    ];
    for (const other of others) expect(checkSignature({ ...signed, ...other }, keys)).toBe("bad_signature");
    expect(checkSignature({ ...signed, keyId: "other" }, keys)).toBe("unknown_key");
  });

  it("is never read from a line that says the same in another way", () => {
    const line = checkpointLine(signed);
    const spellings = [
      line.toUpperCase(),
      line.replace(signed.signature, signed.signature.toUpperCase()),
      line.replace('"node":"a"', '"node":"a","node":"a"'),
      line.replace('"seq":1,', '"seq":1.0,'),
      line.replace("{", "{ "),
      `${line} `,
      line.replace('"format":1', '"format":2'),
      "null",
      "",
      "[]",
    ];
    for (const spelling of spellings) {
      expect(spelling).not.toBe(line);
      expect(parseCheckpointLine(spelling)).toBeUndefined();
    }
  });

  it("is signed by Ed25519 keys only, and the id follows from the key", () => {
    const { privateKey } = generateKeyPairSync("x25519");
    expect(() => signerOf(privateKey)).toThrow(/Ed25519/);
    expect(() => signerOf(publicKey)).toThrow(/Ed25519/);
    expect([...checkpointKeys([publicKey]).keys()]).toEqual([signer.keyId]);
  });
});
