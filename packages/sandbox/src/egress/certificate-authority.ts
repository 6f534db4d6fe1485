/**
 * The certificate authority of one sandbox: made when it starts, trusted inside it only, gone with it. Its key never
 * leaves this process. Certificates are for the hosts that the program dialled and nothing else.
 */
import { type KeyObject, createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { type Host, isIpLiteral } from "@sallyport/contract";
import { bits, identifier, integer, octets, sequence, setOf, tagged, time, truth, utf8 } from "./der.ts";

export interface Certified {
  /** The certificate of the host, then that of the authority. */
  readonly certificates: string;
  readonly key: string;
}

export interface CertificateAuthority {
  /** To be trusted. */
  readonly certificate: string;
  certify(host: Host): Certified;
}

const DAY_MS = 86_400_000;
const LIFE_DAYS = 365;
const HOSTS_MAX = 1000;

const ECDSA_SHA256 = sequence(identifier("1.2.840.10045.4.3.2"));
const COMMON_NAME = "2.5.4.3";
const EXTENSIONS = {
  subjectKey: "2.5.29.14",
  keyUsage: "2.5.29.15",
  names: "2.5.29.17",
  constraints: "2.5.29.19",
  authorityKey: "2.5.29.35",
  extendedUsage: "2.5.29.37",
} as const;
const SERVER_USE = "1.3.6.1.5.5.7.3.1";

export function openAuthority(nowMs: number): CertificateAuthority {
  const own = newKeys();
  const issuer = nameOf(`Sallyport sandbox ${randomBytes(4).toString("hex")}`);
  const authorityKey = keyId(own.publicKey);
  const issue = (subject: Buffer, publicKey: KeyObject, extensions: readonly Buffer[]): string =>
    pem(signed(own.privateKey, { issuer, subject, publicKey, extensions, nowMs }));
  const certificate = issue(issuer, own.publicKey, [
    extension("constraints", sequence(truth()), "critical"),
    extension("keyUsage", bits(Buffer.from([0b0000_0110]), 1), "critical"),
    extension("subjectKey", octets(authorityKey)),
  ]);
  // WHY one key for all hosts: it lives as long as the authority and at the same place.
  const leaf = newKeys();
  const key = leaf.privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  const certified = new Map<Host, Certified>();
  const certify = (host: Host): Certified => {
    const known = certified.get(host);
    if (known !== undefined) return known;
    const certificateOfHost = issue(nameOf(host.length <= 64 ? host : "host"), leaf.publicKey, [
      extension("constraints", sequence(), "critical"),
      extension("keyUsage", bits(Buffer.from([0b1000_0000]), 7), "critical"),
      extension("extendedUsage", sequence(identifier(SERVER_USE))),
      extension("names", sequence(alternativeName(host))),
      extension("subjectKey", octets(keyId(leaf.publicKey))),
      extension("authorityKey", sequence(tagged(0x80, authorityKey))),
    ]);
    const made = Object.freeze({ certificates: `${certificateOfHost}${certificate}`, key });
    if (certified.size >= HOSTS_MAX) certified.clear();
    certified.set(host, made);
    return made;
  };
  return Object.freeze({ certificate, certify });
}

interface CertificateWords {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly nowMs: number;
}

function signed(privateKey: KeyObject, words: CertificateWords): Buffer {
  const { issuer, subject, publicKey, extensions, nowMs } = words;
  const version3 = tagged(0xa0, integer(Buffer.from([2])));
  // WHY a day back: clocks inside and outside are the same, but programs round.
  const validity = sequence(time(new Date(nowMs - DAY_MS)), time(new Date(nowMs + LIFE_DAYS * DAY_MS)));
  const toSign = sequence(
    version3,
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_SHA256,
    issuer,
    validity,
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions)),
  );
  return sequence(toSign, ECDSA_SHA256, bits(sign("sha256", toSign, privateKey)));
}

function extension(kind: keyof typeof EXTENSIONS, value: Buffer, weight?: "critical"): Buffer {
  return sequence(identifier(EXTENSIONS[kind]), ...(weight === "critical" ? [truth()] : []), octets(value));
}

function alternativeName(host: Host): Buffer {
  if (!isIpLiteral(host)) return tagged(0x82, Buffer.from(host, "latin1"));
  if (!host.startsWith("[")) return tagged(0x87, Buffer.from(host.split(".").map(Number)));
  const [head = "", tail = ""] = host.slice(1, -1).split("::");
  const zeros = Array.from({ length: 8 - wordsIn(head).length - wordsIn(tail).length }, () => 0);
  const all = [...wordsIn(head), ...zeros, ...wordsIn(tail)];
  return tagged(0x87, Buffer.from(all.flatMap((word) => [word >> 8, word & 255])));
}

function wordsIn(text: string): readonly number[] {
  return text === "" ? [] : text.split(":").map((word) => Number.parseInt(word, 16));
}

function nameOf(commonName: string): Buffer {
  return sequence(setOf(sequence(identifier(COMMON_NAME), utf8(commonName))));
}

function newKeys(): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

/** WHY not the key bits alone: any digest that tells keys apart will do. */
function keyId(publicKey: KeyObject): Buffer {
  return createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest()
    .subarray(0, 20);
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
