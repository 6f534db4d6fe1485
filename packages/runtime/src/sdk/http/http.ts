/**
 * `sdk.http`: calls that ask before they go out. Receive or send by method and body, a new check for every redirect
 * hop, and the connection goes to the address that was checked. Throws `ExternalAccessError` where a hop is blocked.
 */
import { randomUUID } from "node:crypto";
import * as files from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { ExternalAccessError } from "@sallyport/contract";
import { ownField } from "../../registry/host-input.ts";
import { throwBlocked } from "../access-result.ts";
import { type PathInput, type Place, createOrModify, placeOf, requireParts } from "../fs/parts.ts";
import { guardedCall } from "../guarded-call.ts";
import type { SdkGround } from "../sdk-ground.ts";
import { checkedHop } from "./checked-hop.ts";
import { type ConnectionPool, connectionPool } from "./connection-pool.ts";
import { dial, wasNotReached } from "./dial.ts";
import {
  type HttpCall,
  type HttpInit,
  httpCall,
  isRedirect,
  operationOf,
  redirectedCall,
} from "./http-call.ts";

export interface DownloadProgress {
  readonly receivedBytes: number;
  /** `null` where the server does not say. */
  readonly totalBytes: number | null;
}

export interface DownloadOptions {
  readonly headers?: HttpInit["headers"];
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface SdkHttp {
  fetch(url: string | URL, init?: HttpInit): Promise<Response>;
  /** Into a file that is there whole or not at all. Resolves with its size. */
  download(url: string | URL, toPath: PathInput, options?: DownloadOptions): Promise<number>;
}

const HOPS_MAX = 20;
const LEFTOVER_BYTES_MAX = 65_536;
/** Statuses that have no body. */
const EMPTY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

interface Answered {
  readonly message: IncomingMessage;
  readonly url: URL;
  readonly hops: number;
}

export function sdkHttp(ground: SdkGround): SdkHttp {
  const calling: Calling = { ground, pool: connectionPool(ground.targets.ca) };
  return Object.freeze<SdkHttp>({
    fetch: async (url, init = {}) => {
      const redirect = ownField(init, "redirect") ?? "follow";
      const answered = await followed(calling, String(url), httpCall(init), {
        redirect,
        signal: ownField(init, "signal"),
      });
      return responseOf(answered, ownField(init, "method"));
    },
    download: (url, toPath, options = {}) => download(calling, String(url), toPath, options),
  });
}

interface Calling {
  readonly ground: SdkGround;
  readonly pool: ConnectionPool;
}

interface Following {
  readonly redirect: NonNullable<HttpInit["redirect"]>;
  readonly signal: AbortSignal | undefined;
}

async function followed(
  calling: Calling,
  start: string,
  first: HttpCall,
  { redirect, signal }: Following,
): Promise<Answered> {
  let [target, call] = [start, first];
  for (let hops = 0; hops <= HOPS_MAX; hops++) {
    signal?.throwIfAborted();
    const { url, message } = await oneHop(calling, target, call, signal);
    const status = message.statusCode ?? 0;
    const location = isRedirect(status) ? message.headers.location : undefined;
    if (location === undefined || redirect === "manual") return { message, url, hops };
    letGo(message);
    if (redirect === "error") throw new TypeError(`\`${url.origin}\` answered with a redirect`);
    const next = new URL(location, url);
    call = redirectedCall(call, status, url, next);
    target = next.href;
  }
  throw new TypeError(`more than ${HOPS_MAX} redirects: look at where the server sends its callers`);
}

/** What is left of a short answer is read, so that its connection can be kept; a long one is cut off with it. */
function letGo(message: IncomingMessage): void {
  if (Number(message.headers["content-length"] ?? Number.NaN) <= LEFTOVER_BYTES_MAX) message.resume();
  else message.destroy();
}

/** INVARIANT: each address is checked before it is dialled; a further one only where the last was not reached. */
async function oneHop(
  { ground, pool }: Calling,
  target: string,
  call: HttpCall,
  signal: AbortSignal | undefined,
) {
  const { url, addresses, allow } = await checkedHop(ground, target, operationOf(call));
  const { isGuarded } = ground;
  let missed: unknown;
  for (const address of addresses) {
    await allow(address);
    try {
      const dialled = { pool, url, address, isGuarded, call, signal };
      return { url, message: await guardedCall(() => dial(dialled)) };
    } catch (error) {
      if (!wasNotReached(error)) throw error;
      missed = error;
    }
  }
  throw missed;
}

function responseOf({ message, url, hops }: Answered, method = "GET"): Response {
  const status = message.statusCode ?? 0;
  const headers = new Headers();
  for (let index = 0; index + 1 < message.rawHeaders.length; index += 2)
    headers.append(message.rawHeaders[index] as string, message.rawHeaders[index + 1] as string);
  const isEmpty = EMPTY.has(status) || method.toUpperCase() === "HEAD";
  if (isEmpty) message.resume();
  const body = isEmpty
    ? null
    : (Readable.toWeb(message) as unknown as ConstructorParameters<typeof Response>[0]);
  const response = new Response(body, { status, headers, statusText: message.statusMessage ?? "" });
  Object.defineProperty(response, "url", { value: url.href });
  Object.defineProperty(response, "redirected", { value: hops > 0 });
  return response;
}

async function download(
  calling: Calling,
  url: string,
  toPath: PathInput,
  options: DownloadOptions,
): Promise<number> {
  const { ground } = calling;
  const headers = ownField(options, "headers");
  const signal = ownField(options, "signal");
  const place = await placeOf(ground, toPath, "follow");
  const call = httpCall({ headers });
  if (!ground.isGuarded) {
    const parts = [requireParts(ground, [createOrModify(place)]), checkedHop(ground, url, "receive")];
    throwBlocked((await Promise.allSettled(parts)).flatMap(blockedIn));
  }
  const { message } = await followed(calling, url, call, { redirect: "follow", signal });
  const status = message.statusCode ?? 0;
  if (status < 200 || status > 299) {
    message.destroy();
    throw new Error(`the server answered with ${status}: nothing was written`);
  }
  return guardedCall(() => written(message, place, ownField(options, "onProgress")));
}

/** Beside its place first; into it in one step when all of it has come. */
async function written(
  message: IncomingMessage,
  place: Place,
  onProgress: DownloadOptions["onProgress"],
): Promise<number> {
  const partial = `${place.path}.${randomUUID()}.part`;
  const length = Number(message.headers["content-length"] ?? Number.NaN);
  const totalBytes = Number.isSafeInteger(length) ? length : null;
  const handle = await files.open(partial, "wx");
  let receivedBytes = 0;
  try {
    try {
      for await (const chunk of message as AsyncIterable<Uint8Array>) {
        await handle.writeFile(chunk);
        receivedBytes += chunk.length;
        onProgress?.(Object.freeze({ receivedBytes, totalBytes }));
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (totalBytes !== null && receivedBytes !== totalBytes)
      throw new Error(`the server sent ${receivedBytes} of ${totalBytes} bytes: nothing was written`);
    // INVARIANT: what was checked as new replaces nothing. A guard decides what is replaced when it is.
    if (place.exists) await files.rename(partial, place.path);
    else await files.link(partial, place.path);
    return receivedBytes;
  } finally {
    await files.rm(partial, { force: true });
  }
}

function blockedIn(settled: PromiseSettledResult<unknown>) {
  if (settled.status === "fulfilled") return [];
  const error: unknown = settled.reason;
  if (error instanceof ExternalAccessError) return error.blocked;
  throw error;
}
