/**
 * What a request means: which URL, and whether it receives or sends. Pure. The host that was dialled is known; a request
 * that speaks of another one, or that could be read in two ways, is refused before anybody is asked.
 */
import { type Host, type UrlTarget, foldLocalHost, parseNetworkTarget, whatwgUrl } from "@sallyport/contract";
import type { Refusal } from "./network-question.ts";

/** Where a stream of requests leads. */
export type Passage =
  | {
      readonly kind: "origin";
      readonly host: Host;
      readonly port: number;
      readonly isSecure: boolean;
      /** `connect` was allowed: nobody is asked about single requests. */
      readonly isOpen: boolean;
    }
  /** Every request names its own host. */
  | { readonly kind: "proxy" };

export interface RequestHead {
  readonly method: string;
  /** As it stands in the request line, or `:path`. */
  readonly path: string;
  /** Name, value, name, value… */
  readonly rawHeaders: readonly string[];
  /** `:authority` of HTTP/2. */
  readonly authority?: string | undefined;
  readonly hasBody: boolean;
  readonly isWebsocket: boolean;
}

export type Judged =
  | { readonly ok: true; readonly operation: "receive" | "send"; readonly target: UrlTarget }
  | { readonly ok: false; readonly refusal: Refusal };

const RECEIVING: readonly string[] = ["GET", "HEAD", "OPTIONS"];

export function judgeRequest(head: RequestHead, passage: Passage): Judged {
  const hosts = valuesOf(head.rawHeaders, "host");
  const lengths = valuesOf(head.rawHeaders, "content-length");
  const codings = valuesOf(head.rawHeaders, "transfer-encoding");
  const isAmbiguous =
    hosts.length > 1 ||
    lengths.length > 1 ||
    codings.length > 1 ||
    (lengths.length > 0 && codings.length > 0) ||
    codings.some((coding) => coding.toLowerCase() !== "chunked") ||
    lengths.some((length) => !/^\d+$/.test(length));
  if (isAmbiguous) return refused("ambiguous_request");
  const named = head.authority ?? hosts[0];
  // INVARIANT: where both are there they say the same.
  if (named === undefined || (hosts[0] !== undefined && hosts[0] !== named)) return refused("host_mismatch");
  const target = targetOf(head, passage, named);
  if ("refusal" in target) return { ok: false, refusal: target.refusal };
  const receives = RECEIVING.includes(head.method) && !head.hasBody;
  return { ok: true, operation: receives ? "receive" : "send", target };
}

function targetOf(
  head: RequestHead,
  passage: Passage,
  named: string,
): UrlTarget | { readonly refusal: Refusal } {
  const isAbsolute = /^https?:\/\//i.test(head.path);
  if (!isAbsolute && (passage.kind === "proxy" || !head.path.startsWith("/")))
    return { refusal: "invalid_target" };
  // WHY: a proxy is asked for clear text only; TLS comes in a tunnel.
  if (isAbsolute && !/^http:/i.test(head.path)) return { refusal: "invalid_target" };
  const isSecure = passage.kind === "origin" && passage.isSecure;
  const origin =
    passage.kind === "origin" ? `${isSecure ? "https" : "http"}://${passage.host}:${passage.port}` : "";
  const written = isAbsolute ? head.path : `${origin}${head.path}`;
  const parsed = parseNetworkTarget(written, whatwgUrl);
  if (!parsed.ok || parsed.value.form !== "url") return { refusal: "invalid_target" };
  const { value } = parsed;
  const expected = passage.kind === "origin" ? passage : value;
  if (!isSameHost(value, expected) || !isAuthority(named, value)) return { refusal: "host_mismatch" };
  return head.isWebsocket ? asWebsocket(value) : value;
}

/** ws and wss are targets of their own and match patterns of the same security level. */
function asWebsocket(target: UrlTarget): UrlTarget | { readonly refusal: Refusal } {
  const parsed = parseNetworkTarget(target.text.replace(/^http/, "ws"), whatwgUrl);
  return parsed.ok && parsed.value.form === "url" ? parsed.value : { refusal: "invalid_target" };
}

function isAuthority(text: string, target: UrlTarget): boolean {
  if (/[/?#@\\\s]/.test(text)) return false;
  const parsed = parseNetworkTarget(`${target.scheme}://${text}/`, whatwgUrl);
  return parsed.ok && parsed.value.form === "url" && isSameHost(parsed.value, target);
}

function isSameHost(one: Pick<UrlTarget, "host" | "port">, other: Pick<UrlTarget, "host" | "port">): boolean {
  return foldLocalHost(one.host) === foldLocalHost(other.host) && one.port === other.port;
}

export function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const text = rawHeaders[index] as string;
    if (text.length === name.length && text.toLowerCase() === name)
      values.push(rawHeaders[index + 1] as string);
  }
  return values;
}

function refused(refusal: Refusal): Judged {
  return { ok: false, refusal };
}
