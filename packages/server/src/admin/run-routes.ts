/** What runs: resume jobs, sessions, manifests, permission state, sandbox profiles. */
import { eventWire } from "@sallyport/contract";
import {
  type GuideView,
  type ManifestView,
  type SessionWords,
  changeAnswerWire,
  guideWire,
  jobPageWire,
  manifestPageWire,
  permissionStateViewWire,
  profilePageWire,
  reasonWire,
  sessionPageWire,
  sessionWordsWire,
} from "@sallyport/contract/admin";
import type { AccessService } from "@sallyport/service";
import type { EventRow, JobRow } from "@sallyport/store";
import {
  type AdminRoutes,
  filterOf,
  notFound,
  pageAnswer,
  pageOf,
  paramOf,
  wholePage,
} from "./admin-call.ts";
import { changed, freezeView, timestampOr } from "./policy-routes.ts";

export interface RunRouteParts {
  readonly service: AccessService;
  readonly manifests: () => readonly ManifestView[];
  readonly guide?: (() => GuideView) | undefined;
}

export function runRoutes({ service, manifests, guide }: RunRouteParts): AdminRoutes {
  const { overview } = service;
  return [
    {
      method: "GET",
      path: "/jobs",
      summary: "Resume jobs with their last error",
      scope: "runs",
      query: "jobs",
      answer: jobPageWire,
      handle: async ({ caller, query }) => {
        const { rows, next } = await service.list.jobs(caller, filterOf(query), pageOf(query));
        return pageAnswer({ rows: rows.map(jobView), next });
      },
    },
    {
      method: "POST",
      path: "/jobs/:id/retry",
      summary: "Give a parked job another chance",
      body: reasonWire,
      answer: changeAnswerWire,
      handle: async (call) => changed(await service.retryResume(call.caller, paramOf(call, "id"))),
    },
    {
      method: "GET",
      path: "/sessions",
      summary: "Sessions that hold an approval or wait for a decision",
      scope: "runs",
      query: "pages",
      answer: sessionPageWire,
      handle: async ({ caller, query }) => {
        const { rows, next } = await overview.sessions(caller, pageOf(query));
        const shown = rows.map(({ lastSeenMs, ...session }) => ({
          ...session,
          lastSeen: timestampOr(lastSeenMs),
        }));
        return pageAnswer({ rows: shown, next });
      },
    },
    {
      method: "POST",
      path: "/sessions/end",
      summary: "End a session: its approvals go, its requests are cancelled, its key is never used again",
      body: sessionWordsWire,
      answer: changeAnswerWire,
      handle: async ({ caller, body }) => {
        // WHY: the service lets its host end sessions without a person; here it is a person who asks.
        await overview.authorize(caller);
        return changed(await service.endSession(caller, body as SessionWords));
      },
    },
    ...stateRoutes(service, manifests),
    {
      method: "GET",
      path: "/guide",
      summary: "The guided example of the host, step by step",
      scope: "runs",
      answer: guideWire,
      handle: async ({ caller }) => {
        await overview.authorize(caller);
        if (guide === undefined) throw notFound("guided example");
        return guide();
      },
    },
  ];
}

function stateRoutes(service: AccessService, manifests: () => readonly ManifestView[]): AdminRoutes {
  const { overview } = service;
  return [
    {
      method: "GET",
      path: "/manifests",
      summary: "What registered subjects declare",
      scope: "runs",
      answer: manifestPageWire,
      handle: async ({ caller }) => {
        await overview.authorize(caller);
        return wholePage(manifests());
      },
    },
    {
      method: "GET",
      path: "/permission-state",
      summary: "Mode, freeze, rules and sources in force",
      scope: "runs",
      answer: permissionStateViewWire,
      handle: async ({ caller }) => {
        const { state, mode, modeExpiresAtMs, freeze, live, revision, pending } =
          await overview.state(caller);
        const view = { mode, expiresAt: timestampOr(modeExpiresAtMs) };
        return { state, mode: view, freeze: freezeView(freeze), live, revision, pending };
      },
    },
    {
      method: "GET",
      path: "/sandbox-profiles",
      summary: "Sandbox profiles as they were applied: what is enforced and what is not",
      scope: "runs",
      query: "profiles",
      answer: profilePageWire,
      handle: async ({ caller, query }) => {
        const { rows, next } = await overview.profiles(caller, filterOf(query), pageOf(query));
        return pageAnswer({ rows: rows.flatMap(profileView), next });
      },
    },
  ];
}

function jobView(job: JobRow): object {
  const { id, requestId, approvalId, action, ownerModule, state, attempts, lastError } = job;
  return {
    id,
    requestId,
    approvalId,
    action,
    ownerModule,
    state,
    attempts,
    lastError,
    nextAt: timestampOr(job.nextAtMs),
    createdAt: timestampOr(job.createdMs),
    finishedAt: timestampOr(job.finishedMs),
  };
}

/** A row that this version does not understand is left out, not guessed at. */
function profileView({ body }: EventRow): readonly object[] {
  const event = eventWire.parse(JSON.parse(body));
  if (!event.ok || event.value.type !== "sandbox.applied") return [];
  const { subject, phase, origin, sandboxProfile } = event.value.data;
  return [{ subject, phase, origin, appliedAt: event.value.time, profile: sandboxProfile }];
}
