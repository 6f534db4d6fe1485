/** Calls that are not what the server takes: each is told so, and none is a fault of the server. */
import { connect } from "node:net";
import { type ServerFixture, openServer } from "@sallyport/server/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHECK_PATH, type Holder, answerOf, checkBody, headersOf, holderOf, rawCall } from "./raw-call.ts";

let fixture: ServerFixture;
let holder: Holder;
beforeAll(async () => {
  fixture = await openServer({ limits: { callTimeoutMs: 1500, headTimeoutMs: 1500 } });
  holder = await holderOf(fixture);
});
afterAll(async () => {
  expect(fixture.faults).toEqual([]);
  await fixture.close();
});

const MALFORMED = { status: 400, code: "invalid_request" };

/** Text sent by hand; what came back until the server closed the connection. */
function sent(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(fixture.listening.port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.on("data", (data) => (answer += data.toString()));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(answer));
  });
}

describe("a malformed call", () => {
  it.each([
    ["no JSON", "{"],
    ["an empty body", ""],
    ["invalid UTF-8 as text", '"\ud800"'],
    ["another type", "[]"],
    ["an unknown key", JSON.stringify(checkBody({ allowed: true }))],
    ["a prototype", `{"__proto__":{"chain":[]},${JSON.stringify(checkBody()).slice(1)}`],
    [
      "a pair that does not belong together",
      JSON.stringify(checkBody({ access: pair("network", "delete") })),
    ],
    ["a kernel that it is not", JSON.stringify(checkBody({ attested_by: "kernel" }))],
    ["a chain without end", JSON.stringify(checkBody({ chain: Array(65).fill(reader()) }))],
    ["a host that is none", JSON.stringify(checkBody({ address: "A.example" }))],
    ["a wait before now", JSON.stringify(checkBody({ wait: { timeout_ms: -1 } }))],
    ["deep nesting", `${"[".repeat(5000)}${"]".repeat(5000)}`],
  ])("with %s is a 400 that points at it", async (_, body) => {
    expect(await rawCall(fixture, holder, { body })).toMatchObject(MALFORMED);
  });

  it("of any random form is a 400 or an answer, and never a fault", async () => {
    const json = fc.jsonValue({ maxDepth: 4 });
    const mutated = fc
      .tuple(
        fc.constantFrom(...Object.keys(checkBody({ named: 0, twin: 0, aliases: 0, requested: 0 }))),
        json,
      )
      .map(([key, value]) => checkBody({ [key]: value }));
    const paths = fc.constantFrom(
      CHECK_PATH,
      ...["require", "wait", "state", "jobs/lend", "jobs/settle"].map((verb) => `/v1/runtime/${verb}`),
    );
    await fc.assert(
      fc.asyncProperty(paths, fc.oneof(json, mutated), async (path, body) => {
        const { status } = await rawCall(fixture, holder, { path, body: JSON.stringify(body) });
        expect([200, 400]).toContain(status);
      }),
      { numRuns: 300 },
    );
  });

  it.each<[string, string, object]>([
    ["a limit without end", "lend", { actions: [], limit: 17 }],
    ["more actions than may be", "lend", { actions: Array(257).fill(offer()), limit: 1 }],
    ["a session of its own", "lend", { actions: [], limit: 1, session_key: "sess-1" }],
    ["modules of its own", "lend", { actions: [], limit: 1, modules: ["bank"] }],
    ["an outcome that is none", "settle", { job_id: "j", lease_number: 1, outcome: "approved" }],
    ["an owner of its own", "settle", { job_id: "j", lease_number: 1, outcome: "done", owner: "node-a" }],
    ["a failure without a word", "settle", { job_id: "j", lease_number: 1, outcome: "failed" }],
  ])("about jobs with %s is a 400", async (_, verb, body) => {
    const call = { path: `/v1/runtime/jobs/${verb}`, body: JSON.stringify(body) };
    expect(await rawCall(fixture, holder, call)).toMatchObject(MALFORMED);
  });

  it("about what somebody else stands under tells nothing", async () => {
    const path = "/v1/runtime/state";
    const core = { subject: { type: "core", name: "core" }, phase: "runtime", entry: "host" };
    const bank = { ...reader(), subject: { type: "tool", name: "bank.transfer" } };
    for (const chain of [[bank], [core], [reader(), core], [reader(), bank]]) {
      const body = JSON.stringify({ chain, task_id: null, interactive: true });
      const headers = await headersOf(fixture, holder, { path, body });
      const response = await fetch(`${fixture.origin}${path}`, { method: "POST", headers, body });
      expect(await response.json()).toEqual({ state: null });
    }
  });

  it("of any random text is refused to a person who decides as well", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.jsonValue().map((value) => JSON.stringify(value)),
        ),
        async (body) => {
          const headers = { "content-type": "application/json", ...fixture.personHeaders };
          const response = await fetch(`${fixture.origin}/v1/decisions/deny`, {
            method: "POST",
            headers,
            body,
          });
          expect(await answerOf(response)).toMatchObject(MALFORMED);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("as anything but JSON, or compressed, is a 415", async () => {
    for (const headers of [{ "content-type": "text/plain" }, { "content-encoding": "gzip" }])
      expect(await rawCall(fixture, holder, { headers })).toMatchObject({
        status: 415,
        code: "invalid_request",
      });
  });

  it("to no route, or by another method, is a 404 in the same form", async () => {
    expect(await rawCall(fixture, holder, { path: "/v1/runtime/approve" })).toMatchObject({ status: 404 });
    const response = await fetch(`${fixture.origin}${CHECK_PATH}`);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.status).toBe(404);
  });
});

