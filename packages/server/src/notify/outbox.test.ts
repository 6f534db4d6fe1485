import { createHmac } from "node:crypto";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { administrator, asked } from "../testing/person-browser.ts";
import { type ServerFixture, ask, guardedCaller, openServer, receive } from "../testing/server-fixture.ts";
import { checkedWebhook, noticeBody } from "./webhook.ts";

interface Got {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** The outbox looks every five seconds. */
const SLOW = { timeout: 300_000 };
const SECRET = "a secret of at least thirty-two characters";
let receiver: Server;
let got: Got[];
let failures: number;
let url: string;
let fixture: ServerFixture | undefined;

beforeEach(async () => {
  got = [];
  failures = 0;
  receiver = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (part: string) => (body += part));
    request.on("end", () => {
      if (failures > 0) {
        failures -= 1;
        response.writeHead(500).end();
        return;
      }
      got.push({ headers: request.headers, body });
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});
afterEach(async () => {
  await fixture?.close();
  fixture = undefined;
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
});

const webhooks = (form: "event" | "slack" = "event") => [{ id: "hook", url, form, secret: SECRET }] as const;

/** Asks for so much, and is told of all of it. */
async function heard(count: number): Promise<void> {
  for (let index = 0; index < count; index++) await asked(fixture as ServerFixture, `n-${index}`);
  await expect.poll(() => got.length).toBe(count);
}

describe("a webhook", () => {
  it("is told of a request, signed over id, time and body", async () => {
    fixture = await openServer({ admin: { webhooks: webhooks() } });
    await heard(1);
    const [{ headers, body } = { headers: {}, body: "" }] = got;
    const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
    const expected = createHmac("sha256", SECRET).update(signed).digest("base64");
    expect(headers["webhook-signature"]).toBe(`v1,${expected}`);
    const message = JSON.parse(body) as { readonly data: Readonly<Record<string, unknown>> };
    expect(message).toMatchObject({
      type: "permission.requested",
      data: {
        subject: { type: "tool", name: "demo.read_file" },
        resource: { type: "network", operation: "receive" },
        has_session_key: true,
      },
    });
    expect(message.data["url"]).toBe(`${fixture.origin}/requests/${String(message.data["request_id"])}`);
    const page = await fetch(`${fixture.origin}/v1/requests/${String(message.data["request_id"])}`);
    expect(page.status).toBe(401);
  });

  it("that fails is tried again until it takes the message, which stays in the outbox until then", async () => {
    failures = 1;
    fixture = await openServer({ admin: { webhooks: webhooks() } });
    const store = fixture.store;
    const waiting = async () => {
      const { rows } = await store.read((tx) => tx.records.list("delivery", { limit: 100 }));
      return rows.filter(({ dueMs }) => dueMs !== null);
    };
    const isTried = ({ body }: { readonly body: unknown }) =>
      (body as { readonly attempts: number }).attempts === 1;
    const server = fixture;
    let index = 0;
    await expect
      .poll(async () => {
        await asked(server, `f-${index++}`);
        return (await waiting()).some(isTried);
      })
      .toBe(true);
    const failed = (await waiting()).find(isTried);
    expect(failed?.body).toMatchObject({ attempts: 1, last_error: "the server answered 500" });
    await store.transaction((tx) =>
      tx.records.replace({ ...(failed as NonNullable<typeof failed>), dueMs: 1 }),
    );
    await heard(1);
    await expect.poll(waiting).toEqual([]);
  });

  it("that was given up is shown with its last error, and is tried again when a person says so", async () => {
    fixture = await openServer({ admin: { webhooks: webhooks() } });
    const server = fixture;
    const admin = await administrator(server);
    const createdMs = Date.now();
    const body = {
      webhook: "hook",
      request_id: "request-1",
      body: "{}",
      attempts: 12,
      last_error: "it said 500",
    };
    const gone = { ...body, webhook: "former" };
    await server.store.transaction(async (tx) => {
      const row = { kind: "delivery", createdMs, dueMs: null } as const;
      await tx.records.insert({ ...row, id: "a", body });
      await tx.records.insert({ ...row, id: "b", body: gone, createdMs: createdMs - 1 });
      await tx.records.insert({
        ...row,
        id: "c",
        body: { ...body, attempts: 1 },
        dueMs: createdMs + 3_600_000,
      });
    });
    const listed = await admin.send("/v1/deliveries?state=given_up&limit=1");
    expect(listed.json["rows"]).toEqual([
      {
        id: "a",
        webhook: "hook",
        configured: true,
        request_id: "request-1",
        state: "given_up",
        attempts: 12,
        last_error: "it said 500",
        created_at: new Date(createdMs).toISOString(),
        next_at: null,
      },
    ]);
    const rest = await admin.send(
      `/v1/deliveries?state=given_up&limit=1&after=${String(listed.json["next"])}`,
    );
    expect(rest.json).toMatchObject({ rows: [{ id: "b", configured: false }], next: null });
    const waiting = await admin.send("/v1/deliveries?state=waiting");
    expect(waiting.json).toMatchObject({ rows: [{ id: "c", state: "waiting", attempts: 1 }] });
    expect(JSON.stringify([listed.json, waiting.json])).not.toContain(url);
    const retried = await admin.post("/v1/deliveries/a/retry", { reason: "the receiver is back" });
    expect(retried.json).toMatchObject({ id: "a", state: "waiting", attempts: 0 });
    await expect.poll(() => got.some(({ headers }) => headers["webhook-id"] === "a"), SLOW).toBe(true);
    await expect
      .poll(async () => (await admin.send("/v1/deliveries?state=given_up")).json["rows"], SLOW)
      .toMatchObject([{ id: "b" }]);
    for (const id of ["a", "c", "none"])
      expect([id, (await admin.post(`/v1/deliveries/${id}/retry`)).status]).toEqual([id, 404]);
    expect((await server.events()).filter(({ code }) => code === "retry_delivery")).toHaveLength(1);
  });

  it("that is given up is on record without a person, and told to whoever follows the live stream", async () => {
    failures = 1;
    fixture = await openServer({ admin: { webhooks: webhooks() } });
    const server = fixture;
    const { cookie, csrf } = await administrator(server);
    const headers = { cookie: String(cookie), "x-csrf-token": String(csrf) };
    const live = await fetch(`${server.origin}/v1/live`, { headers });
    const body = { webhook: "hook", request_id: "request-1", body: "{}", attempts: 11, last_error: null };
    await server.store.transaction((tx) =>
      tx.records.insert({ kind: "delivery", id: "a", body, createdMs: Date.now(), dueMs: 1 }),
    );
    let text = "";
    for await (const part of live.body ?? []) {
      text += Buffer.from(part).toString();
      if (/"changed"[^\n]*"deliveries"/.test(text)) break;
    }
    await server.events();
    const { events, rows } = await server.store.read(async (tx) => ({
      events: (await tx.events.search({ code: "give_up_delivery" }, { limit: 10 })).rows,
      rows: (await tx.records.list("delivery", { limit: 100 })).rows,
    }));
    expect(events).toMatchObject([{ type: "policy.changed", userId: null }]);
    expect(rows.find(({ id }) => id === "a")).toMatchObject({ dueMs: null, body: { attempts: 12 } });
  });

  it("never carries a credential that stood in a target", async () => {
    fixture = await openServer({ admin: { webhooks: webhooks() } });
    const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    const what = receive(`https://asked.example.com/?access_token=${secret}`);
    await heard(1);
    await fixture.service.check(guardedCaller(), ask(what));
    await heard(2);
    await expect.poll(() => got.some(({ body }) => body.includes("access_token"))).toBe(true);
    expect(JSON.stringify(got)).not.toContain(secret);
  });

  it("attack: hostile text in a Slack message is shown, and neither formats, links nor mentions", () => {
    const target = "https://a.example/<!channel>*bold*\u202egnp.exe&<https://evil.example|click>";
    const body = noticeBody(
      { id: "hook", url, form: "slack", secret: SECRET },
      {
        id: "event",
        createdMs: 0,
        request: {
          id: "r/../1" as never,
          subject: { type: "tool", name: "demo.read_file" as never },
          resource: { type: "network", operation: "send", target } as never,
          origin: {},
          destructive: true,
          subjectChain: [],
        },
      },
      "http://127.0.0.1:1",
    );
    const message = JSON.parse(body) as { text: string; blocks: { type: string }[] };
    expect(message.text).toBe(
      "tool demo.read_file asks for: Network send https://a.example/&lt;!channel&gt;*bold*\\u{202e}gnp.exe&amp;&lt;https://evil.example|click&gt;",
    );
    expect(body).not.toContain("mrkdwn");
    expect(body).not.toContain("\u202e");
    expect(body).toContain("http://127.0.0.1:1/requests/r%2F..%2F1");
  });

  it("needs https beyond this machine, and a secret that cannot be guessed", () => {
    const webhook = { id: "hook", url, form: "event", secret: SECRET } as const;
    expect(checkedWebhook(webhook)).toBe(webhook);
    expect(() => checkedWebhook({ ...webhook, url: "http://a.example/hook" })).toThrow("https");
    expect(() => checkedWebhook({ ...webhook, url: "file:///etc/passwd" })).toThrow("https");
    expect(() => checkedWebhook({ ...webhook, secret: "short" })).toThrow("32");
  });
});
