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
  body.toString("latin1").match(/meta|payload|cmp|immediate|tproxy|lookup|dynset/g) ?? [];

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
  expect(rules?.map(({ kind }) => kind & 0xff)).toEqual([0x10, 0, 3, 9, 9, 6, 6, 6, 6, 6, 6, 6, 6, 0x11]);
  const acknowledged = rules?.map(({ flags }) => (flags & 4) !== 0) ?? [];
  expect(acknowledged.slice(1, -1).every(Boolean)).toBe(true);
  expect([acknowledged.at(0), acknowledged.at(-1)]).toEqual([false, false]);
});

test("TCP that leaves loopback is caught in both families; loopback only at a declared port", () => {
  const caught = rules
    ?.filter(({ kind }) => (kind & 0xff) === 6)
    .map(({ body }) => expressions(body).join(" "));
  const leaving = "meta cmp meta cmp payload cmp immediate tproxy";
  const forwarded = "meta cmp meta cmp payload cmp payload cmp immediate tproxy";
  expect(caught?.slice(0, 4)).toEqual([leaving, leaving, forwarded, forwarded]);
  const ports = rules?.filter(({ body }) => body.includes(Buffer.from([3000 >> 8, 3000 & 255]))).length;
  expect(ports).toBe(2);
});

test("a datagram whose destination was seen is left to the kernel, before one that was not is caught and seen", () => {
  const datagrams = rules
    ?.filter(({ kind }) => (kind & 0xff) === 6)
    .slice(4)
    .map(({ body }) => expressions(body).join(" "));
  const tests = "meta cmp meta cmp payload cmp payload cmp payload cmp payload payload";
  const seen = `${tests} lookup immediate`;
  const caught = `${tests} dynset payload payload immediate tproxy`;
  expect(datagrams).toEqual([seen, caught, seen, caught]);
  // INVARIANT: rules stand in the order in which they are told.
  expect(rules?.filter(({ kind }) => (kind & 0xff) === 6).every(({ flags }) => (flags & 0x800) !== 0)).toBe(
    true,
  );
});

test("every length is a multiple of four, as the launcher and the kernel want it", () => {
  for (const { bytes } of words) expect(bytes.length % 4).toBe(0);
});
