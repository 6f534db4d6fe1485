/** What the kernel is told about the network, read back as text. */
import { expect, test } from "vitest";
import { captureWords } from "./netlink-message.ts";

interface Message {
  readonly kind: number;
  readonly flags: number;
  readonly body: Buffer;
}

function messages(bytes: Buffer): readonly Message[] {
  const list: Message[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = bytes.readUInt32LE(at);
    list.push({
      kind: bytes.readUInt16LE(at + 4),
      flags: bytes.readUInt16LE(at + 6),
      body: bytes.subarray(at + 16, at + size),
    });
    at += size;
  }
  return list;
}

/** Names of the expressions of a rule, in order. */
const expressions = (body: Buffer): readonly string[] =>
  body.toString("latin1").match(/meta|payload|cmp|immediate|tproxy/g) ?? [];

const words = captureWords({ catchPort: 15_001, forwardedPorts: [3000] });
const [v4, v6, rules] = words.map(({ bytes }) => messages(bytes));

test("every address of both families is local, by the loopback device", () => {
  expect(words.map(({ protocol }) => protocol)).toEqual([0, 0, 12]);
  for (const [family, list] of [
    [2, v4],
    [10, v6],
  ] as const) {
    expect(list).toHaveLength(1);
    expect([...(list?.[0]?.body ?? [])].slice(0, 8)).toEqual([family, 0, 0, 0, 255, 4, 254, 2]);
  }
});

test("all packet rules are taken together, and each is acknowledged", () => {
  expect(rules?.map(({ kind }) => kind & 0xff)).toEqual([0x10, 0, 3, 6, 6, 6, 6, 0x11]);
  expect(rules?.map(({ flags }) => (flags & 4) !== 0)).toEqual([
    false,
    true,
    true,
    true,
    true,
    true,
    true,
    false,
  ]);
});

test("TCP that leaves loopback is caught in both families; loopback only at a declared port", () => {
  const caught = rules
    ?.filter(({ kind }) => (kind & 0xff) === 6)
    .map(({ body }) => expressions(body).join(" "));
  const leaving = "meta cmp meta cmp payload cmp immediate tproxy";
  const forwarded = "meta cmp meta cmp payload cmp payload cmp immediate tproxy";
  expect(caught).toEqual([leaving, leaving, forwarded, forwarded]);
  const ports = rules?.filter(({ body }) => body.includes(Buffer.from([3000 >> 8, 3000 & 255]))).length;
  expect(ports).toBe(2);
});

test("every length is a multiple of four, as the launcher and the kernel want it", () => {
  for (const { bytes } of words) expect(bytes.length % 4).toBe(0);
});
