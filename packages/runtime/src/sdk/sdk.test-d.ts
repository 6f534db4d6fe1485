/**
 * What must not compile. Each illegal use stands beside a legal neighbour, so that a line which fails for another
 * reason than the one meant is noticed. The words of the compiler are pinned in `compiler-messages.test.ts`.
 */
import { filesystem, network, systemDependency } from "@sallyport/contract";
import type { Runtime } from "../create-runtime.ts";
import type { Sdk } from "./sdk.ts";

declare const sdk: Sdk;
declare const runtime: Runtime;
declare function use(...values: readonly unknown[]): void;

const FEED = { resourceType: "network", operation: "receive", target: "https://a.example" } as const;

// Pairs.
use(sdk.access.checkExternalAccess(FEED));
// @ts-expect-error a network has no `read`
use(sdk.access.checkExternalAccess({ resourceType: "network", operation: "read", target: "https://a" }));
// @ts-expect-error `url` is no resource type
use(sdk.access.checkExternalAccess({ resourceType: "url", operation: "receive", target: "https://a" }));
// @ts-expect-error every check names its operation
use(sdk.access.checkExternalAccess({ resourceType: "network", target: "https://a" }));
// @ts-expect-error bytes are a path and no URL
use(sdk.access.checkExternalAccess({ ...FEED, target: new Uint8Array() }));
use(sdk.access.checkExternalAccess(network.receive("https://a")));
// @ts-expect-error `network.read` does not exist
use(sdk.access.checkExternalAccess(network.read("https://a")));
// @ts-expect-error `filesystem.send` does not exist
use(sdk.access.checkExternalAccess(filesystem.send("/a")));
use(sdk.access.checkExternalAccess(systemDependency.execute("ffmpeg"), { registerRequest: false }));
const PROGRAM = { resourceType: sdk.access.EXTERNAL_RESOURCE_SYSTEM_DEPENDENCY, target: "ffmpeg" } as const;
use(sdk.access.checkExternalAccess({ ...PROGRAM, operation: "execute" }));
// @ts-expect-error a dependency is executed and not read
use(sdk.access.checkExternalAccess({ ...PROGRAM, operation: "read" }));

// Facts of the host are no arguments, however they come.
// @ts-expect-error the user comes from the context
use(sdk.access.checkExternalAccess({ ...FEED, userId: 21 }));
// @ts-expect-error the organization comes from the context
use(sdk.access.checkExternalAccess({ ...FEED, organizationId: 7 }));
// @ts-expect-error the session comes from the context
use(sdk.access.checkExternalAccess({ ...FEED, sessionKey: "s" }));
// @ts-expect-error what is allowed is not said by the caller
use(sdk.access.checkExternalAccess({ ...FEED, alreadyAllowed: true }));
const flagged = { ...FEED, allowed: true };
// @ts-expect-error neither in a variable
use(sdk.access.checkExternalAccess(flagged));
// @ts-expect-error nor beside a built access
use(sdk.access.checkExternalAccess(network.receive("https://a"), { userId: 1 }));

// Requiring.
use(sdk.access.requireExternalAccess({ ...FEED, resumeAction: "demo.resume", resumeContext: { id: 1 } }));
// @ts-expect-error a context needs its action
use(sdk.access.requireExternalAccess({ ...FEED, resumeContext: { id: 1 } }));
// @ts-expect-error a check resumes nothing
use(sdk.access.checkExternalAccess({ ...FEED, resumeAction: "demo.resume" }));
// @ts-expect-error requiring always registers
use(sdk.access.requireExternalAccess({ ...FEED, registerRequest: false }));

// Deciding.
use(sdk.access.approveForSession({ requestId: "r", digest: "d" }));
use(sdk.access.denyExternalAccess({ ...FEED, subjectType: "tool", subjectName: "demo.x", reason: "no" }));
// @ts-expect-error a request is decided by what was shown of it
use(sdk.access.approveForSession({ requestId: "r" }));
// @ts-expect-error whose access it is must be said
use(sdk.access.approvePermanently(FEED));
// @ts-expect-error who decides comes from the context
use(sdk.access.approvePermanently({ requestId: "r", digest: "d", userId: 1 }));
// @ts-expect-error a denial has no session
use(sdk.access.denyExternalAccess({ requestId: "r", digest: "d", sessionKey: "s" }));

// Guarded code gets the SDK, which has no way to the host.
// @ts-expect-error entering frames is the host's
use(sdk.runAsHost);
// @ts-expect-error the policy itself is not to be had
use(sdk.access.policy);
// @ts-expect-error a subject is type and name, and no joined text
use(runtime.run("tool:demo.x", {}, () => 1));
use(runtime.run({ type: "tool", name: "demo.x" }, { sessionKey: "s" }, () => 1));
// @ts-expect-error an unknown phase
use(runtime.run({ type: "engine", name: "x" }, { phase: "build" }, () => 1));
// @ts-expect-error modes are spelled as on the wire
use(runtime.run({ type: "engine", name: "x" }, { mode: "onRequest" }, () => 1));

// What is synchronous stays so.
export const answer: number = runtime.run({ type: "tool", name: "demo.x" }, {}, () => 1);
// @ts-expect-error and a promise is one
export const promised: number = runtime.run({ type: "tool", name: "demo.x" }, {}, async () => 1);

// The context of an action has the type of its schema.
sdk.actions.register("demo.resume", {
  schema: { parse: (value: unknown): { readonly id: number } => value as { readonly id: number } },
  handler: ({ id }) => use(id.toFixed()),
});
sdk.actions.register("demo.resume", {
  schema: { parse: (value: unknown): { readonly id: number } => value as { readonly id: number } },
  // @ts-expect-error the schema has no such field
  handler: ({ name }) => use(name),
});
// @ts-expect-error without a schema the context is unknown
sdk.actions.register("demo.resume", (context) => use(context.id));

// Facts.
use(sdk.permission.facts()?.subjectChain);
use(sdk.permission.state().then((state) => state?.rules));
// @ts-expect-error what somebody stands under is asked for, and awaited
use(sdk.permission.state()?.rules);
// @ts-expect-error who acts is no argument
use(sdk.permission.state({ type: "core", name: "core" }));

// Calls and files.
use(sdk.http.fetch("https://a", { method: "POST", body: (async function* () {})() }));
// @ts-expect-error a body is text, bytes or a stream of bytes
use(sdk.http.fetch("https://a", { method: "POST", body: { a: 1 } }));
use(sdk.fs.chmod("/a", 0o600));
// @ts-expect-error a mode is a number
use(sdk.fs.chmod("/a", "600"));
