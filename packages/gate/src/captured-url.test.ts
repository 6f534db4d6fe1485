/* oxlint-disable typescript/unbound-method, no-extend-native -- the attack is the point */
import fc from "fast-check";
import { expect, test } from "vitest";
import { capturedUrl } from "./captured-url.ts";
import { hostileUrls } from "./testing/hostile-urls.ts";

function byConstructor(text: string): string | undefined {
  try {
    return new URL(text).href;
  } catch {
    return undefined;
  }
}

test("parses as the URL constructor does", () => {
  for (const text of hostileUrls(3000, 7)) expect(capturedUrl(text), text).toBe(byConstructor(text));
  fc.assert(
    fc.property(fc.oneof(fc.webUrl(), fc.string(), fc.string({ unit: "binary" })), (text) => {
      expect(capturedUrl(text)).toBe(byConstructor(text));
    }),
    { numRuns: 5000, seed: 2 },
  );
});

test("answers alike before and after V8 has optimized it, for texts in Latin-1 too", () => {
  const texts = [
    "https://fa\u00df.example/",
    "https://example.com/\u00e9?\u00ff#\u00a0",
    "https://example.com/",
    "http://\u00a0/",
    "http://[",
  ];
  const expected = texts.map(byConstructor);
  const wrong = new Set<string>();
  for (let round = 0; round < 60_000; round++) {
    for (let index = 0; index < texts.length; index++) {
      const text = texts[index] as string;
      if (capturedUrl(text) !== expected[index]) wrong.add(text);
    }
  }
  expect([...wrong]).toEqual([]);
});

test("a text that was refused leaves nothing behind for the next one", () => {
  expect(capturedUrl("https://one.example/")).toBe("https://one.example/");
  expect(capturedUrl("http://[")).toBeUndefined();
  expect(capturedUrl("relative")).toBeUndefined();
  expect(capturedUrl("https://two.example")).toBe("https://two.example/");
});

test("an accessor `href` on Object.prototype sees no parse and changes none", () => {
  let seen = 0;
  const forge = function (this: object) {
    seen++;
    Reflect.defineProperty(this, "href", { value: "https://allowed.example/", writable: true });
  };
  Object.defineProperty(Object.prototype, "href", {
    configurable: true,
    get: () => "https://allowed.example/",
    set: forge,
  });
  let answer: string | undefined;
  let refused: string | undefined;
  try {
    answer = capturedUrl("https://evil.example/x");
    refused = capturedUrl("http://[");
  } finally {
    Reflect.deleteProperty(Object.prototype, "href");
  }
  expect({ answer, refused, seen }).toEqual({
    answer: "https://evil.example/x",
    refused: undefined,
    seen: 0,
  });
});

test("replaced members of URL are not used", () => {
  const saved = { canParse: URL.canParse, href: Reflect.getOwnPropertyDescriptor(URL.prototype, "href") };
  let answer: string | undefined;
  try {
    URL.canParse = () => false;
    Object.defineProperty(URL.prototype, "href", {
      configurable: true,
      get: () => "https://allowed.example/",
    });
    answer = capturedUrl("https://evil.example/x");
  } finally {
    URL.canParse = saved.canParse;
    Object.defineProperty(URL.prototype, "href", saved.href as PropertyDescriptor);
  }
  expect(answer).toBe("https://evil.example/x");
});

test("what is not text is refused", () => {
  const trap = { toString: () => "https://allowed.example/" };
  expect(capturedUrl(trap as unknown as string)).toBeUndefined();
});
