/**
 * Certificates for servers of tests: an authority of its own and a leaf for given names and addresses, made with what Node
 * has. DER by hand, as little of it as X.509 needs.
 */
import { type KeyObject, createSign, generateKeyPairSync } from "node:crypto";

export interface TestCertificate {
  /** Of the authority, as PEM. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const tlv = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), body]);
};
const sequence = (...parts: readonly Uint8Array[]): Buffer => tlv(0x30, ...parts);
const integer = (value: number): Buffer => tlv(0x02, Buffer.from([value]));
const oid = (hex: string): Buffer => tlv(0x06, Buffer.from(hex, "hex"));
const time = (text: string): Buffer => tlv(0x18, Buffer.from(text));
const octets = (body: Uint8Array): Buffer => tlv(0x04, body);
const yes = Buffer.from([0x01, 0x01, 0xff]);

const ECDSA_SHA256 = sequence(oid("2a8648ce3d040302"));
const COMMON_NAME = oid("550403");
const BASIC_CONSTRAINTS = oid("551d13");
const SUBJECT_ALT_NAME = oid("551d11");

const nameOf = (text: string): Buffer =>
  sequence(tlv(0x31, sequence(COMMON_NAME, tlv(0x0c, Buffer.from(text)))));

interface Issued {
  readonly serial: number;
  readonly issuer: string;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly extension: Uint8Array;
}

function certificate({ serial, issuer, subject, publicKey, signer, extension }: Issued): string {
  const body = sequence(
    tlv(0xa0, integer(2)),
    integer(serial),
    ECDSA_SHA256,
    nameOf(issuer),
    sequence(time("20200101000000Z"), time("20991231235959Z")),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    tlv(0xa3, sequence(extension)),
  );
  const signature = createSign("sha256").update(body).sign(signer);
  const der = sequence(body, ECDSA_SHA256, tlv(0x03, Buffer.from([0]), signature));
  const lines = der.toString("base64").replaceAll(/(.{64})/g, "$1\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

/** @param names DNS names, or IPv4 addresses */
export function testCertificate(...names: readonly string[]): TestCertificate {
  const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const leaf = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const alternatives = names.map((name) =>
    /^[\d.]+$/.test(name)
      ? tlv(0x87, Buffer.from(name.split(".").map(Number)))
      : tlv(0x82, Buffer.from(name)),
  );
  const common = { issuer: "test authority", signer: authority.privateKey };
  return {
    ca: certificate({
      ...common,
      serial: 1,
      subject: "test authority",
      publicKey: authority.publicKey,
      extension: sequence(BASIC_CONSTRAINTS, yes, octets(sequence(yes))),
    }),
    cert: certificate({
      ...common,
      serial: 2,
      subject: "test server",
      publicKey: leaf.publicKey,
      extension: sequence(SUBJECT_ALT_NAME, octets(sequence(...alternatives))),
    }),
    key: leaf.privateKey.export({ type: "pkcs8", format: "pem" }) as string,
  };
}
