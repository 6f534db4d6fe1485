import { describe, expect, it } from "vitest";
import { canonicalFilesystemPath, parseFilesystemTarget, resolveFilesystemTarget } from "./filesystem.ts";

const parse = (path: unknown): string => {
  const parsed = parseFilesystemTarget(path);
  return parsed.ok ? parsed.value.text : parsed.code;
};

describe("a filesystem target", () => {
  it.each([
    ["/", "/"],
    ["/data", "/data"],
    ["/data/", "/data"],
    ["//data///app", "/data/app"],
    ["/./data/./app/.", "/data/app"],
    ["/data/...", "/data/..."],
    ["/data/..x/x../.x", "/data/..x/x../.x"],
    ["/data/a b\nc\\d", "/data/a b\nc\\d"],
    ["/data/Ünï", "/data/Ünï"],
    ["/data/😀", "/data/😀"],
  ])("is normalized: %j → %j", (written, normalized) => {
    expect(parse(written)).toBe(normalized);
    expect(parse(normalized)).toBe(normalized);
  });

  it.each([
    "",
    "data",
    "./data",
    "../data",
    "/data/..",
    "/../etc",
    "/a/../b",
    "/a\0b",
    "\0",
    "/a/\ud800",
    "/a/\udc00\ud800",
    `/${"a".repeat(16384)}`,
    undefined,
    7,
    {},
    ["/a"],
  ])("is invalid: %j", (written) => expect(parse(written)).toBe("invalid_target"));

  it("takes whole surrogate pairs and nothing less, at every edge of their range", () => {
    const whole = [
      "\ud7ff",
      "\ue000",
      "\uffff",
      "\ud800\udc00",
      "\ud800\udfff",
      "\udbff\udc00",
      "\udbff\udfff",
    ];
    const broken = [
      "\ud800",
      "\udbff",
      "\udc00",
      "\udfff",
      "\ud800\ud800",
      "\ud800\udbff",
      "\ud800\ue000",
      "\ud800a",
      "\udc00\udc00",
    ];
    for (const name of whole) expect([name, parse(`/${name}`)]).toEqual([name, `/${name}`]);
    for (const name of broken) expect([name, parse(`/${name}`)]).toEqual([name, "invalid_target"]);
  });

  it("has a length that ends where it is said to end", () => {
    const longest = `/${"a".repeat(16383)}`;
    expect(parse(longest)).toBe(longest);
    expect(parse(`${longest}a`)).toBe("invalid_target");
  });

  it("says what is wrong, and which field is at fault", () => {
    const walk = (path: unknown, real: string | undefined) =>
      resolveFilesystemTarget(path, { realPath: () => real, cwd: "/", lastLink: "follow" });
    const faults = [
      [parseFilesystemTarget(7), "must be text"],
      [parseFilesystemTarget("x"), "must be an absolute path without `..` and NUL"],
      [walk(7, "/"), "must be text"],
      [walk("", "/"), "must not be empty"],
      [walk("/\0", "/"), "must be valid text without NUL"],
      [walk("/a", undefined), "cannot be walked: a link loops, or `..` follows a folder that does not exist"],
      [walk("/a", "b"), "does not lead to an absolute path"],
    ] as const;
    for (const [parsed, reason] of faults) {
      const message = `filesystem target ${reason}`;
      expect(parsed).toEqual({ ok: false, code: "invalid_target", field: "target", message });
    }
  });

  it("leaves `..` to the walk through the links", () => {
    expect(canonicalFilesystemPath("/dir/link/../x")).toBeUndefined();
    const walked: string[] = [];
    const realPath = (path: string): string => (walked.push(path), "/elsewhere/x");
    const target = resolveFilesystemTarget("/dir/link/../x", { realPath, cwd: "/", lastLink: "follow" });
    expect(walked).toEqual(["/dir/link/../x"]);
    expect(target).toMatchObject({ ok: true, value: { requested: "/dir/link/../x", text: "/elsewhere/x" } });
  });

  it("starts a relative path from the working folder", () => {
    const realPath = (path: string): string | undefined => canonicalFilesystemPath(path);
    const target = resolveFilesystemTarget("x/y", { realPath, cwd: "/srv", lastLink: "keep" });
    expect(target).toMatchObject({ ok: true, value: { text: "/srv/x/y", requested: "x/y" } });
  });

  it("is invalid where the walk fails or does not lead to a real absolute path", () => {
    for (const real of [undefined, "relative", "/a/../b", "/a/", ""]) {
      const target = resolveFilesystemTarget("/a", { realPath: () => real, cwd: "/", lastLink: "follow" });
      expect(target).toMatchObject({ ok: false, code: "invalid_target" });
    }
  });

  it("never hands the walk a path that the kernel would read otherwise", () => {
    for (const path of ["", "/a\0", "\0", "/\ud800", 7, null]) {
      const realPath = (): string => expect.unreachable(String(path));
      expect(resolveFilesystemTarget(path, { realPath, cwd: "/", lastLink: "follow" }).ok).toBe(false);
    }
  });
});
