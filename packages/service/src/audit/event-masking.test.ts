/** Masking: what is hidden, what stays readable, and what holds for every text. */
import { eventWire } from "@sallyport/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleEvent } from "../testing/sample-event.ts";
import { type MaskTally, maskMessage, maskRequested, maskTarget } from "./event-masking.ts";
import { maskEvent } from "./mask-event.ts";

const KEY = new Uint8Array(32).fill(7);
const SECRET = "hunter2";
const RANDOM = "dGhpc0lzQVNlY3JldDEyMzQ1Njc4OTA";
const GITHUB = `ghp_${"a1B2".repeat(9)}`;
const AWS = "AKIAIOSFODNN7EXAMPLE";
const JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
const PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----";

/** The hash of a mask is not part of what the tables say. */
const plain = (text: string): string => text.replaceAll(/\*\*\*[0-9a-f]{10}/g, "***");
const network = (text: string): string => plain(maskTarget("network", text, KEY));
const file = (text: string): string => plain(maskTarget("filesystem", text, KEY));
const message = (text: string): string => plain(maskMessage(text, KEY));

describe("in a network target", () => {
  it.each([
    ["a token", `https://a.example/x?token=${SECRET}`, "https://a.example/x?token=***"],
    [
      "an api key beside others",
      `https://a.example/?q=cats&api_key=${SECRET}&n=2`,
      "https://a.example/?q=cats&api_key=***&n=2",
    ],
    [
      "a key, spelled otherwise",
      `https://a.example/?X-Api-Key=${SECRET}`,
      "https://a.example/?X-Api-Key=***",
    ],
    [
      "a name in camel case",
      `https://a.example/?accessToken=${SECRET}`,
      "https://a.example/?accessToken=***",
    ],
    ["an encoded name", `https://a.example/?%74oken=${SECRET}`, "https://a.example/?%74oken=***"],
    [
      "a name in brackets",
      `https://a.example/?auth[password]=${SECRET}`,
      "https://a.example/?auth[password]=***",
    ],
    ["a code", "https://a.example/cb?code=4%2F0AX", "https://a.example/cb?code=***"],
    [
      "a signed address",
      `https://s.example/o?X-Amz-Signature=${SECRET}&X-Amz-Date=20260131`,
      "https://s.example/o?X-Amz-Signature=***&X-Amz-Date=20260131",
    ],
    [
      "a shared access signature",
      `https://s.example/o?sv=2024&sig=${SECRET}`,
      "https://s.example/o?sv=2024&sig=***",
    ],
    ["a value that holds an equals sign", "https://a.example/?secret=a=b", "https://a.example/?secret=***"],
    [
      "parameters behind semicolons",
      `https://a.example/x;sid=${SECRET}?a=1;pwd=${SECRET}`,
      "https://a.example/x;sid=***?a=1;pwd=***",
    ],
    ["user and password", `https://ann:${SECRET}@a.example/x`, "https://***@a.example/x"],
    ["user and password with an at sign", `https://ann:a@b@a.example/x`, "https://***@a.example/x"],
    ["user and password without slashes", `https:ann:${SECRET}@a.example/x`, "https:***@a.example/x"],
    ["user and password without a scheme", `ann:${SECRET}@a.example:22`, "***@a.example:22"],
    ["a random path segment", `https://a.example/hook/${RANDOM}/run`, "https://a.example/hook/***/run"],
    ["a random value", `https://a.example/?x=${RANDOM}`, "https://a.example/?x=***"],
    ["a random value alone", `https://a.example/?${RANDOM}`, "https://a.example/?***"],
    ["a GitHub token in the path", `https://a.example/${GITHUB}/x`, "https://a.example/***/x"],
    ["an AWS key id", `https://a.example/?id=${AWS}`, "https://a.example/?id=***"],
    ["a JSON Web Token", `https://a.example/?x=${JWT}`, "https://a.example/?x=***"],
    ["a token as a name", `https://a.example/?${GITHUB}=1`, "https://a.example/?***=1"],
    [
      "an address inside an address",
      `https://a.example/?next=https%3A%2F%2Fb.example%2F%3Ftoken%3D${SECRET}`,
      "https://a.example/?next=***",
    ],
    [
      "the same, encoded twice",
      `https://a.example/?next=b.example%252F%253Ftoken%253D${SECRET}`,
      "https://a.example/?next=***",
    ],
    [
      "a user inside an address inside an address",
      `https://a.example/?next=https://u:${SECRET}@b.example/`,
      "https://a.example/?next=***",
    ],
    [
      "a fragment",
      `https://a.example/#access_token=${SECRET}&x=1`,
      "https://a.example/#access_token=***&x=1",
    ],
    ["a PEM block", `https://a.example/?x=${PEM}`, "https://a.example/?x=***"],
    ["a pair without any address", `password=${SECRET}`, "password=***"],
  ])("hides %s", (_, text, shown) => {
    expect(network(text)).toBe(shown);
    expect(maskTarget("network", text, KEY)).not.toContain(SECRET);
  });

  it.each([
    "https://api.example.com/v1/reports?q=1&page=2",
    "https://a.example/2026/how-to-build-a-permission-system-that-people-like",
    "https://a.example/users/550e8400-e29b-41d4-a716-446655440000",
    "https://a.example/report-2026-q3-final-v2.pdf?format=application/json",
    "https://a.example/assets/main.3f2a1b9c.chunk.js",
    "https://a.example/at/2026-01-31T09:30:00.000Z",
    "https://a.example/?token=",
    "https://a.example/?to=ann%40example.com",
    "https://a.example/docs/sk-learn-tutorial-for-beginners",
    "https://xn--bcher-kva.example:8443/",
    "https://a1b2c3d4e5f6a7b8c9d0e1f2.example/x",
    "a.example:443",
    "[::1]:80",
    "unix:/run/app.sock",
  ])("leaves %s as it is", (text) => {
    expect(network(text)).toBe(text);
  });
});

