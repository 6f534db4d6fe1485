/** What passes by the framework is held to the same rules as what goes through it. */
import { type Socket, connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type PersonBrowser, administrator, asked } from "./testing/person-browser.ts";
import { type ServerFixture, openServer } from "./testing/server-fixture.ts";

const BODY_MAX = 4096;
const TRIED = JSON.stringify({
  subject: { type: "tool", name: "demo.read_file" },
  resource: { type: "network", operation: "receive", target: "https://declared.example.com/" },
});

let fixture: ServerFixture;
let admin: PersonBrowser;
beforeAll(async () => {
  const limits = { headTimeoutMs: 500, callTimeoutMs: 1000 };
  fixture = await openServer({ admin: {}, bodyBytesMax: BODY_MAX, limits });
  admin = await administrator(fixture);
});
afterEach(() => {
  expect(fixture.faults).toEqual([]);
});
afterAll(() => fixture.close());

/** The same call twice: the lane takes the path as it is; with an empty query it goes to the framework. */
const WAYS = ["/v1/check", "/v1/check?"] as const;

/** What comes back before the server closes. */
function rawCall(parts: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(fixture.origin);
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(Number(port), hostname, () => {
      for (const part of parts) socket.write(part);
    });
    let answer = "";
    socket.setEncoding("utf8");
    socket.on("data", (part: string) => (answer += part));
    socket.on("close", () => resolve(answer));
    socket.on("error", (error) => (answer === "" ? reject(error) : resolve(answer)));
  });
}

interface Head {
  readonly [name: string]: string | readonly string[] | null;
}

function callText(path: string, head: Head = {}, body = TRIED): string {
  const { host } = new URL(fixture.origin);
  const all: Head = {
    host,
    origin: fixture.origin,
    cookie: String(admin.cookie),
    "x-csrf-token": String(admin.csrf),
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
    ...head,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === null ? [] : [value].flat().map((one) => `${name}: ${one}`),
  );
  return [`POST ${path} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
/** What the answer says, without what differs from call to call. */
function wordsOf(answer: string): object {
  const [head = "", ...rest] = answer.split("\r\n\r\n");
  const names = head
    .split("\r\n")
    .slice(1)
    .map((line) => line.toLowerCase())
    .filter((line) => !/^(?:date|content-length|transfer-encoding|keep-alive|connection):/.test(line));
  const json = /\{.*\}/s.exec(rest.join(""))?.[0] ?? "{}";
  const { check, ...others } = JSON.parse(json) as { check?: { code: string } };
  return { status: statusOf(answer), names: names.toSorted(), ...others, code: check?.code };
}

type Row = readonly [string, number, Head, string | undefined];

describe("the quick lane", () => {
  it.each([
    ["a call as it should be", 200, {}, undefined],
    ["another host name", 421, { host: "evil.example" }, undefined],
    ["two host names", 421, { host: ["127.0.0.1", "evil.example"] }, undefined],
    ["another origin", 403, { origin: "http://evil.example" }, undefined],
    ["two origins at once", 403, { origin: ["http://evil.example", "http://evil.example"] }, undefined],
    ["no origin", 403, { origin: null }, undefined],
    ["another site by the browser's word", 403, { "sec-fetch-site": "cross-site" }, undefined],
    ["no cookie", 401, { cookie: null }, undefined],
    ["no second half", 401, { "x-csrf-token": null }, undefined],
    ["the second half twice", 401, { "x-csrf-token": ["A".repeat(43), "A".repeat(43)] }, undefined],
    ["a credential of guarded code that nobody knows", 401, { authorization: "DPoP abc" }, undefined],
    ["two credentials", 200, { authorization: ["Bearer a", "Bearer b"] }, undefined],
    ["a form", 415, { "content-type": "application/x-www-form-urlencoded" }, undefined],
    ["text", 415, { "content-type": "text/plain" }, undefined],
    ["two types", 415, { "content-type": ["application/json", "text/plain"] }, undefined],
    ["no type", 415, { "content-type": null }, undefined],
    ["a compressed body", 415, { "content-encoding": "gzip" }, undefined],
    ["a body that is too large", 413, {}, JSON.stringify({ x: "y".repeat(BODY_MAX) })],
    ["no JSON", 400, {}, "{"],
    ["an unknown key", 400, {}, '{"x":1}'],
    ["a NUL", 400, {}, TRIED.replace("demo.read_file", "demo\\u0000")],
    ["half a surrogate", 400, {}, TRIED.replace("demo.read_file", "\\ud800")],
  ] as readonly Row[])("answers %s as the framework does: %d", async (_, status, head, body) => {
    const [quick, routed] = await Promise.all(WAYS.map((path) => rawCall([callText(path, head, body)])));
    expect(statusOf(quick ?? "")).toBe(status);
    expect(wordsOf(quick ?? "")).toEqual(wordsOf(routed ?? ""));
  });

  it("attack: oversized bodies that do not say how large they are are cut off", async () => {
    const chunk = `${(1024).toString(16)}\r\n${" ".repeat(1024)}\r\n`;
    const head = callText("/v1/check", { "content-length": null, "transfer-encoding": "chunked" }, "");
    expect(statusOf(await rawCall([head, ...Array.from({ length: 8 }, () => chunk)]))).toBe(413);
  });

  it("attack: slow bodies: what does not come is cut off", async () => {
    const answer = await rawCall([callText("/v1/check", { "content-length": "100" }, "{")]);
    expect(statusOf(answer)).toBe(408);
  });

  it("keeps its connection, also after a call that was refused before its body was read", async () => {
    const refused = callText("/v1/check", { cookie: null, connection: "keep-alive" });
    const answer = await rawCall([refused, callText("/v1/check", { connection: "close" })]);
    expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(["HTTP/1.1 401", "HTTP/1.1 200"]);
  });

  it("is for POST alone", async () => {
    for (const method of ["GET", "PUT", "DELETE", "OPTIONS"]) {
      const call = callText("/v1/check").replace("POST", method);
      expect([method, statusOf(await rawCall([call]))]).toEqual([method, 404]);
    }
  });

  it("decides once where the same decision comes by both ways at the same moment", async () => {
    const { requestId, digest } = await asked(fixture, "lane");
    const body = JSON.stringify({ by: { kind: "request", request_id: requestId, digest }, words: {} });
    const path = "/v1/decisions/approve_permanently";
    const answers = await Promise.all([path, `${path}?`].map((way) => rawCall([callText(way, {}, body)])));
    expect(answers.map(statusOf)).toEqual([200, 200]);
    const { rows } = await fixture.store.read((tx) => tx.approvals.list({ requestId }, { limit: 9 }));
    expect(rows).toHaveLength(1);
  });
});
