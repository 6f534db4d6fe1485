/**
 * The routes by which a remote host runs resumes: it offers actions, is lent jobs of them, and says how each goes on. Who
 * it is, its modules and its session come from its credential alone.
 */
import type { ResumeHolder, ResumeLending } from "@sallyport/contract";
import {
  type RuntimeGrant,
  lendJobsWire,
  lentJobsWire,
  plainJsonText,
  settleJobWire,
  settledJobWire,
} from "@sallyport/contract/remote";
import type { Hono } from "hono";
import { callOf } from "../incoming-call.ts";
import { Problem, jsonResponse, malformed } from "../problem.ts";
import { parseBody } from "../read-body.ts";
import { type Authorizing, authorizeCall } from "./authorize-call.ts";
import type { HeldCredential } from "./runtime-credentials.ts";

export interface JobRouteParts extends Authorizing {
  /** Left out: this server lends no resumes. */
  readonly resumes?: ResumeLending | undefined;
}

export function addJobRoutes(app: Hono, parts: JobRouteParts): void {
  app.post("/v1/runtime/jobs/lend", async (c) => {
    const { held, body } = await authorizeCall(parts, callOf(c.req.raw));
    const { actions, limit } = parseBody(body, lendJobsWire);
    const answer = await lending(parts).lend(holderOf(held), actions, limit);
    if (!answer.ok)
      throw new Problem({
        code: answer.code === "permission_error" ? answer.code : "invalid_request",
        detail: answer.message,
      });
    const jobs = answer.jobs.map(({ context, ...job }) => ({ ...job, context: plainJsonText(context) }));
    return jsonResponse(lentJobsWire.format({ leaseMs: answer.leaseMs, jobs } as never));
  });
  app.post("/v1/runtime/jobs/settle", async (c) => {
    const { held, body } = await authorizeCall(parts, callOf(c.req.raw));
    const settling = parseBody(body, settleJobWire);
    const isHeld = await settled(lending(parts), holderOf(held), settling);
    return jsonResponse(settledJobWire.format({ held: isHeld }));
  });
}

type Settling = Extract<ReturnType<typeof settleJobWire.parse>, { readonly ok: true }>["value"];

function settled(resumes: ResumeLending, holder: ResumeHolder, settling: Settling): Promise<boolean> {
  switch (settling.outcome) {
    case "kept":
      return resumes.renew(holder, settling);
    case "done":
      return resumes.complete(holder, settling);
    case "failed":
      return resumes.fail(holder, settling, settling.error);
  }
}

function lending({ resumes }: JobRouteParts): ResumeLending {
  if (resumes === undefined)
    throw malformed("this server lends no resumes: run them where the service is", 404);
  return resumes;
}

function holderOf({ credentialId, grant }: HeldCredential): ResumeHolder {
  const { organizationId, userId, sessionKey } = grant;
  return Object.freeze({
    credentialId,
    modules: modulesOf(grant),
    session: Object.freeze({ organizationId, userId, sessionKey }),
  });
}

/** A module in another phase runs no actions. */
function modulesOf({ subjects }: RuntimeGrant): readonly string[] {
  return subjects.flatMap(({ subject, phase }) =>
    subject.type === "module" && phase === "runtime" ? [subject.name] : [],
  );
}
