/**
 * The routes that a remote host may call: check, require, wait, state, and renewing or giving back its own credential.
 * Every one is answered by the access-policy service as guarded code; nothing here can decide.
 */
import { type AccessAsking, type UrlParser, externalAccessCheckWire } from "@sallyport/contract";
import {
  issuedCredentialWire,
  openSessionWire,
  openedSessionWire,
  remoteCheckWire,
  remoteRequireWire,
  remoteStateWire,
  remoteWaitWire,
  stateAnswerWire,
  waitAnswerWire,
} from "@sallyport/contract/remote";
import type { Hono } from "hono";
import { type Answer, type Handle, type IncomingCall, callOf, responseOf } from "../incoming-call.ts";
import { jsonResponse, malformed, refusedCredential } from "../problem.ts";
import { parseBody } from "../read-body.ts";
import { type AuthorizedCall, authorizeCall, byProof } from "./authorize-call.ts";
import { type JobRouteParts, addJobRoutes } from "./job-routes.ts";
import { type AskParts, checkAsk, requireAsk, waitOf } from "./remote-ask.ts";
import { type FrameOf, type RemoteCaller, type Standing, remoteCaller } from "./remote-caller.ts";
import { type WaitRoom, waitStream } from "./wait-stream.ts";

export interface RuntimeRouteParts extends JobRouteParts {
  readonly service: AccessAsking;
  readonly frameOf: FrameOf;
  readonly parseUrl: UrlParser;
  readonly room: WaitRoom;
  readonly beatMs: number;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
}

/** The calls that are made all the time, by path. */
export function quickRuntimeCalls(parts: RuntimeRouteParts): ReadonlyMap<string, Handle> {
  const { service } = parts;
  return new Map<string, Handle>([
    [
      "/v1/runtime/check",
      async (call) => {
        const authorized = await authorizeCall(parts, call);
        const remote = parseBody(authorized.body, remoteCheckWire);
        return answer(parts, authorized, call, remote, ({ caller, claimed }, asked) => {
          const own = checkAsk(remote, asked);
          const ask = claimed === null ? own : { ...own, named: claimed };
          return async () => externalAccessCheckWire.format(await service.check(caller, ask));
        });
      },
    ],
    [
      "/v1/runtime/require",
      async (call) => {
        const authorized = await authorizeCall(parts, call);
        const remote = parseBody(authorized.body, remoteRequireWire);
        return answer(parts, authorized, call, remote, ({ caller, claimed }, asked) => {
          const own = requireAsk(remote, asked);
          const ask = claimed === null ? own : { ...own, named: claimed };
          return async () => externalAccessCheckWire.format(await service.require(caller, ask));
        });
      },
    ],
  ]);
}

export function addRuntimeRoutes(app: Hono, parts: RuntimeRouteParts): void {
  const { service } = parts;
  for (const [path, handle] of quickRuntimeCalls(parts))
    app.post(path, async (c) => responseOf(await handle(callOf(c.req.raw))));
  app.post("/v1/runtime/wait", async (c) => {
    const incoming = callOf(c.req.raw);
    const call = await authorizeCall(parts, incoming);
    const remote = parseBody(call.body, remoteWaitWire);
    const waited = await answer(parts, call, incoming, remote, ({ caller, claimed }, asked) => {
      const wait = waitOf(remote.wait.timeoutMs, asked);
      return async () =>
        waitAnswerWire.format(
          claimed === null ? await service.wait(caller, remote.requestId, wait) : { outcome: "not_found" },
        );
    });
    return responseOf(waited);
  });
  app.post("/v1/runtime/state", async (c) => {
    const call = await authorizeCall(parts, callOf(c.req.raw));
    const remote = parseBody(call.body, remoteStateWire);
    const { caller, claimed } = remoteCaller(call.held.grant, remote, parts.frameOf);
    const state = claimed === null ? await service.state(caller) : undefined;
    return jsonResponse(stateAnswerWire.format({ state: state ?? null }));
  });
  addJobRoutes(app, parts);
  addCredentialRoutes(app, parts);
}

function addCredentialRoutes(app: Hono, parts: RuntimeRouteParts): void {
  const { credentials, sessions } = parts;
  app.post("/v1/runtime/session", async (c) => {
    // INVARIANT: a session is opened with the key of the credential, never with another session.
    const { held, body } = await byProof(parts, callOf(c.req.raw));
    const opened = sessions.open(held, parseBody(body, openSessionWire).publicKey);
    if (opened === undefined) throw malformed("`/public_key` must be a point of P-256");
    return jsonResponse(openedSessionWire.format(opened));
  });
  app.post("/v1/runtime/credential/renew", async (c) => {
    const { held } = await byProof(parts, callOf(c.req.raw));
    const issued = await credentials.renew(held);
    if (issued === undefined) throw refusedCredential("the credential is over: ask for a new one");
    return jsonResponse(issuedCredentialWire.format(issued));
  });
  app.post("/v1/runtime/credential/revoke", async (c) => {
    const { held } = await authorizeCall(parts, callOf(c.req.raw));
    await credentials.revoke(held.credentialId);
    return jsonResponse({});
  });
}

/** Of calls that do not wait; nobody aborts it. */
const NEVER = new AbortController();

/** At once, or as a stream where the caller waits. */
async function answer(
  parts: RuntimeRouteParts,
  { held }: AuthorizedCall,
  call: IncomingCall,
  remote: Standing & { readonly wait?: { readonly timeoutMs: number } },
  /** Throws what is wrong with the call before anything begins. */
  prepare: (who: RemoteCaller, asked: AskParts) => () => Promise<unknown>,
): Promise<Answer> {
  const { frameOf, parseUrl, room, beatMs, closing, nowMs, credentials } = parts;
  const who = remoteCaller(held.grant, remote, frameOf);
  const isWaiting = remote.wait !== undefined && who.caller.interactive;
  const stop = isWaiting ? new AbortController() : NEVER;
  const asked: AskParts = { parseUrl, signal: stop.signal, waitMaxMs: held.endsAtMs - nowMs() };
  const answering = prepare(who, asked);
  if (!isWaiting) return JSON.stringify(await answering());
  const leave = room.enter(held.credentialId);
  const gone = call.gone();
  const cancel = (): void => stop.abort();
  for (const signal of [gone, closing]) {
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
  }
  const isAlive = async (): Promise<boolean> => !stop.signal.aborted && !(await credentials.isRevoked(held));
  const left = (): void => {
    leave();
    for (const signal of [gone, closing]) signal.removeEventListener("abort", cancel);
  };
  return waitStream(answering(), { beatMs, isAlive, stop }, left);
}
