import { describe, expect, it } from "vitest";
import { parseSystemDependencyTarget } from "./system-dependency.ts";

describe("a system dependency target", () => {
  it.each([
    ["ffmpeg", "ffmpeg"],
    ["FFmpeg", "ffmpeg"],
    ["g++", "g++"],
    ["python3.11", "python3.11"],
    ["x86_64-linux-gnu-gcc", "x86_64-linux-gnu-gcc"],
    ["7z", "7z"],
    ["a".repeat(128), "a".repeat(128)],
  ])("is normalized: %s → %s", (written, name) => {
    expect(parseSystemDependencyTarget(written)).toMatchObject({
      ok: true,
      value: { text: name, requested: written },
    });
  });

  it.each([
    "",
    "/usr/bin/ffmpeg",
    "./ffmpeg",
    "../ffmpeg",
    "a/b",
    "-rf",
    ".hidden",
    "_x",
    "a b",
    "a\0",
    "ffmpeg\n",
    "ﬀmpeg",
    "\u212a",
    "a".repeat(129),
    undefined,
    7,
    {},
  ])("is invalid: %j", (written) =>
    expect(parseSystemDependencyTarget(written)).toMatchObject({
      ok: false,
      code: "invalid_target",
      field: "target",
      message: expect.stringContaining("use filesystem execute") as string,
    }),
  );
});
