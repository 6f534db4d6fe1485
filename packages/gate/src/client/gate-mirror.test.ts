import type { Context } from "@sallyport/policy";
import { beforeAll, expect, it } from "vitest";
import { type PrivateRealm, openPrivateRealm } from "../private-realm.ts";
import { CHANGES, CONTEXTS } from "../testing/realm-world.ts";
import { GateMirror } from "./gate-mirror.ts";

const tools = new URL("../../../../tools/build-realm.mjs", import.meta.url).href;
const HOSTED = [{ type: "tool", name: "demo" }] as const;
let script: string;

beforeAll(async () => {
  const { bundle } = (await import(tools)) as { readonly bundle: () => Promise<string> };
  script = await bundle();
});

/** A mirror whose process, and one hosted subject, stand in these contexts. */
function mirrorOf(own: Context, hosted: Context): GateMirror {
  const realm: PrivateRealm = openPrivateRealm({ seed: [1, 2], script });
  const mirror = new GateMirror(realm);
  const texts = (context: Context) => ({
    live: JSON.stringify(context),
    fenced: JSON.stringify({ ...context, live: false }),
  });
  const subjects = HOSTED.map((subject) => ({ subject, ...texts(hosted) }));
  const changes = { changes: JSON.stringify(CHANGES), count: CHANGES.length };
  expect(mirror.take({ ...changes, ...texts(own), hosted: subjects, isLast: true })).toBe(true);
  return mirror;
}

const inMode = (mode: Context["mode"]): Context =>
  CONTEXTS.find((context) => context.mode === mode) ?? { ...(CONTEXTS[0] as Context), mode };

it("only in mode bypass can what is allowed end by the clock; each subject stands in its own", () => {
  for (const mode of ["default", "plan", "untrusted", "never"] as const)
    expect(mirrorOf(inMode(mode), inMode("bypass")).isUntimed(undefined), mode).toBe(true);
  const mirror = mirrorOf(inMode("bypass"), inMode("default"));
  expect(mirror.isUntimed(undefined)).toBe(false);
  expect(mirror.isUntimed(HOSTED)).toBe(true);
});

it("of one subject inside another, and of one that is not known, nobody knows that it does not end", () => {
  const mirror = mirrorOf(inMode("default"), inMode("default"));
  expect(mirror.isUntimed([...HOSTED, ...HOSTED])).toBe(false);
  expect(mirror.isUntimed([{ type: "tool", name: "other" }])).toBe(false);
});
