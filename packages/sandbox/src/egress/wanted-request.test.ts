/** What is remembered of requests and responses changes nothing of how the next one is read. */
import { expect, test } from "vitest";
import type { Host } from "@sallyport/contract";
import { readResponseHead } from "./response-frame.ts";
import { ResponseReader } from "./response-reader.ts";
import { RequestReader } from "./wanted-request.ts";

const PASSAGE = {
  kind: "origin",
  host: "web.test" as Host,
  port: 80,
  isSecure: false,
  isOpen: false,
} as const;
const LINE = "GET /a HTTP/1.1\r\nHost: web.test\r\n";

const REQUESTS = [
  `${LINE}\r\n`,
  `${LINE}\r\n${LINE}\r\n`,
  `${LINE}\r\nGET /b HTTP/1.1\r\n`,
  `${LINE}Accept: a\r\n\r\n`,
  `${LINE}Accept: b\r\n\r\n`,
  `${LINE}Connection: close\r\n\r\n`,
  `${LINE}Host: web.test\r\n\r\n`,
  `${LINE}Content-Length: 3\r\n\r\nabc`,
  LINE,
  "",
  "GET /b HTTP/1.1\r\nHost: web.test\r\n\r\n",
  "HEAD /a HTTP/1.1\r\nHost: web.test\r\n\r\n",
  "GET /a HTTP/1.1\r\nHost: evil.test\r\n\r\n",
  "GET /a HTTP/1.1\r\nhost: web.test\r\n\r\n",
  "GET http://web.test/a HTTP/1.1\r\nHost: web.test\r\n\r\n",
].map((text) => Buffer.from(text, "latin1"));

const ANSWER = "HTTP/1.1 200 OK\r\n";
const RESPONSES = [
  `${ANSWER}Content-Length: 3\r\n\r\nabc`,
  `${ANSWER}Content-Length: 3\r\n\r\n`,
  `${ANSWER}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`,
  `${ANSWER}Content-Length: 33\r\n\r\nabc`,
  `${ANSWER}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  `${ANSWER}Content-Length: 3\r\nConnection: close\r\n\r\nabc`,
  `${ANSWER}Content-Length: 3\n\nabc`,
  `HTTP/1.1 100 Continue\r\n\r\n${ANSWER}Content-Length: 3\r\n\r\nabc`,
  `${ANSWER}Content-Length: 3\r\n`,
  ANSWER,
].map((text) => Buffer.from(text, "latin1"));

test("a request is read as if there had been none before it, whatever came before", () => {
  for (const before of REQUESTS) {
    for (const after of REQUESTS) {
      const reader = new RequestReader(PASSAGE);
      reader.read(before);
      expect(reader.read(after)).toEqual(new RequestReader(PASSAGE).read(after));
      expect(reader.read(before)).toEqual(new RequestReader(PASSAGE).read(before));
    }
  }
});

test("the head of a response is read as if there had been none before it, whatever came before", () => {
  const asked = RESPONSES.flatMap((bytes) => ["GET", "HEAD"].map((method) => ({ bytes, method })));
  for (const before of asked) {
    for (const { bytes, method } of asked) {
      const reader = new ResponseReader();
      reader.read(before.bytes, before.method);
      const head = reader.read(bytes, method);
      expect(head).toEqual(readResponseHead(bytes, method));
      if (head.kind !== "head") continue;
      expect(reader.text(head, { closes: true }).toString()).toBe(`${head.lines}Connection: close\r\n\r\n`);
      expect(reader.text(head, { closes: false }).toString()).toBe(
        `${head.lines}Connection: keep-alive\r\n\r\n`,
      );
    }
  }
});
