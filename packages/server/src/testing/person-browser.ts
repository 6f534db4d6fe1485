/** What a browser does for a person, without one: keeps the cookie of one origin, and says where its calls come from. */
import type { ServerFixture } from "./server-fixture.ts";
import { ask, guardedCaller, receive } from "./server-fixture.ts";

export interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | null>>;
}

export interface Answered {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
}

export class PersonBrowser {
  readonly origin: string;
  cookie: string | null = null;
  csrf: string | null = null;

  constructor(origin: string) {
    this.origin = origin;
  }

  /** `null` as a header leaves it out. */
  async send(path: string, { method = "GET", body, headers = {} }: Sent = {}): Promise<Answered> {
    const all: Record<string, string | null> = {
      ...(this.cookie === null ? {} : { cookie: this.cookie }),
      ...(this.csrf === null ? {} : { "x-csrf-token": this.csrf }),
      ...(method === "GET" ? {} : { origin: this.origin, "content-type": "application/json" }),
      ...headers,
    };
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
    const response = await fetch(`${this.origin}${path}`, {
      method,
      headers: given,
      redirect: "manual",
      ...(method === "GET" ? {} : { body: typeof body === "string" ? body : JSON.stringify(body ?? {}) }),
    });
    this.#keep(response.headers);
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    const json = (isJson && text !== "" ? JSON.parse(text) : { text }) as Answered["json"];
    return { status: response.status, json, headers: response.headers };
  }

  post(path: string, body: unknown = {}, headers: Sent["headers"] = {}): Promise<Answered> {
    return this.send(path, { method: "POST", body, headers });
  }

  async signIn(how: { readonly token: string } | { readonly name: string; readonly password: string }) {
    const answer = await this.post("token" in how ? "/v1/sign-in/link" : "/v1/sign-in/password", how);
    const { csrf_token: csrf } = answer.json;
    if (typeof csrf === "string") this.csrf = csrf;
    return answer;
  }

  #keep(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      if (pair.startsWith("sallyport_")) this.cookie = pair.endsWith("=") ? null : pair;
    }
  }
}

export const tokenOf = (url: string): string => new URL(url).hash.slice("#token=".length);

/** Signed in as an administrator by a one-time link. */
export async function administrator({ server, origin }: ServerFixture): Promise<PersonBrowser> {
  const browser = new PersonBrowser(origin);
  const { url } = await server.createSignInLink();
  await browser.signIn({ token: tokenOf(url) });
  return browser;
}

/** A request that waits; its id and digest. */
export async function asked(fixture: ServerFixture, path: string, changes: object = {}) {
  const what = receive(`https://asked.example.com/${path}`);
  const check = await fixture.service.check(guardedCaller(changes), ask(what));
  return fixture.shown(check.requestId);
}
