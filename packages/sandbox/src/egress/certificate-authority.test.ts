/** Certificates: read by Node, verified by OpenSSL's strict rules, and good for their host only. */
import { execFileSync } from "node:child_process";
import { X509Certificate, createPrivateKey } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Host } from "@sallyport/contract";
import { openAuthority } from "./certificate-authority.ts";

const NOW = Date.now();
const authority = openAuthority(NOW);
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sp-ca-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const first = (pem: string): X509Certificate => new X509Certificate(pem);

describe.each(["api.example.com", "127.0.0.1", "[2620:fe::fe]", "[::1]", `${"a".repeat(60)}.example.com`])(
  "%s",
  (host) => {
    const { certificates, key } = authority.certify(host as Host);
    const own = first(certificates);
    const bare = host.replace(/^\[|\]$/g, "");

    test("has a certificate of its own, signed by the authority, with the key that belongs to it", () => {
      expect(own.verify(first(authority.certificate).publicKey)).toBe(true);
      expect(own.checkIssued(first(authority.certificate))).toBe(true);
      expect(own.checkPrivateKey(createPrivateKey(key))).toBe(true);
      expect(own.ca).toBe(false);
    });

    test("is the only host that it is good for", () => {
      const isName = /[a-z]/.test(bare) && !bare.includes(":");
      expect(isName ? own.checkHost(bare) : own.checkIP(bare)).toBe(isName ? bare : bare);
      expect(own.checkHost("evil.example.com")).toBeUndefined();
      expect(own.checkHost(`sub.${bare}`)).toBeUndefined();
    });

    test("passes the strict rules of OpenSSL", () => {
      writeFileSync(join(folder, "ca.pem"), authority.certificate);
      writeFileSync(join(folder, "own.pem"), certificates);
      const args = ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "ca.pem", "own.pem"];
      expect(execFileSync("env", ["openssl", ...args], { cwd: folder, encoding: "utf8" })).toBe(
        "own.pem: OK\n",
      );
    });
  },
);

test("two sandboxes have two authorities, and neither signs for the other", () => {
  const other = openAuthority(NOW);
  const { certificates } = authority.certify("api.example.com" as Host);
  expect(first(certificates).verify(first(other.certificate).publicKey)).toBe(false);
  expect(first(authority.certificate).ca).toBe(true);
});

test("holds from a day ago for a year", () => {
  const { validFrom, validTo } = first(authority.certificate);
  expect(Date.parse(validFrom)).toBeLessThan(NOW);
  expect(Math.round((Date.parse(validTo) - Date.parse(validFrom)) / 86_400_000)).toBe(366);
});
