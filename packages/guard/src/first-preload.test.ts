/** The guard starts first or not at all. */
import { expect, it } from "vitest";
import { type StartFacts, startFault } from "./first-preload.ts";

const FIRST: StartFacts = {
  file: "/guard/preload.cjs",
  preloads: ["/guard/preload.cjs"],
  loaded: ["/guard/preload.cjs"],
  flags: ["--require", "/guard/preload.cjs", ""],
  platform: "linux",
};

it("starts where nothing ran before it, and lets other preloads come after", () => {
  expect(startFault(FIRST)).toBeUndefined();
  expect(startFault({ ...FIRST, preloads: [FIRST.file, "/other.cjs"] })).toBeUndefined();
});

it.each<[string, Partial<StartFacts>]>([
  ["behind another preload", { preloads: ["/other.cjs", FIRST.file] }],
  ["where it is no preload at all", { preloads: [] }],
  ["where a file was loaded already", { loaded: ["/other.cjs", FIRST.file] }],
  ["where descriptors cannot be verified", { platform: "darwin" }],
  ["with internals exposed", { flags: ["--expose-internals"] }],
  ["with internals exposed, spelled otherwise", { flags: ["--expose_internals"] }],
  ["beside a loader thread", { flags: ["--experimental-loader=./x.mjs"] }],
  ["beside a debugger", { flags: ["--inspect-brk=127.0.0.1:0"] }],
])("does not start %s", (_, change) => {
  expect(startFault({ ...FIRST, ...change })).toBeTypeOf("string");
});
