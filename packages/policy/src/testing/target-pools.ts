/**
 * Small pools of target texts that meet, nearly meet and must not meet each other.
 */
import type { AccessRule } from "../question.ts";

export const SCHEMES = ["https", "https", "http", "wss", "ws"] as const;
export const HOSTS = [
  "a.example",
  "a.example",
  "b.a.example",
  "A.Example.",
  "localhost",
  "127.0.0.1",
  "[::1]",
  "0x7f.1",
  "10.0.0.7",
  "10.0.0.7",
  "169.254.169.254",
  "[::ffff:10.0.0.7]",
  "xn--bcher-kva.example",
  "bücher.example",
] as const;
export const PORTS = ["", "", "", ":443", ":80", ":8080"] as const;
/** Eight layers of encoding around a letter, and one more: the bound of what is decoded. */
const DEEP = [7, 8].map((count) => `/v1/%${"25".repeat(count)}41`);
export const PATHS: readonly string[] = [
  "",
  "/",
  "/v1",
  "/v1/",
  "/v1/reports",
  "/v1/reports",
  "/v1/reports/",
  "/v1/reports/7",
  "/v10/x",
  "/v1/./reports",
  "/v1/../v10/x",
  "/v1/%2e%2e/v10/x",
  "/v1\\reports",
  "/v1/reports/...",
  "/v1/reports/a%2fb",
  "/v1/a%2Fb",
  "/v1/%252e%252e/x",
  "/v1/%252E/x",
  "/v1/a%5cb",
  "/v1/a%255Cb",
  "/v1/%25252fx",
  "/v1/%%32e/x",
  "/v1/%zz",
  ...DEEP,
];
export const QUERIES = ["", "", "", "?q=1", "?q=2", "?"] as const;
export const SOCKETS = ["unix:/run/app.sock", "unix:/run/app.sock.d/x", "unix:/run//app.sock"] as const;
export const FILES = [
  "/",
  "/data",
  "/data/app",
  "/data/app",
  "/data/app/x",
  "/data/app/x/y",
  "/data/application",
  "/data/application/x",
  "/data/ap",
  "/data//app/./x",
  "/data/app/x/",
  "/data/app/%2e%2e",
  "/tmp/x",
] as const;
export const PROGRAMS = ["ffmpeg", "FFmpeg", "ffmpeg2", "git"] as const;
export const PROGRAM_PATHS = [
  "/usr/bin/ffmpeg",
  "/usr/bin/ffmpeg",
  "/usr/bin/ffmpeg2",
  "/usr/bin/git",
  "/usr/bin",
] as const;
/** Rules that do not parse, or that no legal question can meet. */
export const BROKEN_RULES: readonly AccessRule[] = [
  { resourceType: "network", operation: "receive", target: "https://user@a.example/" },
  { resourceType: "network", operation: "receive", target: "ftp://a.example/" },
  { resourceType: "network", operation: "send", target: "" },
  { resourceType: "network", operation: "read", target: "a.example" },
  { resourceType: "network", operation: "receive", target: "unix:/run/app.sock" },
  { resourceType: "filesystem", operation: "read", target: "data/app/" },
  { resourceType: "filesystem", operation: "read", target: "/data/../data/app/" },
  { resourceType: "filesystem", operation: "receive", target: "/data/app/" },
  { resourceType: "system_dependency", operation: "execute", target: "/usr/bin/ffmpeg" },
];
export const FAULTS: readonly (readonly [unknown, unknown, unknown])[] = [
  ["network", "receive", "https://user:secret@a.example/"],
  ["network", "receive", "file:///data/app"],
  ["network", "receive", "https:///"],
  ["network", "connect", "a.example:70000"],
  ["network", "send", "https://a.example/\u0000"],
  ["network", "receive", "unix:/run/app.sock"],
  ["network", "connect", 443],
  ["network", "read", "https://a.example/"],
  ["url", "receive", "https://a.example/"],
  ["filesystem", "read", "data/app"],
  ["filesystem", "read", "/data/app/../x"],
  ["filesystem", "write", "/data/app"],
  ["filesystem", "delete", "/data/\u0000"],
  ["system_dependency", "execute", "/usr/bin/ffmpeg"],
  ["toString", "execute", "ffmpeg"],
];
