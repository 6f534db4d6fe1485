/** Sessions of calls: what a MAC is worth, and every way to use one that is not one's own, too late or twice. */
import { createECDH, createHmac, hkdfSync } from "node:crypto";
import { type Fetch, createClient, runtimeCredential } from "@sallyport/client";
import { callSessionInfo, callSessionMacInput } from "@sallyport/contract/remote";
import { type ServerFixture, ask, guardedCaller, openServer, receive } from "@sallyport/server/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { CHECK_PATH, type Holder, answerOf, checkBody, headersOf, holderOf } from "./raw-call.ts";

const SESSION_PATH = "/v1/runtime/session";
const ASKED = { status: 200, code: "approval_required" };
const REFUSED = { status: 401, code: "invalid_credential" };
const BODY = JSON.stringify(checkBody());
const MINUTE_MS = 60_000;
const SESSION_MS = 5 * MINUTE_MS;

let fixture: ServerFixture;
let nowMs: number;

beforeAll(async () => {
  fixture = await openServer({ nowMs: () => nowMs, admin: {} });
});
beforeEach(() => {
  nowMs = Date.now();
});
afterEach(() => {
  expect(fixture.faults).toEqual([]);
});
afterAll(() => fixture.close());

interface RawSession {
  readonly sessionId: string;
  readonly key: Uint8Array;
}

async function opening(holder: Holder, publicKey: string): Promise<Response> {
  const body = JSON.stringify({ public_key: publicKey });
  const headers = await headersOf(fixture, holder, { path: SESSION_PATH, body, proven: { nowMs } });
  return fetch(`${fixture.origin}${SESSION_PATH}`, { method: "POST", headers, body });
}

async function sessionOf(holder: Holder): Promise<RawSession> {
  const own = createECDH("prime256v1");
  own.generateKeys();
  const response = await opening(holder, own.getPublicKey("base64url"));
  expect(response.status).toBe(200);
  const answer = (await response.json()) as { session_id: string; public_key: string };
  const secret = own.computeSecret(Buffer.from(answer.public_key, "base64url"));
  const info = callSessionInfo(answer.session_id, holder.key.thumbprint);
  const key = new Uint8Array(hkdfSync("sha256", secret, new Uint8Array(), info, 32));
  return { sessionId: answer.session_id, key };
}

interface Marked {
  readonly number: number;
  readonly timeMs?: number;
  /** What the MAC is made over, where that is not what is sent. */
  readonly made?: {
    readonly path?: string;
    readonly origin?: string;
    readonly body?: string;
    readonly number?: number;
  };
}

function markOf({ sessionId, key }: RawSession, { number, timeMs = nowMs, made = {} }: Marked): string {
  const url = `${made.origin ?? fixture.origin}${made.path ?? CHECK_PATH}`;
  const mac = createHmac("sha256", key)
    .update(callSessionMacInput({ method: "POST", url, number: made.number ?? number, timeMs }))
    .update(made.body ?? BODY)
    .digest("base64url");
  return `SallyportSession ${sessionId}.${number}.${timeMs}.${mac}`;
}

async function call(authorization: string, path = CHECK_PATH, body = BODY) {
  const headers = { "content-type": "application/json", authorization };
  return answerOf(await fetch(`${fixture.origin}${path}`, { method: "POST", headers, body }));
}

