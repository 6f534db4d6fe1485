/** Questions for names: what is answered, and what hostile bytes get. */
import { expect, test } from "vitest";
import fc from "fast-check";
import type { Host } from "@sallyport/contract";
import { answerName } from "./answer-name.ts";
import { RESOLVER_ADDRESS, SyntheticNames, isSynthetic } from "./synthetic-names.ts";

const A = 1;
const AAAA = 28;
const HTTPS = 65;

function question(name: string, type = A, kind = 1): Buffer {
  const head = Buffer.from([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const labels = name
    .split(".")
    .flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, "latin1")]);
  return Buffer.concat([head, ...labels, Buffer.from([0, 0, type, 0, kind])]);
}

/** Code, and the address where there is one. */
function read(answer: Buffer | undefined): string {
  if (answer === undefined) return "silence";
  const code = answer.readUInt16BE(2) & 0x0f;
  const size = answer.length - 4;
  return answer.readUInt16BE(6) === 0 ? `code ${code}` : [...answer.subarray(size)].join(".");
}

test("a name has one address for as long as the sandbox lives, and two names never share one", () => {
  const names = new SyntheticNames();
  const first = read(answerName(question("Example.COM"), names));
  expect(isSynthetic(first)).toBe(true);
  expect(read(answerName(question("example.com"), names))).toBe(first);
  const second = read(answerName(question("example.org"), names));
  expect(second).not.toBe(first);
  expect([names.nameOf(first), names.nameOf(second)]).toEqual(["example.com", "example.org"]);
  expect(names.nameOf(RESOLVER_ADDRESS)).toBeUndefined();
});

test("other records are empty, so that no key for a hidden name is found; local names are local", () => {
  const names = new SyntheticNames();
  expect(read(answerName(question("example.com", AAAA), names))).toBe("code 0");
  expect(read(answerName(question("example.com", HTTPS), names))).toBe("code 0");
  expect(read(answerName(question("localhost"), names))).toBe("127.0.0.1");
  expect(read(answerName(question("evil.localhost"), names))).toBe("127.0.0.1");
});

test("what is no name does not exist", () => {
  const names = new SyntheticNames();
  for (const name of ["evil\0.com", "a b.com", "x@y.com", "-a.com"])
    expect(read(answerName(question(name), names))).toBe("code 3");
  expect(read(answerName(question("example.com", A, 3), names))).toBe("code 3");
});

test("attack: a flood of names fails and takes no address from another", () => {
  const names = new SyntheticNames();
  for (let index = 0; index < 65_536; index++) names.addressOf(`n${index}.test` as Host);
  expect(read(answerName(question("one.more.test"), names))).toBe("code 2");
  expect(names.nameOf(names.addressOf("n0.test" as Host) ?? "")).toBe("n0.test");
  expect(names.nameOf(names.addressOf("n65535.test" as Host) ?? "")).toBe("n65535.test");
});

test("attack: bytes that are no question get silence or a refusal, whatever they are", () => {
  const names = new SyntheticNames();
  const valid = question("example.com");
  expect(read(answerName(Buffer.alloc(3), names))).toBe("silence");
  const reply = Buffer.from(valid);
  reply.writeUInt16BE(0x8180, 2);
  expect(read(answerName(reply, names))).toBe("silence");
  const pointing = Buffer.concat([valid.subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]);
  expect(read(answerName(pointing, names))).toBe("code 4");
  expect(read(answerName(valid.subarray(0, 20), names))).toBe("code 4");
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const answer = answerName(Buffer.from(bytes), names);
      return answer === undefined || answer.length <= bytes.length + 28;
    }),
  );
});
