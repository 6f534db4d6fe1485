/**
 * The routes that a remote host may call: check, require, wait, state, and renewing or giving back its own credential.
 * Every one is answered by the access-policy service as guarded code; nothing here can decide.
 */
import { type AccessAsking, type UrlParser, externalAccessCheckWire } from "@sallyport/contract";
import {
  issuedCredentialWire,
  remoteCheckWire,
  remoteRequireWire,
  remoteStateWire,
  remoteWaitWire,
  stateAnswerWire,
  waitAnswerWire,
} from "@sallyport/contract/remote";
import type { Hono } from "hono";
import { jsonResponse, refusedCredential } from "../problem.ts";
import { parseBody } from "../read-body.ts";
import { type AuthorizedCall, authorizeCall } from "./authorize-call.ts";
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

export function addRuntimeRoutes(app: Hono, parts: RuntimeRouteParts): void {
  const { service, credentials } = parts;
  app.post("/v1/runtime/check", async (c) => {
    const call = await authorizeCall(parts, c.req.raw, c.req.path);
    const remote = parseBody(call.body, remoteCheckWire);
    return answer(parts, call, c.req.raw.signal, remote, ({ caller, claimed }, asked) => {
      const own = checkAsk(remote, asked);
      const ask = claimed === null ? own : { ...own, named: claimed };
      return async () => externalAccessCheckWire.format(await service.check(caller, ask));
    });
  });
  app.post("/v1/runtime/require", async (c) => {
    const call = await authorizeCall(parts, c.req.raw, c.req.path);
    const remote = parseBody(call.body, remoteRequireWire);
    return answer(parts, call, c.req.raw.signal, remote, ({ caller, claimed }, asked) => {
      const own = requireAsk(remote, asked);
      const ask = claimed === null ? own : { ...own, named: claimed };
      return async () => externalAccessCheckWire.format(await service.require(caller, ask));
    });
  });
  app.post("/v1/runtime/wait", async (c) => {
    const call = await authorizeCall(parts, c.req.raw, c.req.path);
    const remote = parseBody(call.body, remoteWaitWire);
    return answer(parts, call, c.req.raw.signal, remote, ({ caller, claimed }, asked) => {
      const wait = waitOf(remote.wait.timeoutMs, asked);
      return async () =>
        waitAnswerWire.format(
          claimed === null ? await service.wait(caller, remote.requestId, wait) : { outcome: "not_found" },
        );
    });
  });
  app.post("/v1/runtime/state", async (c) => {
    const call = await authorizeCall(parts, c.req.raw, c.req.path);
    const remote = parseBody(call.body, remoteStateWire);
    const { caller, claimed } = remoteCaller(call.held.grant, remote, parts.frameOf);
    const state = claimed === null ? await service.state(caller) : undefined;
    return jsonResponse(stateAnswerWire.format({ state: state ?? null }));
  });
  addJobRoutes(app, parts);
  app.post("/v1/runtime/credential/renew", async (c) => {
    const { held } = await authorizeCall(parts, c.req.raw, c.req.path);
    const issued = await credentials.renew(held);
    if (issued === undefined) throw refusedCredential("the credential is over: ask for a new one");
    return jsonResponse(issuedCredentialWire.format(issued));
  });
  app.post("/v1/runtime/credential/revoke", async (c) => {
    const { held } = await authorizeCall(parts, c.req.raw, c.req.path);
    await credentials.revoke(held.credentialId);
    return jsonResponse({});
  });
}

/** At once, or as a stream where the caller waits. */
async function answer(
  parts: RuntimeRouteParts,
  { held }: AuthorizedCall,
  gone: AbortSignal,
  remote: Standing & { readonly wait?: { readonly timeoutMs: number } },
  /** Throws what is wrong with the call before anything begins. */
  prepare: (who: RemoteCaller, asked: AskParts) => () => Promise<unknown>,
): Promise<Response> {
  const { frameOf, parseUrl, room, beatMs, closing, nowMs, credentials } = parts;
  const who = remoteCaller(held.grant, remote, frameOf);
  const stop = new AbortController();
  const asked: AskParts = { parseUrl, signal: stop.signal, waitMaxMs: held.endsAtMs - nowMs() };
  const answering = prepare(who, asked);
  if (remote.wait === undefined || !who.caller.interactive) return jsonResponse(await answering());
  const leave = room.enter(held.credentialId);
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
