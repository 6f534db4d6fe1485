/**
 * An error of Node's own, told with the path as the program wrote it instead of the real one that Node was given.
 */
import { getOwnPropertyDescriptor, put } from "../captured.ts";

export function asWritten(error: unknown, path: string, requested: string): unknown {
  if (path === requested || typeof error !== "object" || error === null) return error;
  renamed(error, "path", path, requested);
  renamed(error, "dest", path, requested);
  return error;
}

function renamed(error: object, key: "path" | "dest", path: string, requested: string): void {
  if (getOwnPropertyDescriptor(error, key)?.value !== path) return;
  put(error, key, requested);
  const message: unknown = getOwnPropertyDescriptor(error, "message")?.value;
  if (typeof message !== "string") return;
  put(error, "message", message.split(`'${path}'`).join(`'${requested}'`), false);
}
