import { request } from "node:https";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { tokenOf } from "./testing/person-browser.ts";
import { type ServerFixture, openServer } from "./testing/server-fixture.ts";
import { TLS_PAIR } from "./testing/tls-pair.ts";

let fixture: ServerFixture;
afterEach(() => fixture.close());

interface Heard {
  readonly status: number;
  readonly cookies: readonly string[];
}

function overTls(path: string, body: unknown): Promise<Heard> {
  const { origin, port } = new URL(fixture.origin);
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: "127.0.0.1",
        port,
        path,
        method: "POST",
        ca: TLS_PAIR.cert,
        headers: { "content-type": "application/json", origin },
      },
      (response) => {
        response.resume();
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, cookies: response.headers["set-cookie"] ?? [] }),
        );
      },
    );
    call.once("error", reject);
    call.end(JSON.stringify(body));
  });
}

describe("a server with TLS of its own", () => {
  it("signs in over https with a cookie that is bound to the host, and speaks nothing else", async () => {
    fixture = await openServer({ admin: {}, listen: { tls: TLS_PAIR } });
    expect(fixture.origin).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const { url } = await fixture.server.createSignInLink();
    const { status, cookies } = await overTls("/v1/sign-in/link", { token: tokenOf(url) });
    expect(status).toBe(200);
    expect(cookies[0]).toMatch(/^__Host-sallyport=[\w-]{43}; Path=\/; .*; Secure$/);
    const { hostname, port } = new URL(fixture.origin);
    const plain = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), hostname, () =>
        socket.write(`GET /healthz HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`),
      );
      let text = "";
      socket.on("data", (part) => (text += part.toString("latin1")));
      socket.on("error", () => undefined);
      socket.on("close", () => resolve(text));
    });
    expect(plain).not.toContain("200");
  });
});