describe("in a file path", () => {
  it.each([
    [`/data/token=${SECRET}/x`, "/data/token=***/x"],
    [`/data/x;password=${SECRET}`, "/data/x;password=***"],
    [`/data/api_key=a=b`, "/data/api_key=***"],
    [`/data/${RANDOM}/x`, `/data/${RANDOM}/x`],
    [`/data/${GITHUB}`, `/data/${GITHUB}`],
    ["/data/?token=abc", "/data/?token=***"],
    ["/data/tokens/secret", "/data/tokens/secret"],
    ["/data/year=2026/month=01", "/data/year=2026/month=01"],
  ])("%s is shown as %s", (path, shown) => {
    expect(file(path)).toBe(shown);
  });
});

describe("in what would be started", () => {
  it.each([
    [`/opt/tool --password ${SECRET}`, "/opt/tool --password ***"],
    [
      `/bin/sh -c curl -H 'Authorization: Bearer ${SECRET}'`,
      "/bin/sh -c curl -H 'Authorization: Bearer ***'",
    ],
    [`/opt/tool ${GITHUB} https://ann:${SECRET}@a.example/`, "/opt/tool *** https://***@a.example/"],
    ["/opt/tool /data/year=2026", "/opt/tool /data/year=2026"],
  ])("%s is shown as %s", (words, shown) => {
    expect(plain(maskRequested("filesystem", "execute", words, KEY))).toBe(shown);
    expect(plain(maskRequested("filesystem", "read", "/data/x", KEY))).toBe("/data/x");
  });
});

describe("in a message", () => {
  it.each([
    [
      "tool:demo.x may not receive `https://a.example/?token=abc`: ask",
      "tool:demo.x may not receive `https://a.example/?token=***`: ask",
    ],
    [`read ${GITHUB} from the file`, "read *** from the file"],
    [`Authorization: Bearer ${SECRET}`, "Authorization: Bearer ***"],
    [`password: ${SECRET}, user: ann`, "password: ***, user: ann"],
    [`{"password":"${SECRET}"}`, '{"password":"***"}'],
    [`curl -u x --token=${SECRET}`, "curl -u x --token=***"],
    [`curl --token ${SECRET} --verbose`, "curl --token *** --verbose"],
    ["tool --tokens-file x --keyboard y", "tool --tokens-file x --keyboard y"],
    [`the key is\n${PEM}`, "the key is\n***"],
    ["GET /x?secret=1&a=2", "GET /x?secret=***&a=2"],
    [
      "code: approval_required, request 7f3a9c1b2d4e5f60718293a4",
      "code: approval_required, request 7f3a9c1b2d4e5f60718293a4",
    ],
    ["a person has to approve this: Network receive", "a person has to approve this: Network receive"],
  ])("%s is shown as %s", (text, shown) => {
    expect(message(text)).toBe(shown);
  });
});