describe("a call of a session", () => {
  it("is answered as a signed one is, in any order within reason", async () => {
    const session = await sessionOf(await holderOf(fixture));
    for (const number of [1, 3, 2, 4000, 5])
      expect(await call(markOf(session, { number }))).toMatchObject(ASKED);
  });

  it("attack: replay: a call that was overheard is refused, and so is its number in another call", async () => {
    const session = await sessionOf(await holderOf(fixture));
    const heard = markOf(session, { number: 7 });
    expect(await call(heard)).toMatchObject(ASKED);
    expect(await call(heard)).toMatchObject(REFUSED);
    expect(await call(markOf(session, { number: 7, timeMs: nowMs + 1 }))).toMatchObject(REFUSED);
    expect(await call(markOf(session, { number: 9000 }))).toMatchObject(ASKED);
    // WHY: it lies behind what is remembered, so that nobody can say whether it was used.
    expect(await call(markOf(session, { number: 8 }))).toMatchObject(REFUSED);
  });

  it("attack: many replays at the same moment: one is answered", async () => {
    const session = await sessionOf(await holderOf(fixture));
    const heard = markOf(session, { number: 1 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(heard)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it.each([
    ["another body", { body: JSON.stringify(checkBody({ task_id: "other" })) }],
    ["another path", { path: "/v1/runtime/require" }],
    ["another server", { origin: "http://127.0.0.1:1" }],
    ["another number", { number: 2 }],
  ] as const)("attack: a MAC that was made over %s is refused", async (_, made) => {
    const session = await sessionOf(await holderOf(fixture));
    expect(await call(markOf(session, { number: 1, made }))).toMatchObject(REFUSED);
    expect(await call(markOf(session, { number: 1 }))).toMatchObject(ASKED);
  });

  it.each([-MINUTE_MS - 1, MINUTE_MS + 1])(
    "attack: held back: made %d ms from now it is refused",
    async (ms) => {
      const session = await sessionOf(await holderOf(fixture));
      expect(await call(markOf(session, { number: 1, timeMs: nowMs + ms }))).toMatchObject(REFUSED);
    },
  );

  it("attack: the key of one session is worth nothing in another, nor is a text in the place of a MAC", async () => {
    const holder = await holderOf(fixture);
    const [one, other] = [await sessionOf(holder), await sessionOf(holder)];
    expect(await call(markOf({ ...one, key: other.key }, { number: 1 }))).toMatchObject(REFUSED);
    for (const text of ["x", `${one.sessionId}.1.${nowMs}`, `${one.sessionId}.0.${nowMs}.${"A".repeat(43)}`])
      expect(await call(`SallyportSession ${text}`)).toMatchObject(REFUSED);
  });

  it("is over at once when the credential is revoked", async () => {
    const holder = await holderOf(fixture);
    const session = await sessionOf(holder);
    expect(await call(markOf(session, { number: 1 }))).toMatchObject(ASKED);
    await fixture.server.credentials.revoke(holder.issued.credentialId);
    expect(await call(markOf(session, { number: 2 }))).toMatchObject(REFUSED);
  });

  it("is over with its own time, and with that of its token where that comes first", async () => {
    const shared = fixture;
    // WHY one of its own: what a server has forgotten it takes for replayed once its clock goes back.
    fixture = await openServer({ nowMs: () => nowMs, credentials: { ttlMs: 2 * SESSION_MS } });
    try {
      const holder = await holderOf(fixture);
      const session = await sessionOf(holder);
      nowMs += SESSION_MS;
      expect(await call(markOf(session, { number: 1 }))).toMatchObject(REFUSED);
      const short = await sessionOf(holder);
      nowMs += SESSION_MS - 1;
      expect(await call(markOf(short, { number: 1 }))).toMatchObject(ASKED);
      nowMs += 1;
      expect(await call(markOf(short, { number: 2 }))).toMatchObject(REFUSED);
    } finally {
      await fixture.close();
      fixture = shared;
    }
  });
});

describe("opening a session", () => {
  it("attack: by a session is refused: only the key of the credential opens one, or renews it", async () => {
    const session = await sessionOf(await holderOf(fixture));
    const body = JSON.stringify({ public_key: "B".repeat(87) });
    for (const path of [SESSION_PATH, "/v1/runtime/credential/renew"]) {
      const authorization = markOf(session, { number: 1, made: { path, body } });
      expect(await call(authorization, path, body)).toMatchObject(REFUSED);
    }
  });

  it("attack: with a point that is not on the curve, or is none, is refused", async () => {
    const holder = await holderOf(fixture);
    for (const publicKey of [
      "",
      "A".repeat(87),
      Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]).toString("base64url"),
    ])
      expect((await opening(holder, publicKey)).status).toBe(400);
  });

  it("again and again leaves a bounded number of them: the oldest goes", async () => {
    const holder = await holderOf(fixture);
    const first = await sessionOf(holder);
    for (let more = 0; more < 15; more++) await sessionOf(holder);
    expect(await call(markOf(first, { number: 1 }))).toMatchObject(ASKED);
    await sessionOf(holder);
    expect(await call(markOf(first, { number: 2 }))).toMatchObject(REFUSED);
  });
});

describe("attack: guarded code", () => {
  it("decides and sees nothing by its session, and the attempt is on record", async () => {
    const session = await sessionOf(await holderOf(fixture));
    const before = (await fixture.events()).filter(({ type }) => type === "policy.refused").length;
    let number = 0;
    const tried = {
      subject: { type: "tool", name: "demo.read_file" },
      resource: { type: "network", operation: "receive", target: "https://declared.example.com/" },
    };
    for (const [path, words] of [
      ["/v1/decisions/approve_permanently", {}],
      ["/v1/decisions/block", {}],
      ["/v1/freeze", { frozen: true }],
      ["/v1/check", tried],
    ] as const) {
      const body = JSON.stringify(words);
      const authorization = markOf(session, { number: ++number, made: { path, body } });
      expect([path, (await call(authorization, path, body)).status]).toEqual([path, 403]);
    }
    const after = (await fixture.events()).filter(({ type }) => type === "policy.refused").length;
    expect(after - before).toBe(4);
    const unknown = `SallyportSession ${"A".repeat(43)}.1.${nowMs}.${"A".repeat(43)}`;
    expect(await call(unknown, "/v1/decisions/deny")).toMatchObject(REFUSED);
  });
});

describe("the client", () => {
  const DECLARED = ask(receive("https://declared.example.com/"));

  /** A client, and by which scheme each of its calls went where. */
  async function watchedClient(fetchOf: (real: Fetch) => Fetch = (real) => real) {
    const holder = await holderOf(fixture);
    const calls: string[] = [];
    const send = fetchOf((url, init) => fetch(url, init));
    const client = createClient({
      origin: fixture.origin,
      credential: runtimeCredential(holder.issued, holder.key),
      retryMs: 1,
      fetch: (url, init) => {
        const { authorization = "" } = init.headers as Record<string, string>;
        calls.push(`${new URL(url).pathname.split("/").at(-1)} ${authorization.split(" ")[0]}`);
        return send(url, init);
      },
    });
    return { client, calls, holder };
  }

  it("signs its first call, opens a session with its second, and signs no more", async () => {
    const { client, calls } = await watchedClient();
    for (let count = 0; count < 4; count++)
      expect((await client.check(guardedCaller(), DECLARED)).allowed).toBe(true);
    expect(calls).toEqual([
      "check DPoP",
      "session DPoP",
      "check SallyportSession",
      "check SallyportSession",
      "check SallyportSession",
    ]);
  });

  it("signs again where the server does not know its session, and the answer is the same", async () => {
    const { client, calls } = await watchedClient((real) => (url, init) => {
      const headers = init.headers as Record<string, string>;
      const isMarked = (headers["authorization"] ?? "").startsWith("SallyportSession");
      const other = { ...headers, authorization: `SallyportSession ${"A".repeat(43)}.1.1.${"A".repeat(43)}` };
      return real(url, isMarked ? { ...init, headers: other } : init);
    });
    for (let count = 0; count < 2; count++)
      expect((await client.check(guardedCaller(), DECLARED)).allowed).toBe(true);
    expect(calls).toEqual(["check DPoP", "session DPoP", "check SallyportSession", "check DPoP"]);
  });

  it("signs every call where no session can be had", async () => {
    const { client, calls } = await watchedClient((real) => (url, init) => {
      const isOpening = url.endsWith("/session");
      return isOpening ? Promise.resolve(new Response("{}", { status: 404 })) : real(url, init);
    });
    for (let count = 0; count < 3; count++)
      expect((await client.check(guardedCaller(), DECLARED)).allowed).toBe(true);
    expect(calls.filter((one) => one === "check DPoP")).toHaveLength(3);
  });

  it("never allows with a credential that was revoked, session or not", async () => {
    const { client, holder } = await watchedClient();
    for (let count = 0; count < 2; count++) await client.check(guardedCaller(), DECLARED);
    await fixture.server.credentials.revoke(holder.issued.credentialId);
    expect((await client.check(guardedCaller(), DECLARED)).allowed).toBe(false);
  });
});
