/** A check of somebody who is known asks no store on its way; what was taken back is not known any more. */
import { createClient, generateHolderKey, runtimeCredential } from "@sallyport/client";
import { createAdminClient } from "@sallyport/client/admin";
import {
  type ServerFixture,
  ask,
  guardedCaller,
  openServer,
  receive,
  tokenOf,
} from "@sallyport/server/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { browserFetch } from "./browser-fetch.ts";

const DECLARED = receive("https://declared.example.com/");
const TRIAL = {
  subject: { type: "tool", name: "demo.read_file" },
  resource: { type: "network", operation: "receive", target: "https://declared.example.com/" },
} as never;
const CALLS = 3;
const plain = (headers: RequestInit["headers"]) => headers as Readonly<Record<string, string>>;

let fixture: ServerFixture;
beforeAll(async () => {
  fixture = await openServer({ admin: {} });
});
afterEach(() => {
  vi.restoreAllMocks();
  expect(fixture.faults).toEqual([]);
});
afterAll(() => fixture.close());

async function signedIn() {
  const fetch = browserFetch(fixture.origin);
  const client = createAdminClient({ origin: fixture.origin, fetch });
  await client.signInWithLink(tokenOf((await fixture.server.createSignInLink()).url));
  return client;
}

async function remoteHost() {
  const key = await generateHolderKey();
  const issued = await fixture.issue(key.thumbprint);
  const client = createClient({ origin: fixture.origin, credential: runtimeCredential(issued, key) });
  return { client, issued };
}

/**
 * How often the store was asked during a few calls. WHY tried again: the node beats and writes its log by itself now and
 * then; a call that asks the store asks it every time.
 */
async function expectNoStoreCall(call: () => Promise<unknown>): Promise<void> {
  const read = vi.spyOn(fixture.store, "read");
  const write = vi.spyOn(fixture.store, "transaction");
  await call();
  await call();
  await expect
    .poll(
      async () => {
        read.mockClear();
        write.mockClear();
        for (let count = 0; count < CALLS; count++) await call();
        return read.mock.calls.length + write.mock.calls.length;
      },
      { timeout: 60_000 },
    )
    .toBe(0);
}

describe("an allowed check asks no store", () => {
  it("of a person who is signed in", async () => {
    const client = await signedIn();
    await expectNoStoreCall(async () => {
      expect((await client.check(TRIAL)).check.allowed).toBe(true);
    });
  });

  it("of a local account, whose roles may change at any time", async () => {
    const admin = await signedIn();
    const password = "correct horse battery";
    const account = await admin.createAccount({
      name: "ada",
      password,
      roles: ["super"],
      organizationId: null,
    });
    const ada = createAdminClient({ origin: fixture.origin, fetch: browserFetch(fixture.origin) });
    await ada.signInWithPassword("ada", password);
    await expectNoStoreCall(async () => {
      expect((await ada.check(TRIAL)).check.allowed).toBe(true);
    });
    await admin.disableAccount(account.id);
    await expect(ada.check(TRIAL)).rejects.toMatchObject({ status: 401 });
  });

  it("of a script with a token of a person", async () => {
    const admin = await signedIn();
    const { token, view } = await admin.createToken({ name: "script", scopes: ["check"], ttlMs: 3_600_000 });
    const script = createAdminClient({
      origin: fixture.origin,
      fetch: (url, init) =>
        fetch(url, { ...init, headers: { ...plain(init.headers), authorization: `Bearer ${token}` } }),
    });
    await expectNoStoreCall(async () => {
      expect((await script.check(TRIAL)).check.allowed).toBe(true);
    });
    await admin.revokeToken(view.id);
    await expect(script.check(TRIAL)).rejects.toMatchObject({ status: 401 });
  });

  it("of a remote host in its session", async () => {
    const { client, issued } = await remoteHost();
    await expectNoStoreCall(async () => {
      expect((await client.check(guardedCaller(), ask(DECLARED))).allowed).toBe(true);
    });
    await fixture.server.credentials.revoke(issued.credentialId);
    expect((await client.check(guardedCaller(), ask(DECLARED))).allowed).toBe(false);
  });
});

describe("a sign-in that is held in memory", () => {
  it("is out at once when it is signed out, on every page that has its cookie", async () => {
    const origin = fixture.origin;
    const { url } = await fixture.server.createSignInLink();
    const started = await fetch(`${origin}/v1/sign-in/link`, {
      method: "POST",
      headers: { "content-type": "application/json", origin },
      body: JSON.stringify({ token: tokenOf(url) }),
    });
    const { csrf_token: csrf } = (await started.json()) as { csrf_token: string };
    const cookie = started.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    /** A page, or a thief who has both halves of the secret. */
    const page = () =>
      createAdminClient({
        origin,
        csrf: () => csrf,
        fetch: (path, init) => fetch(path, { ...init, headers: { ...plain(init.headers), cookie, origin } }),
      });
    const [one, other] = [page(), page()];
    expect((await other.check(TRIAL)).check.allowed).toBe(true);
    await one.signOut();
    await expect(other.check(TRIAL)).rejects.toMatchObject({ status: 401 });
  });
});
