/** Calls of a remote host made by hand, so that each part of one can be forged. */
import { type HolderKey, generateHolderKey } from "@sallyport/client";
import type { IssuedCredential } from "@sallyport/contract/remote";
import { READER, type ServerFixture } from "@sallyport/server/testing";

export const CHECK_PATH = "/v1/runtime/check";

/** A check of the reader for an access that nobody decided. */
export const checkBody = (changes: object = {}): object => ({
  chain: [{ subject: READER, phase: "runtime", entry: "host" }],
  task_id: null,
  interactive: true,
  access: {
    kind: "access",
    resource: { type: "network", operation: "receive", target: "https://unknown.example.com/" },
    requested: "https://unknown.example.com/",
  },
  attested_by: "service",
  enforced: false,
  ...changes,
});

export interface Holder {
  readonly key: HolderKey;
  readonly issued: IssuedCredential;
}

export async function holderOf(
  fixture: ServerFixture,
  changes: Parameters<ServerFixture["issue"]>[1] = {},
): Promise<Holder> {
  const key = await generateHolderKey();
  return { key, issued: await fixture.issue(key.thumbprint, changes) };
}

export interface Forgery {
  readonly path?: string;
  readonly body?: string;
  readonly token?: string;
  readonly scheme?: string;
  /** What the proof is made over, where that is not what is sent. */
  readonly proven?: Partial<Parameters<HolderKey["prove"]>[0]>;
  readonly proof?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function headersOf(
  { origin }: Pick<ServerFixture, "origin">,
  { key, issued }: Holder,
  forgery: Forgery = {},
): Promise<Record<string, string>> {
  const {
    path = CHECK_PATH,
    body = JSON.stringify(checkBody()),
    token = issued.token,
    scheme = "DPoP",
  } = forgery;
  const call = { method: "POST", url: `${origin}${path}`, body, token, nowMs: Date.now() };
  const dpop = forgery.proof ?? (await key.prove({ ...call, ...forgery.proven }));
  const authorization = `${scheme} ${token}`;
  return { "content-type": "application/json", authorization, dpop, ...forgery.headers };
}

export interface RawAnswer {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly headers: Headers;
}

export async function rawCall(
  fixture: Pick<ServerFixture, "origin">,
  holder: Holder,
  forgery: Forgery = {},
): Promise<RawAnswer> {
  const { path = CHECK_PATH, body = JSON.stringify(checkBody()) } = forgery;
  const headers = await headersOf(fixture, holder, forgery);
  return answerOf(await fetch(`${fixture.origin}${path}`, { method: "POST", headers, body }));
}

export async function answerOf(response: Response): Promise<RawAnswer> {
  const { code, detail = "" } = (await response.json()) as { code: string; detail?: string };
  return { status: response.status, code, detail, headers: response.headers };
}
