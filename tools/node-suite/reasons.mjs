// @ts-check
/**
 * Purpose: what of Node's own tests cannot pass under the guard, with the reason. A test that fails and is not listed is a
 * fault of ours. Names are those of test/parallel, a star stands for any rest.
 */

/** Flags that let code run beside the guard, which therefore does not start. */
export const REFUSED_FLAGS = Object.freeze([
  "--expose-internals",
  "--expose_internals",
  "--experimental-loader",
  "--loader",
  "--inspect",
  "--inspect-brk",
  "--require",
  "-r",
  "--experimental-permission",
  "--permission",
]);

const RUNNER = "uses `node:test`, whose harness needs `async_hooks.createHook`, which is refused";

/** @type {Readonly<Record<string, string>>} */
export const REASONS = Object.freeze({
  "test-fs-watch-recursive-*":
    "a recursive watch follows what comes later, which nobody could check; it is refused",
  "test-fs-append-file-flush.js": RUNNER,
  "test-fs-operations-with-surrogate-pairs.js": RUNNER,
  "test-fs-readdir-recursive.js": RUNNER,
  "test-fs-write-file-flush.js": RUNNER,
  "test-fs-write-stream-eagain.mjs": RUNNER,
  "test-fs-write-stream-flush.js": RUNNER,
  "test-fs-readdir-ucs2.js":
    "writes a name that is no UTF-8; a target is text, so such a name cannot be decided on",
  "test-fs-realpath-pipe.js": "`/dev/stdin` of a pipe leads to no path, so there is nothing to decide on",
  "test-fs-write-stream-patch-open.js":
    "starts itself as a child, and a child has no sensitive imports, which test/common needs",
  "test-fs-syncwritestream.js":
    "starts itself as a child, and a child has no sensitive imports, which test/common needs",
});

/** @param {string} name */
export function reasonFor(name) {
  const found = Object.entries(REASONS).find(([pattern]) =>
    pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
  return found?.[1];
}
