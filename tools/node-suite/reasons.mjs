// @ts-check
/**
 * Purpose: what of Node's own tests cannot pass under the guard, with the reason. A test that fails and is not listed is a
 * fault of ours. Told by what the test said, or by its name in test/parallel, where a star stands for any rest.
 */

/** Flags that let code run beside the guard, which therefore does not start. */
const REFUSED_FLAGS = Object.freeze([
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

/** @param {string} flag */
export function isRefusedFlag(flag) {
  return REFUSED_FLAGS.includes(flag.split("=")[0] ?? "");
}

/** What a refused test says, and why it is refused. @type {readonly (readonly [RegExp, string])[]} */
const SAID = Object.freeze([
  [
    /`async_hooks\.createHook` is refused/,
    "uses `async_hooks.createHook`, mostly through `node:test`, `domain` or the collector of test/common; it is refused, since it hands out resources of the guard and runs code in the middle of it",
  ],
  [
    /importing `(?:child_process|worker_threads)` is refused/,
    "starts itself as a child, and a child has no sensitive imports (SPEC section 3), which test/common needs",
  ],
  [
    /importing `(?:node:)?(?:inspector|sqlite|ffi)[^`]*` is refused/,
    "needs a debugger or a module that is never handed out",
  ],
  [
    /(?:getHeapSnapshot|startHeapProfile)` is refused/,
    "takes a heap snapshot or profile, which holds the memory of the guard",
  ],
  [/`net\.BoundSocket` is refused/, "binds a socket by itself, which has no guarded form: a server listens"],
  [
    /`process\.(?:binding|_[a-zA-Z]+)` is refused/,
    "looks into Node's internals or at all handles of the process",
  ],
  [/a signal that opens a debugger is refused/, "sends SIGUSR1, which opens a debugger in a Node"],
  [/`v8\.setFlagsFromString` is refused/, "changes the engine that the guard runs on"],
  [/the flag `[^`]+` is refused/, "starts a Node with a flag that could run beside the guard"],
  [/`module\.register[a-zA-Z]*` is refused/, "puts hooks in front of the module loader"],
  [/listening at a socket from elsewhere is refused/, "listens at a descriptor or handle that it was handed"],
  [
    /a (?:look-up|connection) needs a host name/,
    "connects to port 0 or to text that is no host name: an invalid target",
  ],
  [/is refused to guarded code: it changes who this process is/, "changes the user of the process"],
  [
    /a recursive watch follows what comes later/,
    "watches recursively, which nobody could check; it is refused",
  ],
  [
    /`worker_threads\.moveMessagePortToContext` is refused/,
    "moves a port into another context, whose messages no guard looks at",
  ],
  [
    /a message of guarded code takes along memory and ports alone/,
    "hands a handle along with a message; newer Nodes hand connections over in the same way, so a message takes along memory and ports",
  ],
  [
    /getaddrinfo ENOTFOUND (?:example\.org|dummy)|lookup(?:WithError)? function calls/,
    "brings a look-up of its own; the guard asks the system's resolver alone",
  ],
]);

const UNIX =
  "listens at a unix socket that no manifest can name before, so that the host is asked; the socket is there with the answer, not at once";
const LOOKUP = "brings a look-up of its own; the guard asks the system's resolver alone";
const COUNTED = "counts threads, and the gate of the guard is one";
const CHILD =
  "starts itself as a child, and a child has no sensitive imports (SPEC section 3), which test/common needs";
const WATCH = "watches recursively, which nobody could check; it is refused";

/** @type {Readonly<Record<string, string>>} */
const NAMED = Object.freeze({
  "test-fs-watch-recursive-*": WATCH,
  "test-fs-readdir-ucs2.js":
    "writes a name that is no UTF-8; a target is text, so such a name cannot be decided on",
  "test-fs-realpath-pipe.js": "`/dev/stdin` of a pipe leads to no path, so there is nothing to decide on",
  "test-fs-realpath.js": "links that lead in a circle are an invalid target (SPEC section 2), not `ELOOP`",
  "test-fs-write-stream-patch-open.js": CHILD,
  "test-fs-syncwritestream.js": CHILD,
  "test-fs-mkdir.js":
    "makes a folder by a path with `..` behind one that does not exist yet: an invalid target",
  "test-fs-promises.js":
    "looks for the caller in the stack of an asynchronous error, which ends at the guard",
  "test-fs-cp.mjs": "options of `cp` that are `undefined` count as absent",
  "test-fs-cp-async-socket.mjs": UNIX,
  "test-fs-cp-sync-copy-socket-error.mjs": UNIX,
  "test-fs-writesync-crash.js":
    "makes every error of the kernel end Node itself (`errno` on `Object.prototype` throws), and the guard looks at each name of a path",
  "test-http-request-lookup-error-catchable.js": LOOKUP,
  "test-net-autoselectfamily*": LOOKUP,
  "test-net-connect-immediate-finish.js": LOOKUP,
  "test-net-connect-options-ipv6.js": LOOKUP,
  "test-net-dns-custom-lookup.js": LOOKUP,
  "test-child-process-detached.js": CHILD,
  "test-child-process-fork-detached.js": CHILD,
  "test-child-process-fork-exec-argv.js": CHILD,
  "test-child-process-fork-ref.js": CHILD,
  "test-child-process-fork-stdio.js": CHILD,
  "test-child-process-ipc.js": CHILD,
  "test-child-process-spawnsync-input.js": CHILD,
  // Passes where the child takes longer to be refused than the test waits.
  "test-child-process-spawnsync-timeout.js": CHILD,
  "test-child-process-no-deprecation.js": CHILD,
  "test-child-process-spawn-argv0.js": CHILD,
  "test-child-process-spawnsync-env.js": CHILD,
  "test-child-process-stdio-big-write-end.js": CHILD,
  "test-child-process-stdio-reuse-readable-stdio.js": CHILD,
  "test-child-process-stdout-flush-exit.js": CHILD,
  "test-child-process-fork-exec-path.js":
    "hands `NODE_TEST_DIR` on, and `NODE_…` is taken away from children",
  "test-net-socket-constructor.js": CHILD,
  "test-http-agent-timeout-option.js": LOOKUP,
  "test-http-client-timeout-option-with-agent.js": LOOKUP,
  "test-http2-client-promisify-connect-error.js": LOOKUP,
  "test-http2-max-concurrent-streams.js":
    "asks for two streams before the session is there and expects the second to be refused; each is decided by itself, so the second leaves when the settings of the server are known, and passes",
  "test-worker-event.js": COUNTED,
  "test-worker-messaging.js": COUNTED,
  "test-worker-no-atomics.js": "takes `Atomics` away, which the gate needs",
  "test-worker-no-sab.js": "takes `SharedArrayBuffer` away, which the gate needs",
  "test-worker-process-env-shared.js":
    "shares an environment, which is a copy: a thread reads flags from it when it comes up, later than anybody could look",
  "test-worker-node-options.js": "hands flags on by `NODE_OPTIONS`, which is taken away",
});

/** @param {{ readonly name: string, readonly said?: string | undefined }} row */
export function reasonFor({ name, said = "" }) {
  const named = Object.entries(NAMED).find(([pattern]) =>
    pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );
  return named?.[1] ?? SAID.find(([pattern]) => pattern.test(said))?.[1];
}
