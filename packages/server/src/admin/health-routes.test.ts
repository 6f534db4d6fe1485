import { afterEach, describe, expect, it } from "vitest";
import { PersonBrowser, administrator, asked } from "../testing/person-browser.ts";
import { type ServerFixture, openServer } from "../testing/server-fixture.ts";

let fixture: ServerFixture;
afterEach(() => fixture.close());

describe("health, readiness and figures", () => {
  it("say that the server lives and can answer, and name nobody", async () => {
    fixture = await openServer({ admin: {} });
    await asked(fixture, "a-secret-path");
    const browser = new PersonBrowser(fixture.origin);
    expect((await browser.send("/healthz")).status).toBe(200);
    expect((await browser.send("/readyz")).status).toBe(200);
    const { json, headers } = await browser.send("/metrics");
    expect(headers.get("content-type")).toContain("version=0.0.4");
    expect(json["text"]).toContain("sallyport_live 1\n");
    expect(json["text"]).toContain("sallyport_pending_requests 1\n");
    expect(json["text"]).toContain('sallyport_http_answers_total{status="2xx"} 2\n');
    expect(json["text"]).not.toMatch(/secret|demo|asked/);
    await fixture.service.stop();
    expect((await browser.send("/readyz")).status).toBe(503);
    expect((await browser.send("/healthz")).status).toBe(200);
  });

  it("figures take a token where one is set", async () => {
    fixture = await openServer({ admin: { metricsToken: "the-token-of-the-monitor" } });
    const browser = new PersonBrowser(fixture.origin);
    expect((await browser.send("/metrics")).status).toBe(404);
    const wrong = { headers: { authorization: "Bearer wrong" } };
    expect((await browser.send("/metrics", wrong)).status).toBe(404);
    const right = { headers: { authorization: "Bearer the-token-of-the-monitor" } };
    expect((await browser.send("/metrics", right)).status).toBe(200);
  });
});

describe("the OpenAPI document", () => {
  it("has every route of the table, with its body, answer and query", async () => {
    fixture = await openServer({ admin: {} });
    const browser = await administrator(fixture);
    const { json } = await browser.send("/v1/openapi.json");
    expect(json["openapi"]).toBe("3.1.0");
    const paths = json["paths"] as Readonly<Record<string, Readonly<Record<string, object>>>>;
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        "/v1/session",
        "/v1/requests",
        "/v1/requests/{id}",
        "/v1/decisions/batch",
        "/v1/decisions/block",
        "/v1/approvals/{id}/revoke",
        "/v1/freeze",
        "/v1/events/follow",
        "/v1/runtime-credentials/{id}/revoke",
        "/v1/accounts/{id}/password",
      ]),
    );
    expect(paths["/v1/requests"]?.["get"]).toMatchObject({
      parameters: expect.arrayContaining([expect.objectContaining({ name: "session_key", in: "query" })]),
    });
    expect(JSON.stringify(paths["/v1/freeze"]?.["post"])).toContain("frozen");
    for (const [path, methods] of Object.entries(paths)) {
      if (path.includes("{")) continue;
      for (const method of Object.keys(methods)) {
        const answer = await browser.send(path, {
          method: method.toUpperCase(),
          headers: { "x-csrf-token": null, cookie: null },
        });
        // WHY: a path that is described is answered, if only by a refusal.
        expect([path, method, answer.status]).not.toEqual([path, method, 404]);
      }
    }
  });
});
