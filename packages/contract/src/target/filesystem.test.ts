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
