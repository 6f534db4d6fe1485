import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { pathText } from "./path-text.ts";

test("text is taken as it is, also where it looks like a URL", () => {
  expect(pathText("/a/../b")).toBe("/a/../b");
  expect(pathText("file:///a")).toBe("file:///a");
  expect(pathText("\u{1f511}")).toBe("\u{1f511}");
});

test("NUL, empty text and half a surrogate pair are refused", () => {
  for (const text of ["", "/a\0b", "/\ud83d", "/\udd11", "/\udd11\ud83d"])
    expect(pathText(text), JSON.stringify(text)).toBeUndefined();
  expect(pathText(Buffer.from("/a\0b"))).toBeUndefined();
  expect(pathText(Buffer.from(""))).toBeUndefined();
  expect(pathText(new URL("file:///a%00b"))).toBeUndefined();
});

test("bytes are read as strict UTF-8", () => {
  expect(pathText(Buffer.from("/h\u00e9/\u20ac/\u{1f511}"))).toBe("/h\u00e9/\u20ac/\u{1f511}");
  expect(pathText(new Uint8Array([0x2f, 0x61]))).toBe("/a");
  for (const bytes of [
    [0x80],
    [0xc0, 0xaf],
    [0xc1, 0x81],
    [0xe0, 0x80, 0xaf],
    [0xed, 0xa0, 0x80],
    [0xf0, 0x80, 0x80, 0xaf],
    [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
    [0xe2, 0x82],
    [0xe2, 0x28, 0xa1],
    [0xff],
  ]) {
    expect(pathText(new Uint8Array([0x2f, ...bytes])), bytes.join(" ")).toBeUndefined();
  }
});

test("bytes decode as Node's strict decoder decodes them", () => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const byte = fc.oneof(
    fc.integer({ min: 1, max: 255 }),
    fc.constantFrom(0xc2, 0xe2, 0xed, 0xf0, 0xf4, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf),
  );
  const text = fc.string({ unit: "binary", minLength: 1 }).map((value) => [...Buffer.from(value)]);
  fc.assert(
    fc.property(fc.oneof(fc.array(byte, { minLength: 1, maxLength: 12 }), text), (values) => {
      const bytes = new Uint8Array(values);
      let expected: string | undefined;
      try {
        expected = decoder.decode(bytes);
      } catch {
        expected = undefined;
      }
      expect(pathText(bytes)).toBe(expected?.includes("\0") ? undefined : expected);
    }),
    { numRuns: 20_000, seed: 1 },
  );
});

test("a file URL is the path that Node opens for it", () => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-text-"));
  try {
    for (const name of ["a b", "50%", "h\u00e9", "q?x#y", "back\\slash"]) {
      const path = join(folder, name);
      writeFileSync(path, name);
      const url = pathToFileURL(path);
      expect(pathText(url)).toBe(path);
      url.search = "?query";
      url.hash = "#hash";
      expect(pathText(url)).toBe(path);
      expect(readFileSync(url, "utf8")).toBe(readFileSync(pathText(url) as string, "utf8"));
      expect(pathText(url)).toBe(fileURLToPath(url));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("other URLs, hosts, encoded slashes and broken escapes are refused", () => {
  for (const text of [
    "https://example.com/a",
    "file://server/share",
    "file:///a%2fb",
    "file:///a%2Fb",
    "file:///a%ff",
    "data:,x",
    "blob:x",
  ]) {
    expect(pathText(new URL(text)), text).toBeUndefined();
  }
  expect(pathText(new URL("file://localhost/a"))).toBe("/a");
});

test("objects that only look like a path are refused without being asked", () => {
  let asked = 0;
  const ask = () => (asked++, "file:///etc/passwd");
  const lookAlikes = [
    { href: "file:///a", protocol: "file:", pathname: "/a" },
    {
      get href() {
        return ask();
      },
      toString: ask,
      [Symbol.toPrimitive]: ask,
    },
    new Proxy(new URL("file:///a"), { get: ask }),
    new Uint16Array([0x2f2f]),
    new DataView(new ArrayBuffer(2)),
    ["/a"],
    Object("/a"),
    null,
    undefined,
    3,
    Symbol("a"),
  ];
  for (const value of lookAlikes) expect(pathText(value)).toBeUndefined();
  expect(asked).toBe(0);
});

test("a subclass of URL whose getter lies is read by its real content", () => {
  class Lying extends URL {}
  Object.defineProperty(Lying.prototype, "href", { get: () => "file:///allowed" });
  expect(new Lying("file:///secret").href).toBe("file:///allowed");
  expect(pathText(new Lying("file:///secret"))).toBe("/secret");
});

test("bytes are those of the array itself, whatever its properties say", () => {
  const bytes = new Uint8Array([0x2f, 0x61]);
  Object.defineProperty(bytes, "length", { value: 1 });
  Object.defineProperty(bytes, "toString", { value: () => "/forged" });
  expect(pathText(bytes)).toBe("/a");
});
