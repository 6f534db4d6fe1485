/** The first bytes of TLS: read from a real client, cut at every byte, and bent. */
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { connect } from "node:tls";
import { beforeAll, expect, test } from "vitest";
import fc from "fast-check";
import { readClientHello } from "./client-hello.ts";

let hello: Buffer;

beforeAll(async () => {
  const bytes = new Promise<Buffer>((resolve) => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", (data: Buffer) => {
        socket.destroy();
        server.close();
        resolve(data);
      });
    });
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      connect({ host: "127.0.0.1", port, servername: "api.example.com" }).on("error", () => undefined);
    });
  });
  hello = await bytes;
});

const named = { kind: "hello", serverName: "api.example.com", hidesName: false };

test("a real greeting says its name", () => expect(readClientHello(hello)).toEqual(named));

test("a greeting that is cut anywhere is short, never one without a name", () => {
  for (let size = 0; size < hello.length; size++)
    expect(readClientHello(hello.subarray(0, size))).toEqual({ kind: "short" });
});

test("a greeting in several records is the same greeting", () => {
  const body = hello.subarray(5);
  const record = (part: Buffer): Buffer => {
    const head = Buffer.from([22, 3, 1, 0, 0]);
    head.writeUInt16BE(part.length, 3);
    return Buffer.concat([head, part]);
  };
  const split = Buffer.concat([
    record(body.subarray(0, 3)),
    record(body.subarray(3, 60)),
    record(body.subarray(60)),
  ]);
  expect(readClientHello(split)).toEqual(named);
});

test("what is no TLS is something else", () => {
  expect(readClientHello(Buffer.from("GET / HTTP/1.1\r\n"))).toEqual({ kind: "other" });
  expect(readClientHello(Buffer.from([22, 9]))).toEqual({ kind: "other" });
});

/** A greeting with these extensions and nothing else. */
function made(...extensions: readonly Buffer[]): Buffer {
  const list = Buffer.concat(extensions);
  const sized = (size: number, bytes: Buffer): Buffer => {
    const head = Buffer.alloc(size);
    head.writeUIntBE(bytes.length, 0, size);
    return Buffer.concat([head, bytes]);
  };
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32),
    sized(1, Buffer.alloc(0)),
    sized(2, Buffer.from([0x13, 1])),
    sized(1, Buffer.from([0])),
    sized(2, list),
  ]);
  const message = Buffer.concat([Buffer.from([1]), sized(3, body)]);
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(2, message)]);
}

const NAME = Buffer.from([0, 0, 0, 6, 0, 4, 0, 0, 1, 0x61]);
const OTHER_NAME = Buffer.from([0, 0, 0, 6, 0, 4, 0, 0, 1, 0x62]);

test("attack: a name is hidden inside", () => {
  const hidden = Buffer.from([0xfe, 0x0d, 0, 1, 0]);
  expect(readClientHello(made(NAME, hidden))).toEqual({ kind: "hello", serverName: "a", hidesName: true });
});

test("attack: two names, an empty name, or a list of names is broken", () => {
  expect(readClientHello(made(NAME))).toEqual({ kind: "hello", serverName: "a", hidesName: false });
  expect(readClientHello(made(NAME, OTHER_NAME))).toEqual({ kind: "broken" });
  expect(readClientHello(made(Buffer.from([0, 0, 0, 5, 0, 3, 0, 0, 0])))).toEqual({ kind: "broken" });
  expect(readClientHello(made(Buffer.from([0, 0, 0, 10, 0, 8, 0, 0, 1, 0x61, 0, 0, 1, 0x62])))).toEqual({
    kind: "broken",
  });
});

test("attack: lengths that lie are broken", () => {
  const lying = made(NAME);
  lying[lying.length - NAME.length - 1] = 200;
  expect(readClientHello(lying)).toEqual({ kind: "broken" });
});

test("whatever bytes come, there is an answer", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      const kind = readClientHello(Buffer.concat([Buffer.from([22, 3, 1]), Buffer.from(bytes)])).kind;
      return ["short", "broken", "hello"].includes(kind);
    }),
  );
});
