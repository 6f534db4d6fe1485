/**
 * For every URL that Node accepts: the host that we decide on is the host that Node dials, or the target is refused for a
 * reason that the specification lists, in both directions. Runs over a corpus of our own, and over the public test data
 * (`urltestdata.json` of web-platform-tests) where SALLYPORT_WPT_DIR names a folder that holds it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { join } from "node:path";
import { parseNetworkTarget } from "@sallyport/contract";
import { afterAll, describe, expect, test } from "vitest";
import { capturedUrl } from "./captured-url.ts";
import { HAND_MADE, hostileUrls } from "./testing/hostile-urls.ts";

const WEB_SCHEMES = new Set(["http:", "https:", "ws:", "wss:"]);
const BYTES_MAX = 8192;

type Reason = "userinfo" | "control" | "host" | "port" | "length";

/** Why the specification (section 2) refuses a URL that Node accepts; read from Node's URL, not from our parser. */
function reasonsToRefuse(text: string, url: URL): Reason[] {
  const reasons: Reason[] = [];
  if (url.username !== "" || url.password !== "") reasons.push("userinfo");
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) reasons.push("control");
  if (!isAllowedHost(url.hostname)) reasons.push("host");
  if (url.port === "0") reasons.push("port");
  const plain = new URL(url.href);
  plain.hash = "";
  if (Buffer.byteLength(text) > BYTES_MAX || plain.href.length > BYTES_MAX) reasons.push("length");
  return reasons;
}

function isAllowedHost(hostname: string): boolean {
  if (hostname.startsWith("[") || net.isIPv4(hostname)) return true;
  const name = hostname.replace(/\.$/, "");
  const isLabel = (label: string) => label.length <= 63 && /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(label);
  return name.length <= 253 && name.split(".").every(isLabel);
}

interface Dial {
  readonly host: string;
  readonly port: number;
}

/** What `http.request` hands to `net.connect`, and for a name what `net.connect` hands to the resolver. */
async function dialledBy(url: URL): Promise<Dial> {
  const web = new URL(url.href);
  // WHY: Node 20 has no client for web sockets; clients dial ws as http and wss as https.
  web.protocol = url.protocol.replace("ws", "http");
  const client = web.protocol === "https:" ? https : http;
  const dial = await new Promise<Dial>((resolve, reject) => {
    const agent = new client.Agent();
    // The agent's way to `net.connect`: what it is given is what would be connected to.
    agent.createConnection = (options) => {
      resolve({ host: String(options.host), port: Number(options.port) });
      return new net.Socket();
    };
    const request = client.request(web, { agent });
    request.on("error", reject);
    request.destroy();
  });
  if (net.isIP(dial.host) !== 0) return dial;
  const looked = await new Promise<string>((resolve) => {
    const socket = net.connect({
      ...dial,
      lookup: (hostname, _, done) => (resolve(hostname), done(new Error("not resolved"), "")),
    });
    socket.on("error", () => undefined);
  });
  return { ...dial, host: looked };
}

/** One spelling per host, without the parser under test: IPv6 in full, mapped and NAT64 addresses as IPv4. */
function spelled(host: string): string {
  const bare = host.replace(/^\[|\]$/g, "");
  if (net.isIP(bare) !== 6) return bare.replace(/\.$/, "").toLowerCase();
  const groups = ipv6Groups(bare);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  const isNat64 =
    groups[0] === 0x64 && groups[1] === 0xff9b && groups.slice(2, 6).every((group) => group === 0);
  if (!isMapped && !isNat64) return groups.map((group) => group.toString(16)).join(":");
  return [groups[6]! >> 8, groups[6]! & 255, groups[7]! >> 8, groups[7]! & 255].join(".");
}

function ipv6Groups(address: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const [a, b, c, d] = (dotted?.slice(2) ?? []).map(Number) as [number, number, number, number];
  const text = dotted ? `${dotted[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}` : address;
  const [left = "", right] = text.split("::");
  const read = (part: string) => (part === "" ? [] : part.split(":").map((group) => parseInt(group, 16)));
  const tail = right === undefined ? [] : read(right);
  return right === undefined
    ? read(left)
    : [...read(left), ...Array<number>(8 - read(left).length - tail.length).fill(0), ...tail];
}

interface Counts {
  entries: number;
  accepted: number;
  same: number;
  refused: Record<Reason, number>;
}

