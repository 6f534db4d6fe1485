/** Which flags a Node may have that guarded code starts, and which variables. */
import { describe, expect, it } from "vitest";
import { childPairs, isScrubbed, valueOf, withChannel } from "./child-environment.ts";
import { badFlag, guardedArgs } from "./node-flags.ts";

const bad = (...words: readonly string[]): string | undefined => badFlag(["node", ...words], 1);

describe("flags of a Node", () => {
  it.each([
    [["app.js", "--inspect"]],
    [["--no-warnings", "app.js"]],
    [["-e", "1", "--trace-warnings"]],
    [["--require", "./x.cjs", "--import", "./y.mjs", "app.js"]],
    [["--max-old-space-size=64", "--conditions=dev", "-C", "prod", "app.js"]],
    [["-pe", "1"]],
    [["-"]],
    [["--", "--inspect"]],
    [[]],
  ])("%j pass", (words) => {
    expect(bad(...words)).toBeUndefined();
  });

  it.each([
    [["--inspect", "app.js"], "--inspect"],
    [["-r", "x.cjs", "--inspect-brk=0"], "--inspect-brk=0"],
    // WHY: Node takes no word with a dash for a value, so this is a flag.
    [["-e", "--inspect"], "--inspect"],
    [["-p", "1", "--env-file=x"], "--env-file=x"],
    [["--max-old-space-size", "64"], "--max-old-space-size"],
    [["--no-warnings=1"], "--no-warnings=1"],
    [["--expose_internals"], "--expose_internals"],
    [["--experimental-loader=x"], "--experimental-loader=x"],
    [["--snapshot-blob", "x"], "--snapshot-blob"],
    [["--run", "build"], "--run"],
    [["--openssl-config=x"], "--openssl-config=x"],
    [["--permission"], "--permission"],
  ])("%j are refused by %j", (words, flag) => {
    expect(bad(...words)).toBe(flag);
  });

  it("the guard stands in front of everything else, behind the name", () => {
    expect(guardedArgs(["zero", "-r", "x", "app.js"], "/guard.cjs", ["--flag"])).toEqual([
      "zero",
      "--require",
      "/guard.cjs",
      "--flag",
      "-r",
      "x",
      "app.js",
    ]);
  });
});

describe("the environment of a child", () => {
  it.each([
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "NODE_V8_COVERAGE",
    "BASH_ENV",
    "GIT_CONFIG_KEY_0",
    "SALLYPORT_GATE_FD",
  ])("has no %s", (name) => {
    expect(isScrubbed(name)).toBe(true);
  });

  it.each(["PATH", "HOME", "NODE_ENV", "NODE_UNIQUE_ID", "LDFLAGS", "ENVIRONMENT"])("may have %s", (name) => {
    expect(isScrubbed(name)).toBe(false);
  });

  it("is texts alone, the last of equal names counts, and only Node's own channel is added later", () => {
    const pairs = childPairs(["A=1", 7, "LD_PRELOAD=x", "A=2=3", {}]);
    expect(pairs).toEqual(["A=1", "A=2=3"]);
    expect([valueOf(pairs, "A"), valueOf(pairs, "B")]).toEqual(["2=3", undefined]);
    const later = ["A=1", "A=2=3", "NODE_OPTIONS=--inspect", "NODE_CHANNEL_FD=3", 4];
    expect(withChannel(pairs, later)).toEqual(["A=1", "A=2=3", "NODE_CHANNEL_FD=3"]);
    expect(withChannel(pairs, "NODE_CHANNEL_FD=3")).toEqual(pairs);
  });
});
