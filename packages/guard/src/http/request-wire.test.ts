import { describe, expect, it } from "vitest";
import { latin1 } from "./own-bytes.ts";
import { parseHead } from "./request-head.ts";
import { RequestWire } from "./request-wire.ts";

/** The kinds of steps that a text is followed by, cut into pieces of any size. */
function steps(text: string, size = text.length): string[] {
  const wire = new RequestWire(latin1);
  const found: string[] = [];
  let held = "";
  for (let start = 0; start < text.length; start += size) {
    const bytes = Buffer.from(held + text.slice(start, start + size), "latin1");
    held = "";
    for (let at = 0; ;) {
      const step = wire.next(bytes, at);
      if (step.kind === "pass") break;
      if (step.kind === "partial") {
        held = bytes.subarray(step.at).toString("latin1");
        break;
      }
      found.push(step.kind === "head" ? `${step.head.method} ${step.head.target}` : step.kind);
      if (step.kind === "unknown") return found;
      at = step.kind === "head" ? step.end : step.at;
    }
  }
  return held === "" ? found : [...found, "partial"];
}

const GET = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
const CHUNKED =
  "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\nA: b\r\n\r\n";
const LENGTH = "PUT /l HTTP/1.1\r\nContent-Length: 16\r\n\r\nGET /no HTTP/1.1";
const HANDSHAKE = "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const frame = (first: number, payload: string): string =>
  `${String.fromCharCode(first, 0x80 | payload.length)}\0\0\0\0${payload}`;

describe("requests on one connection", () => {
  it.each([1, 2, 3, 7, 1000])("are told apart by their framing, in pieces of %i bytes", (size) => {
    expect(steps(GET + CHUNKED + LENGTH + GET, size)).toEqual(["GET /a", "POST /c", "PUT /l", "GET /a"]);
  });

  it("a head that is not all there is kept back", () => {
    expect(steps(GET.slice(0, -2))).toEqual(["partial"]);
    expect(steps("GE")).toEqual(["partial"]);
    expect(steps("GET /a HTTP/1.1\r\nHost")).toEqual(["partial"]);
  });

  it.each([1, 5, 1000])(
    "messages of a websocket are told, control frames are not, in pieces of %i",
    (size) => {
      const sent = frame(0x89, "ping") + frame(0x01, "be") + frame(0x80, "gun") + frame(0x82, "two");
      expect(steps(HANDSHAKE + sent, size)).toEqual(["GET /ws", "message", "message"]);
    },
  );

  it("a request may follow a handshake that the server refused", () => {
    expect(steps(HANDSHAKE + GET)).toEqual(["GET /ws", "GET /a"]);
  });
});

describe("attack: bytes that two readers take for different requests are no request", () => {
  it.each([
    ["a line that ends in LF alone", "GET /a HTTP/1.1\nHost: h\r\n\r\n"],
    ["a second target in the request line", "GET /a /b HTTP/1.1\r\n\r\n"],
    ["another version", "GET /a HTTP/2.0\r\n\r\n"],
    ["two lengths", "POST /a HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
    [
      "a length and an encoding",
      "POST /a HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
    ["a length with a sign", "POST /a HTTP/1.1\r\nContent-Length: +1\r\n\r\n"],
    ["another encoding", "POST /a HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"],
    ["an encoding in version 1.0", "POST /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"],
    ["a space before the colon", "POST /a HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n"],
    ["a folded line", "GET /a HTTP/1.1\r\nA: b\r\n c: d\r\n\r\n"],
    ["two hosts", "GET /a HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
    ["NUL in a value", "GET /a HTTP/1.1\r\nA: \0\r\n\r\n"],
    ["a bare CR in a value", "GET /a HTTP/1.1\r\nA: b\rc\r\n\r\n"],
    ["an upgrade with a body", "GET /a HTTP/1.1\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\n"],
    ["a line of another protocol", "EHLO me\r\n"],
    ["the hello of TLS", "\x16\x03\x01\x02\x00\x01"],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ])("%s", (_name, text) => {
    expect(steps(text)).toEqual(["unknown"]);
  });

  it.each([
    ["an extension of a chunk", "5;a=b\r\nhello\r\n0\r\n\r\n"],
    ["a chunk that is longer than it says", "1\r\nGET /x HTTP/1.1\r\n\r\n"],
    ["a size that is no number", "zz\r\n"],
    ["a size without digits", "\r\n"],
  ])("%s", (_name, body) => {
    expect(steps(`POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${body}`)).toEqual([
      "POST /c",
      "unknown",
    ]);
  });

  it.each([
    ["a request behind a frame", `${frame(0x82, "x")}GET /b HTTP/1.1\r\n\r\n`, ["message", "unknown"]],
    ["a frame without a mask behind a masked one", `${frame(0x82, "x")}\x82\x01x`, ["message", "unknown"]],
    ["a frame without a mask", "\x82\x01x", ["unknown"]],
    ["the rest of a message that was not begun", frame(0x80, "x"), ["unknown"]],
    ["a frame of an unknown kind", frame(0x83, "x"), ["unknown"]],
  ])("on a websocket: %s", (_name, text, expected) => {
    expect(steps(HANDSHAKE + text)).toEqual(["GET /ws", ...expected]);
  });
});

it("what a head says is read without regard to case", () => {
  expect(parseHead("GET /a HTTP/1.1\r\nHOST:  Example.COM:80 \r\nUPGRADE: WebSocket\r\n\r\n")).toMatchObject({
    method: "GET",
    host: "Example.COM:80",
    upgrade: "websocket",
    body: { kind: "none" },
  });
  expect(parseHead("POST /a HTTP/1.1\r\ncontent-length: 012\r\n\r\n")).toMatchObject({
    body: { kind: "length", bytes: 12 },
  });
});
