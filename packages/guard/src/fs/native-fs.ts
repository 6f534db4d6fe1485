/**
 * Node's own file functions, taken before anything was replaced. INVARIANT: a path that goes in is text that was checked
 * for names which foreign code could have put on a prototype: with `href` there, Node takes a text for a URL.
 */
import fs from "node:fs";
import { refusedError } from "../blocked-call.ts";
import { bare, isPolluted } from "../captured.ts";

export const nativeFs: Readonly<typeof fs> = Object.freeze({ ...fs });
export const nativePromises: Readonly<typeof fs.promises> = Object.freeze({ ...fs.promises });
/** Nothing is handed to Node while a text can be taken for something else. */
export function requireCleanText(): void {
  if (isPolluted("href") || isPolluted("protocol"))
    throw refusedError(
      "a prototype of the built-ins has `href` or `protocol`, so Node would take a path for a URL: remove it",
      bare({ syscall: "path" }),
    );
}