async function compareAll(
  texts: readonly { readonly text: string; readonly url: URL | undefined }[],
): Promise<Counts> {
  const counts: Counts = {
    entries: 0,
    accepted: 0,
    same: 0,
    refused: { userinfo: 0, control: 0, host: 0, port: 0, length: 0 },
  };
  for (const { text, url } of texts) {
    counts.entries++;
    if (url === undefined || !WEB_SCHEMES.has(url.protocol)) continue;
    counts.accepted++;
    const parsed = parseNetworkTarget(text, capturedUrl);
    const reasons = reasonsToRefuse(text, url);
    if (!parsed.ok || reasons.length > 0) {
      expect({ text, refused: !parsed.ok, hasReason: reasons.length > 0 }).toEqual({
        text,
        refused: true,
        hasReason: true,
      });
      for (const reason of reasons.slice(0, 1)) counts.refused[reason]++;
      continue;
    }
    const target = parsed.value;
    if (target.form !== "url") throw new Error(`\`${text}\` became an endpoint`);
    const dial = await dialledBy(url);
    expect({ text, host: spelled(target.host), port: target.port }).toEqual({
      text,
      host: spelled(dial.host),
      port: dial.port,
    });
    // What was normalized is dialled, never the raw text: both lead to the same place.
    const again = await dialledBy(new URL(target.text));
    expect({ text, host: spelled(again.host), port: again.port }).toEqual({
      text,
      host: spelled(dial.host),
      port: dial.port,
    });
    counts.same++;
  }
  return counts;
}

function parse(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

const asWritten = (text: string) => ({ text, url: parse(text) });
const table: Record<string, Counts> = {};
afterAll(() => {
  const report = process.env["SALLYPORT_WPT_REPORT"];
  if (report) writeFileSync(report, JSON.stringify({ node: process.version, ...table }, undefined, 2));
});

describe("the host that is decided on is the host that is dialled", () => {
  test("for URLs made by hand", async () => {
    const counts = (table["by hand"] = await compareAll(HAND_MADE.map(asWritten)));
    expect(counts.entries).toBeGreaterThanOrEqual(150);
    expect(counts.same).toBeGreaterThan(40);
    for (const [reason, count] of Object.entries(counts.refused)) expect(count, reason).toBeGreaterThan(0);
  });

  test("for generated URLs", async () => {
    const counts = (table["generated"] = await compareAll(hostileUrls(4000, 20_261_115).map(asWritten)));
    expect(counts.entries).toBeGreaterThanOrEqual(2000);
    expect(counts.accepted).toBeGreaterThan(1000);
    expect(counts.same).toBeGreaterThan(250);
  });

  test("for generated URLs as a URL object hands them on", async () => {
    const texts = hostileUrls(4000, 5).flatMap((text) => parse(text)?.href ?? []);
    const counts = (table["generated, href"] = await compareAll(texts.map(asWritten)));
    expect(counts.same).toBeGreaterThan(250);
    expect(counts.refused.control).toBe(0);
  });

  test("for the public test data, or more generated URLs where it is not given", async () => {
    const folder = process.env["SALLYPORT_WPT_DIR"];
    const entries = folder
      ? publicData(folder)
      : hostileUrls(4000, 6).map((input) => ({ input, base: null }));
    const written = entries.flatMap(({ input, base }) => (base === null ? [asWritten(input)] : []));
    const resolved = entries.flatMap(({ input, base }) => parse(input, base ?? undefined)?.href ?? []);
    table["public, as written"] = await compareAll(written);
    const counts = (table["public, href"] = await compareAll(resolved.map(asWritten)));
    expect(counts.same).toBeGreaterThan(100);
  });
});

interface PublicEntry {
  readonly input: string;
  readonly base: string | null;
}

function publicData(folder: string): PublicEntry[] {
  const data = JSON.parse(readFileSync(join(folder, "urltestdata.json"), "utf8")) as (string | PublicEntry)[];
  const entries = data.filter((entry): entry is PublicEntry => typeof entry !== "string");
  if (entries.length < 500)
    throw new Error(`\`${folder}\` holds only ${entries.length} entries: is it the public test data?`);
  return entries.map(({ input, base }) => ({ input, base: base === "about:blank" ? null : (base ?? null) }));
}
