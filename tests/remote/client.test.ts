/** The client where the server is gone, silent, lying or slow: it never allows, and it never throws when blocked. */
import { type Server, createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Credential,
  type Fetch,
  createClient,
  generateHolderKey,
  runtimeCredential,
} from "@sallyport/client";
import {
  type ServerFixture,
  ask,
  guardedCaller,
  openServer,
  person,
  receive,
} from "@sallyport/server/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const UNKNOWN = receive("https://unknown.example.com/");
const DECLARED = receive("https://declared.example.com/");
const caller = guardedCaller();

let fixture: ServerFixture;
let credential: Credential;
let others: Server[] = [];

beforeEach(async () => {
  fixture = await openServer({ beatMs: 20 });
  const key = await generateHolderKey();
  credential = runtimeCredential(await fixture.issue(key.thumbprint), key);
});
afterEach(async () => {
  for (const server of others) server.closeAllConnections();
  for (const server of others) server.close();
  others = [];
  expect(fixture.faults).toEqual([]);
  await fixture.close();
});

async function serverThat(answer: Parameters<typeof createHttpServer>[1]): Promise<string> {
  const server = createHttpServer({}, answer as never);
  others.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const clientOf = (origin: string, changes: { fetch?: Fetch; silenceMs?: number; attempts?: number } = {}) =>
  createClient({ origin, credential, retryMs: 1, ...changes });

/** Everything that can be asked or decided, against a server that cannot answer. */
async function blocked(origin: string, silenceMs = 10_000) {
  const client = clientOf(origin, { silenceMs });
  const check = await client.check(caller, ask(DECLARED));
  const required = await client.require(caller, { ...ask(UNKNOWN), wait: { timeoutMs: 60_000 } });
  const decision = await client.deny(person(), { requestId: "r", digest: "" });
  const waited = await client.wait(caller, "r", { timeoutMs: 5 });
  return [
    check.allowed,
    check.code,
    required.allowed,
    required.code,
    decision.ok,
    waited.outcome,
    await client.renew(),
  ];
}

const BLOCKED = [false, "unavailable", false, "unavailable", false, "timed_out", false];

describe("a server that cannot answer", () => {
  it("is unavailable as a value where it cannot be reached", async () => {
    const origin = await serverThat(undefined);
    others.at(-1)?.close();
    expect(await blocked(origin)).toEqual(BLOCKED);
  });

  it("is unavailable where it closes, is silent, or answers what is no answer", async () => {
    expect(await blocked(await serverThat((request) => request.socket.destroy()))).toEqual(BLOCKED);
    expect(await blocked(await serverThat(() => undefined), 30)).toEqual(BLOCKED);
    for (const body of ["", "{", "null", '{"allowed":true}', '{"allowed":true,"code":"allowed_sandbox"}'])
      for (const type of ["application/json", "text/html", "text/event-stream"]) {
        const origin = await serverThat((_, response) => response.setHeader("content-type", type).end(body));
        const check = await clientOf(origin).check(caller, ask(DECLARED));
        expect([check.allowed, check.code]).toEqual([false, "unavailable"]);
      }
  });

  it("lends no job and tells nothing where what it says is not of its form", async () => {
    const offered = [{ name: "demo.resume", module: "demo", openTo: [] }];
    const lending = { jobId: "job-1", leaseNumber: 1 };
    const job = {
      job_id: "j",
      lease_number: 1,
      action: "a",
      module: "m",
      idempotency_key: "k",
      task_id: null,
    };
    const lies = [
      "null",
      '{"lease_ms":0,"jobs":[]}',
      '{"jobs":[]}',
      JSON.stringify({ lease_ms: 1, jobs: [{ ...job, context: "{" }] }),
      JSON.stringify({ lease_ms: 1, jobs: Array.from({ length: 17 }, () => ({ ...job, context: "{}" })) }),
      '{"held":"yes"}',
      '{"state":{"mode":"bypass"}}',
    ];
    for (const body of lies) {
      const origin = await serverThat((_, response) =>
        response.setHeader("content-type", "application/json").end(body),
      );
      const client = clientOf(origin);
      expect(await client.lendJobs(offered, 4)).toBeUndefined();
      expect(await client.settleJob(lending, { outcome: "done" })).toBeUndefined();
      expect(await client.state(caller)).toBeUndefined();
    }
  });

  it("that is busy has neither refused an offer nor taken a lease away", async () => {
    const problem = { type: "urn:sallyport:error:request_limit", title: "x", status: 429, detail: "later" };
    const body = JSON.stringify({ ...problem, code: "request_limit" });
    const origin = await serverThat((_, response) =>
      response.writeHead(429, { "content-type": "application/problem+json" }).end(body),
    );
    expect(await clientOf(origin).lendJobs([], 1)).toBeUndefined();
    const settled = clientOf(origin).settleJob({ jobId: "j", leaseNumber: 1 }, { outcome: "kept" });
    expect(await settled).toBeUndefined();
  });

  it("is not followed elsewhere with the credential", async () => {
    let asked = 0;
    const elsewhere = await serverThat((_, response) => {
      asked++;
      response.end();
    });
    const origin = await serverThat((_, response) => response.writeHead(307, { location: elsewhere }).end());
    expect((await clientOf(origin).check(caller, ask(DECLARED))).code).toBe("unavailable");
    expect(asked).toBe(0);
  });

  it("that refuses the credential says why, and nothing is allowed", async () => {
    const key = await generateHolderKey();
    const stolen = { ...credential, key } as Credential;
    const client = createClient({ origin: fixture.origin, credential: stolen });
    const check = await client.check(caller, ask(DECLARED));
    expect([check.allowed, check.code]).toEqual([false, "unavailable"]);
    expect(check.message).toContain("the proof is not made with the key of the credential");
    expect(await client.wait(caller, "r", { timeoutMs: 1 })).toEqual({ outcome: "not_found" });
  });
});

describe("a call that fails on the way", () => {
  /** Loses the answer of the first call, after the server has given it. */
  function lossy(): { readonly fetch: Fetch; readonly calls: () => number } {
    let calls = 0;
    const lost: Fetch = async (url, init) => {
      const response = await fetch(url, init);
      if (++calls > 1) return response;
      await response.text();
      throw new TypeError("fetch failed");
    };
    return { fetch: lost, calls: () => calls };
  }

  it("is made again, with a proof of its own, where that changes nothing", async () => {
    const way = lossy();
    const client = clientOf(fixture.origin, way);
    expect((await client.check(caller, ask(UNKNOWN, { registerRequest: false }))).code).toBe(
      "approval_required",
    );
    expect(way.calls()).toBe(2);
  });

  it("is not made again where it registers a request or spends a use", async () => {
    for (const asked of [ask(UNKNOWN), ask(UNKNOWN, { registerRequest: false, enforced: true })]) {
      const way = lossy();
      expect((await clientOf(fixture.origin, way).check(caller, asked)).code).toBe("unavailable");
      expect(way.calls()).toBe(1);
    }
    const { rows } = await fixture.service.list.requests(person());
    expect(rows.map(({ count }) => count)).toEqual([1]);
  });
});

describe("a wait over HTTP", () => {
  /** As soon as the log says so. */
  async function recorded(type: string): Promise<void> {
    while (!(await fixture.events()).some((event) => event.type === type))
      await new Promise((resolve) => setImmediate(resolve));
  }

  it("is cancelled on the server when its caller goes away", async () => {
    const stop = new AbortController();
    const client = clientOf(fixture.origin);
    const waiting = client.check(caller, ask(UNKNOWN, { wait: { timeoutMs: 600_000, signal: stop.signal } }));
    await recorded("permission.requested");
    stop.abort();
    expect((await waiting).allowed).toBe(false);
    await recorded("permission.resolved");
  });

  it("ends without an answer when its credential is revoked", async () => {
    const waiting = clientOf(fixture.origin).check(caller, ask(UNKNOWN, { wait: { timeoutMs: 600_000 } }));
    await recorded("permission.requested");
    if (credential.kind === "runtime")
      await fixture.server.credentials.revoke(credential.issued.credentialId);
    expect((await waiting).code).toBe("unavailable");
    await recorded("permission.resolved");
  });

  it("outlives the silence that a client bears, because the server gives signs of life", async () => {
    const client = clientOf(fixture.origin, { silenceMs: 2000 });
    const check = await client.check(caller, ask(UNKNOWN, { wait: { timeoutMs: 6000 } }));
    expect(check.code).toBe("approval_timeout");
  });
});

describe("a client", () => {
  it("speaks https, or http on this machine, and nothing else", () => {
    for (const origin of [
      "http://sallyport.example",
      "https://a.example/path",
      "ftp://127.0.0.1",
      "127.0.0.1",
    ])
      expect(() => clientOf(origin)).toThrow("is not an https origin");
    expect(() => clientOf("https://a.example")).not.toThrow();
  });

  it("renews its credential by itself shortly before it runs out", async () => {
    const key = await generateHolderKey();
    const issued = await fixture.issue(key.thumbprint);
    const held = runtimeCredential({ ...issued, expiresAtMs: Date.now() + 30_000 }, key);
    const client = createClient({ origin: fixture.origin, credential: held });
    expect((await client.check(caller, ask(DECLARED))).code).toBe("allowed_sandbox");
    expect(client.credential).not.toBe(held);
  });

  it("finds every call it makes in the OpenAPI document", async () => {
    const response = await fetch(`${fixture.origin}/v1/openapi.json`);
    const { paths } = (await response.json()) as { paths: Record<string, { post: object }> };
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        "/v1/runtime/check",
        "/v1/runtime/require",
        "/v1/runtime/wait",
        "/v1/runtime/state",
        "/v1/runtime/jobs/lend",
        "/v1/runtime/jobs/settle",
        "/v1/runtime/credential/renew",
        "/v1/runtime/credential/revoke",
        "/v1/decisions/approve_for_session",
        "/v1/decisions/approve_permanently",
        "/v1/decisions/deny",
      ]),
    );
    expect(JSON.stringify(paths["/v1/runtime/check"])).toContain('"attested_by"');
  });
});