describe("a call from a page", () => {
  it("of another origin, or led here by another host name, is refused and shared with nobody", async () => {
    const foreign = await rawCall(fixture, holder, { headers: { origin: "https://evil.example" } });
    expect(foreign).toMatchObject({ status: 403, code: "invalid_request" });
    expect(foreign.headers.get("access-control-allow-origin")).toBeNull();
    const rebound = await sent(
      `POST ${CHECK_PATH} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    );
    expect(rebound).toMatch(/^HTTP\/1\.1 421 /);
  });
});

describe("an oversized call", () => {
  it("is a 413 by what it declares and by what it sends", async () => {
    const body = JSON.stringify(checkBody({ task_id: "x".repeat(300_000) }));
    expect(await rawCall(fixture, holder, { body })).toMatchObject({ status: 413, code: "invalid_request" });
    const headers = await headersOf(fixture, holder);
    const chunks = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    });
    const init = { method: "POST", headers, body: chunks, duplex: "half" } as RequestInit;
    const status = await fetch(`${fixture.origin}${CHECK_PATH}`, init).then(
      (response) => response.status,
      () => 413,
    );
    expect(status).toBe(413);
  });

  it("of headers is refused before it is read, and nothing of a body is read without a credential", async () => {
    const heads = await sent(
      `POST ${CHECK_PATH} HTTP/1.1\r\nHost: x\r\nx-large: ${"x".repeat(70_000)}\r\n\r\n`,
    );
    expect(heads).toMatch(/^HTTP\/1\.1 431 /);
    const { host } = new URL(fixture.origin);
    const bare = await sent(
      `POST ${CHECK_PATH} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n`,
    );
    expect(bare).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe("a slow call", () => {
  it("is ended by the server, in its head and in its body", async () => {
    const head = await sent(`POST ${CHECK_PATH} HTTP/1.1\r\nHost: x\r\n`);
    expect(head).toMatch(/^HTTP\/1\.1 408 /);
    const { host } = new URL(fixture.origin);
    const { authorization, dpop } = await headersOf(fixture, holder);
    const slow = await sent(
      `POST ${CHECK_PATH} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\nDPoP: ${dpop}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    );
    expect(slow).toMatch(/^HTTP\/1\.1 408 /);
    expect(await rawCall(fixture, holder)).toMatchObject({ status: 200 });
  });
});

function pair(type: string, operation: string) {
  return { kind: "access", resource: { type, operation, target: "https://a.example/" }, requested: "" };
}

function offer() {
  return { name: "demo.resume", module: "demo", open_to: [] };
}

function reader() {
  return { subject: { type: "tool", name: "demo.read_file" }, phase: "runtime", entry: "host" };
}
