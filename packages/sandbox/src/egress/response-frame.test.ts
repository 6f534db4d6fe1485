/** Where a response ends, whatever pieces it comes in. */
import { describe, expect, test } from "vitest";
import { bodyFrame, readResponseHead } from "./response-frame.ts";

const read = (text: string, method = "GET") => readResponseHead(Buffer.from(text, "latin1"), method);

describe("the head", () => {
  test("goes on without what belongs to the connection", () => {
    const text =
      "HTTP/1.1 200 All right\r\nDate: now\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nContent-Length: 3\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n";
    expect(read(`${text}abc`)).toEqual({
      kind: "head",
      lines: "HTTP/1.1 200 All right\r\nDate: now\r\nContent-Length: 3\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n",
      framing: { kind: "length", length: 3 },
      keeps: true,
      end: text.length,
    });
  });

  test.each([
    ["HTTP/1.1 200 OK\r\n\r\n", "GET", { kind: "closed" }, false],
    ["HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\n", "GET", { kind: "length", length: 3 }, false],
    [
      "HTTP/1.0 200\r\nConnection: Keep-Alive\r\nContent-Length: 3\r\n\r\n",
      "GET",
      { kind: "length", length: 3 },
      true,
    ],
    [
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\n",
      "GET",
      { kind: "length", length: 3 },
      false,
    ],
    ["HTTP/1.1 200 OK\nContent-Length: 3\n\n", "GET", { kind: "length", length: 3 }, true],
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", "GET", { kind: "chunked" }, true],
    ["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "HEAD", { kind: "none" }, true],
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HEAD", { kind: "none" }, true],
    ["HTTP/1.1 204 No Content\r\n\r\n", "GET", { kind: "none" }, true],
    ["HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n", "GET", { kind: "none" }, true],
  ] as const)("%j to %s is framed", (text, method, framing, keeps) =>
    expect(read(text, method)).toMatchObject({ kind: "head", framing, keeps }),
  );

  test.each([
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: a\r\n folded\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX : a\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    "HTTP/2 200\r\n\r\n",
    "ICY 200 OK\r\n\r\n",
    "x".repeat(70_000),
  ])("attack: %j is broken", (text) => expect(read(text)).toEqual({ kind: "broken" }));

  test("is short until its empty line, and one that is to be followed by another is passed over", () => {
    const text = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n";
    for (let end = 0; end < text.length; end++) expect(read(text.slice(0, end)).kind).toBe("short");
    expect(read(text)).toEqual({ kind: "interim", end: text.length });
  });
});

describe("a chunked body", () => {
  const whole = "5;a=b\r\nhello\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n";
  const takeAll = (text: string, size: number) => {
    const frame = bodyFrame({ kind: "chunked" });
    const bytes = Buffer.from(text, "latin1");
    let taken = 0;
    while (taken < bytes.length && frame.state === "more")
      taken += frame.take(bytes.subarray(taken, taken + size));
    return { state: frame.state, taken };
  };

  test("ends at the same byte in pieces of any size, and what follows is not its own", () => {
    for (let size = 1; size <= whole.length + 4; size++)
      expect(takeAll(`${whole}HTTP`, size)).toEqual({ state: "over", taken: whole.length });
  });

  test("is not over before its last byte", () => {
    for (let end = 0; end < whole.length; end++) expect(takeAll(whole.slice(0, end), 7).state).toBe("more");
  });

  test.each([
    "g\r\n",
    "\r\n",
    "-1\r\n",
    "0x5\r\nhello",
    "5\r\nhelloX",
    "1234567890123\r\n",
    "5 \0\r\nhello\0",
  ])("attack: %j is broken or never over", (text) =>
    expect(takeAll(`${text}0\r\n\r\n`, 3).state).not.toBe("over"),
  );
});
