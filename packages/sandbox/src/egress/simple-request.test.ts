/** Which heads are read on the short way, and which are left to Node's parser. */
import { expect, test } from "vitest";
import { readSimpleRequest } from "./simple-request.ts";

const read = (text: string) => readSimpleRequest(Buffer.from(text, "latin1"));
const withLine = (line: string) => read(`GET /a HTTP/1.1\r\nHost: web.test\r\n${line}\r\n\r\n`);

test("a head that receives is read: what goes on, what ends here, and where it ends", () => {
  const text =
    "GET /a?b=%20 HTTP/1.1\r\nhOst:  web.test \r\nConnection: Close\r\nX-One:a\r\nKeep-Alive: 5\r\nX-Two: \t\xe9 b\t\r\n\r\n";
  expect(read(`${text}GET /next`)).toEqual({
    method: "GET",
    path: "/a?b=%20",
    host: "web.test",
    lines: "X-One: a\r\nX-Two: \xe9 b\r\n",
    closes: true,
    end: text.length,
  });
});

test.each(["GET", "HEAD", "OPTIONS"])("%s is simple", (method) =>
  expect(read(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n`)?.method).toBe(method),
);

test.each([
  "POST / HTTP/1.1\r\nHost: a\r\n\r\n",
  "get / HTTP/1.1\r\nHost: a\r\n\r\n",
  "GETS / HTTP/1.1\r\nHost: a\r\n\r\n",
  "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET / HTTP/1.0\r\nHost: a\r\n\r\n",
  "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
  "GET  HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET /\nX: y HTTP/1.1\r\nHost: a\r\n\r\n",
  "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
  "GET / HTTP/1.1\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: a\r\n",
  "GET / HTTP/1.1\nHost: a\n\n",
  `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  "",
])("no request of this form, or not all of it: %j", (text) => expect(read(text)).toBeUndefined());

test.each([
  "Host: other.test",
  "Content-Length: 0",
  "content-length:5",
  "Transfer-Encoding: chunked",
  "transfer-encoding:\tidentity",
  "Upgrade: websocket",
  "Expect: 100-continue",
  "HTTP2-Settings: AAA",
  "Trailer: x",
  "Connection: upgrade",
  "Connection: keep-alive, X-One",
  "Connection: close\r\nConnection: keep-alive",
  " folded: y",
  "\tfolded",
  "X : y",
  ": y",
  "no colon",
  "X: a\0b",
  "X: a\nTransfer-Encoding: chunked",
  "X: a\rTransfer-Encoding: chunked",
  "X: a\x7fb",
  "Content-Length\x80: 5",
])("attack: a head with the line %j is not read here", (line) => expect(withLine(line)).toBeUndefined());

test("attack: no byte that is put anywhere into a head adds a line or a header to what goes on", () => {
  const head = "GET /a HTTP/1.1\r\nHost: web.test\r\nX-One: b\r\n\r\n";
  for (let at = 0; at < head.length - 4; at++) {
    for (let code = 0; code < 256; code++) {
      const seen = read(`${head.slice(0, at)}${String.fromCharCode(code)}${head.slice(at)}`);
      const text = seen === undefined ? "" : `${seen.path}${seen.host}${seen.lines}`;
      expect(text.split("\r\n").length).toBeLessThanOrEqual(2);
      expect(/[\r\n\0]/.test(text.replaceAll("\r\n", ""))).toBe(false);
    }
  }
});
