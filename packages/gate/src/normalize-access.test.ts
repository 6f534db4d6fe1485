import type { Host } from "@sallyport/contract";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { capturedUrl } from "./captured-url.ts";
import { NameCache } from "./name-cache.ts";
import { type AccessPorts, type RawQuestion, normalizeAccess } from "./normalize-access.ts";
import { realPath } from "./real-path.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-access-")));
mkdirSync(join(folder, "real"));
writeFileSync(join(folder, "real", "secret"), "");
symlinkSync("real", join(folder, "link"));
symlinkSync("real/secret", join(folder, "last"));
afterAll(() => rmSync(folder, { recursive: true }));

const names = new NameCache();
names.record("api.example.com" as Host, ["192.0.2.7" as Host], 1000);
const ports: AccessPorts = { parseUrl: capturedUrl, realPath, names, cwd: folder, nowMs: 2000 };

const ask = (resourceType: unknown, operation: unknown, target: unknown, more: Partial<RawQuestion> = {}) =>
  normalizeAccess({ resourceType, operation, target, ...more }, ports);

function textOf(result: ReturnType<typeof ask>): string | undefined {
  return "target" in result.access ? result.access.target.text : undefined;
}

function codeOf(result: ReturnType<typeof ask>): string | undefined {
  return "code" in result.access ? result.access.code : undefined;
}

describe("a path", () => {
  test("is walked from the working folder through its links, and its written form is kept", () => {
    const { access } = ask("filesystem", "read", "link/secret");
    expect(access).toMatchObject({
      operation: "read",
      target: { text: `${folder}/real/secret`, requested: "link/secret" },
    });
  });

  test("is taken from bytes and from file URLs", () => {
    expect(textOf(ask("filesystem", "read", Buffer.from("link/secret")))).toBe(`${folder}/real/secret`);
    expect(textOf(ask("filesystem", "read", new URL(`file://${folder}/link/secret`)))).toBe(
      `${folder}/real/secret`,
    );
  });

  test("names the link itself when it is deleted, and what it leads to otherwise", () => {
    expect(textOf(ask("filesystem", "delete", "last"))).toBe(`${folder}/last`);
    expect(textOf(ask("filesystem", "modify", "last"))).toBe(`${folder}/real/secret`);
    expect(textOf(ask("filesystem", "read", "last", { lastLink: "keep" }))).toBe(`${folder}/last`);
  });

  test("is invalid where it cannot be read or walked", () => {
    for (const target of [
      "",
      "a\0b",
      "missing/../x",
      "last/x",
      7,
      undefined,
      {},
      new URL("https://example.com/"),
    ]) {
      expect(codeOf(ask("filesystem", "read", target))).toBe("invalid_target");
    }
  });
});

describe("a network target", () => {
  test("is taken from text and from URL objects", () => {
    expect(textOf(ask("network", "receive", "HTTPS://Example.com:443/a/../b#f"))).toBe(
      "https://example.com/b",
    );
    expect(textOf(ask("network", "receive", new URL("https://example.com/b")))).toBe("https://example.com/b");
    expect(textOf(ask("network", "connect", "Example.com.:22"))).toBe("example.com:22");
  });

  test("carries the names that an address was resolved from", () => {
    expect(ask("network", "connect", "192.0.2.7:443").aliases).toEqual(["api.example.com"]);
    expect(ask("network", "connect", "https://[::ffff:192.0.2.7]/").aliases).toEqual(["api.example.com"]);
    expect(ask("network", "connect", "192.0.2.8:443")).not.toHaveProperty("aliases");
    expect(ask("network", "connect", "api.example.com:443")).not.toHaveProperty("aliases");
  });

  test("carries the address that will be dialled for a name", () => {
    expect(ask("network", "connect", "api.example.com:443", { address: "::ffff:127.0.0.1" }).address).toBe(
      "127.0.0.1",
    );
    expect(ask("network", "connect", "192.0.2.8:443", { address: "127.0.0.1" })).not.toHaveProperty(
      "address",
    );
  });

  test("is invalid where the address to dial is none", () => {
    for (const address of ["other.example", "", 3, {}, null]) {
      expect(codeOf(ask("network", "connect", "api.example.com:443", { address }))).toBe("invalid_target");
    }
  });

  test("that is a unix socket is the socket behind the link", () => {
    const { access } = ask("network", "connect", `unix:${folder}/link/socket`);
    expect(access).toMatchObject({
      target: { text: `unix:${folder}/real/socket`, requested: `unix:${folder}/link/socket` },
    });
    expect(codeOf(ask("network", "send", `unix:${folder}/link/socket`))).toBe("invalid_target");
    expect(codeOf(ask("network", "connect", `unix:${folder}/last/x`))).toBe("invalid_target");
  });

  test("that only looks like a URL is invalid and is not asked", () => {
    let asked = 0;
    const lookAlike = {
      get href() {
        return (asked++, "https://example.com/");
      },
      toString: () => (asked++, "https://example.com/"),
    };
    expect(codeOf(ask("network", "receive", lookAlike))).toBe("invalid_target");
    expect(asked).toBe(0);
  });
});

test("a system dependency is a lower-case name", () => {
  expect(textOf(ask("system_dependency", "execute", "FFmpeg"))).toBe("ffmpeg");
  expect(codeOf(ask("system_dependency", "execute", "./ffmpeg"))).toBe("invalid_target");
});

test("a pair that does not belong together is an invalid operation, whatever its target", () => {
  expect(codeOf(ask("network", "read", "\0"))).toBe("invalid_operation");
  expect(codeOf(ask("url", "connect", "https://example.com/"))).toBe("invalid_operation");
  expect(codeOf(ask({ toString: () => "network" }, "connect", "https://example.com/"))).toBe(
    "invalid_operation",
  );
});

test("a question whose properties throw is an invalid target", () => {
  const question = {
    resourceType: "network",
    operation: "connect",
    get target(): string {
      throw new Error("trap");
    },
  };
  expect(normalizeAccess(question, ports).access).toMatchObject({ ok: false, code: "invalid_target" });
});