describe("a mask", () => {
  const shown = (value: string, key = KEY) => maskTarget("network", `https://a.example/?token=${value}`, key);

  it("is equal for equal values and differs otherwise", () => {
    expect(shown("one")).toBe(shown("one"));
    expect(shown("one")).not.toBe(shown("two"));
  });

  it("depends on the key", () => {
    expect(shown("one")).not.toBe(shown("one", new Uint8Array(32)));
  });

  it("covers a whole event, which is still an event", () => {
    const event = maskEvent(sampleEvent(1, `https://a.example/?token=${SECRET}`), KEY);
    expect(JSON.stringify(event)).not.toContain(SECRET);
    expect(event.data).toMatchObject({
      resource: { target: expect.stringMatching(/\?token=\*\*\*[0-9a-f]{10}$/) },
    });
    expect(eventWire.parse(event).ok).toBe(true);
    expect(maskEvent(sampleEvent(2), KEY)).toEqual(sampleEvent(2));
  });

  it("never makes a target longer than targets may be", () => {
    const query = "key=a&".repeat(1300);
    expect(maskTarget("network", `https://a.example/?${query}`, KEY).length).toBeLessThan(100);
    expect(maskTarget("network", `https://a.example/${"key=a/".repeat(1300)}`, KEY).length).toBeLessThan(100);
    expect(file(`/${"key=a/".repeat(2700)}`)).toBe("/***");
  });
});

const piece = fc.oneof(
  fc.constantFrom(
    "https://",
    "a.example",
    "/",
    "?",
    "#",
    "&",
    ";",
    "=",
    "@",
    ":",
    "%3D",
    "%253D",
    "%",
    "%zz",
    " ",
    "`",
  ),
  fc.constantFrom(
    "token",
    "key",
    "password",
    "x",
    "***",
    "***0123456789",
    "eyJ",
    "Bearer",
    "unix:",
    "-----BEGIN",
  ),
  fc.constantFrom(SECRET, RANDOM, GITHUB, JWT, AWS, "\ud800", "\u0000", "\u202e"),
  fc.string({ unit: "binary", maxLength: 5 }),
);
const anyText = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));

describe("every text", () => {
  it("can be masked, and masking it twice is masking it once", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("network", "filesystem", "system_dependency", "url"),
        anyText,
        (type, text) => {
          const once = maskTarget(type, text, KEY);
          expect(maskTarget(type, once, KEY)).toBe(once);
          expect(maskMessage(maskMessage(text, KEY), KEY)).toBe(maskMessage(text, KEY));
        },
      ),
      { numRuns: 20_000, seed: 5 },
    );
  });

  it.each([
    ["equals signs", "="],
    ["percent signs", "%"],
    ["encoded percent signs", "%25"],
    ["token beginnings", "eyJ"],
    ["PEM beginnings", "-----BEGI"],
    ["pairs", "key=a&"],
    ["segments", "token=a/"],
    ["at signs", "u:p@"],
    ["words", "password: a "],
    ["random text", "a1B2"],
    ["question marks", "?"],
    ["colons", ":"],
  ])("is walked a bounded number of times: %s", (_, part) => {
    const perCharacter = (length: number, type: string): number => {
      const tally: MaskTally = { characters: 0, values: 0 };
      const text = `https://a.example/${part.repeat(length / part.length)}`;
      maskTarget(type, text, KEY, tally);
      return tally.characters / text.length;
    };
    for (const type of ["network", "filesystem", "url"]) {
      expect(perCharacter(100_000, type)).toBeLessThan(24);
      expect(perCharacter(100_000, type)).toBeLessThan(perCharacter(2_000, type) * 1.5 + 1);
    }
  });
});
