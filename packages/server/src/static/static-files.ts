/**
 * The files of the console, read once when the server starts and answered from memory by their exact path.
 * INVARIANT: no path of a call ever reaches the file system, so that none can leave the folder; links are not followed.
 */
import { createHash } from "node:crypto";
import { type Dirent, readFileSync, readdirSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { SAFE_HEADERS } from "../problem.ts";

export interface StaticFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** `null` where it would not be smaller. */
  readonly packed: Uint8Array<ArrayBuffer> | null;
  readonly type: string;
  readonly tag: string;
  /** Its name changes with its content. */
  readonly immutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

const FILES_MAX = 2000;
const BYTES_MAX = 64 * 1024 * 1024;
/** As the bundler names what it hashed. */
const HASHED = /-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;

/** Strict: no script but the console's own files, nothing inline, no frame around it, no other host. */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

export class StaticFiles {
  /** By path as it is asked for. */
  readonly #files: ReadonlyMap<string, StaticFile>;

  constructor(folder: string) {
    this.#files = read(folder);
  }

  /** `undefined`: not one of the console's. A page of the console has no file of its own: it is the first page. */
  respond(request: Request): Response | undefined {
    const { pathname } = new URL(request.url);
    const exact = this.#files.get(pathname);
    // WHY asked by what it accepts too: names of subjects have dots, and stand in the addresses of pages.
    const isAsked = extname(pathname) === "" || (request.headers.get("accept") ?? "").includes("text/html");
    const isPage = exact === undefined && isAsked && !pathname.startsWith("/assets/");
    const file = exact ?? (isPage ? this.#files.get("/index.html") : undefined);
    if (file === undefined) return undefined;
    const headers: Record<string, string> = {
      ...SAFE_HEADERS,
      "content-security-policy": CONSOLE_POLICY,
      "content-type": file.type,
      etag: file.tag,
      vary: "accept-encoding",
      "cache-control": file.immutable ? "public, max-age=31536000, immutable" : "no-cache",
    };
    if (request.headers.get("if-none-match") === file.tag)
      return new Response(null, { status: 304, headers });
    const { packed } = file;
    const takesPacked = /\bgzip\b/.test(request.headers.get("accept-encoding") ?? "");
    const isPacked = packed !== null && takesPacked;
    if (isPacked) headers["content-encoding"] = "gzip";
    const bytes = isPacked ? packed : file.bytes;
    headers["content-length"] = String(bytes.byteLength);
    return new Response(request.method === "HEAD" ? null : bytes, { headers });
  }
}

function read(folder: string): ReadonlyMap<string, StaticFile> {
  const files = new Map<string, StaticFile>();
  let left = BYTES_MAX;
  const walk = (place: string, path: string): void => {
    for (const entry of readdirSync(place, { withFileTypes: true })) {
      if (entry.isDirectory()) {
        walk(join(place, entry.name), `${path}${encodeURIComponent(entry.name)}/`);
        continue;
      }
      const file = fileAt(place, entry);
      if (file === undefined) continue;
      left -= file.bytes.byteLength;
      if (left < 0 || files.size >= FILES_MAX)
        throw new Error(`\`${folder}\` holds more than a console: name the folder that was built`);
      files.set(`${path}${encodeURIComponent(entry.name)}`, file);
    }
  };
  if (!statSync(folder).isDirectory()) throw new Error(`\`${folder}\` is not a folder`);
  walk(folder, "/");
  const index = files.get("/index.html");
  if (index === undefined) throw new Error(`\`${folder}\` has no index.html: build the console first`);
  files.set("/", index);
  return files;
}

function fileAt(place: string, entry: Dirent): StaticFile | undefined {
  const type = TYPES[extname(entry.name)];
  if (!entry.isFile() || type === undefined) return undefined;
  const bytes = new Uint8Array(readFileSync(join(place, entry.name)));
  const tag = `W/"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"`;
  // WHY once, and only here: nothing that the console is made of is a secret.
  const gzip =
    type.startsWith("text/") || type.includes("json") || type.includes("svg") ? gzipSync(bytes) : bytes;
  const packed = gzip.byteLength < bytes.byteLength ? new Uint8Array(gzip) : null;
  return { bytes, packed, type, tag, immutable: HASHED.test(entry.name) };
}
