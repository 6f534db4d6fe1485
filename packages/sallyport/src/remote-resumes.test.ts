/** Resume actions of remote hosts: lent by the server to whom they belong, run as their module for whoever asked. */
import { createClient } from "@sallyport/client";
import type { Runtime, Sdk } from "@sallyport/runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  ADMIN,
  BANK,
  DEMO,
  MEMBER,
  type ServedFixture,
  TOOL,
  adminCaller,
  serveFixture,
} from "./testing/sallyport-fixture.ts";

const MODEL = {
  resourceType: "network",
  operation: "receive",
  target: "https://models.example.com/a",
} as const;
const ACTION = "demo.resume_download";
const OFFER = { name: ACTION, module: "demo", openTo: [] } as const;

let served: ServedFixture;
beforeEach(async () => {
  served = await serveFixture({ limits: { backoffMs: 1, backoffMaxMs: 1 } });
});
afterEach(() => served.close());

/** Asks as the tool of the demo module, and has it approved. */
async function approved({ runtime, sdk }: { readonly runtime: Runtime; readonly sdk: Sdk }) {
  const words = { ...MODEL, resumeAction: ACTION, resumeContext: { modelId: 5 } } as const;
  const { requestId, code } = await runtime.run(TOOL, MEMBER, () => sdk.access.requireExternalAccess(words));
  expect(code).toBe("approval_required");
  const by = await served.fixture.shown(requestId);
  const decision = await served.fixture.runtime.runAsHost(ADMIN, (own) => own.access.approveForSession(by));
  expect(decision).toMatchObject({ ok: true, jobs: 1 });
}

const jobs = async () => (await served.fixture.service.list.jobs(adminCaller())).rows;
/** The first job, as soon as it is what the test waits for. */
async function jobThat(is: (job: { state: string; lastError: string | null }) => boolean) {
  for (;;) {
    const job = (await jobs()).find(is);
    if (job !== undefined) return job;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function clientOf(changes: object = {}) {
  const credential = await served.credential(changes);
  return { credential, client: createClient({ origin: served.origin, credential }) };
}

describe("a remote host", () => {
  it("runs its action as the module, for the user who asked, with the context and the idempotency key", async () => {
    const host = await served.connect();
    const ran = new Promise((resolve) => {
      host.runtime.run(DEMO, MEMBER, () =>
        host.sdk.actions.register(ACTION, {
          schema: { parse: (value: unknown) => value as { readonly modelId: number } },
          handler: async ({ modelId }, { sdk, idempotencyKey }) => {
            const check = await sdk.access.checkExternalAccess({ ...MODEL, registerRequest: false });
            const decide = sdk.access.approvePermanently({ requestId: "", digest: "" });
            await expect(decide).rejects.toThrow("approve external access");
            resolve({ modelId, idempotencyKey, check: check.code, caller: host.runtime.caller() });
          },
        }),
      );
    });
    await approved(host);
    expect(await served.fixture.service.executor.runDue()).toBe(0);
    expect(await ran).toMatchObject({
      modelId: 5,
      idempotencyKey: expect.stringMatching(/./),
      check: "approval_required",
      caller: {
        frames: [{ subject: DEMO, entry: "host" }],
        user: { id: 21, roles: [], accessLevel: null },
        organizationId: 7,
        sessionKey: "sess-21",
        taskId: "task-1",
        interactive: false,
        credential: "runtime",
      },
    });
    expect(await jobThat(({ state }) => state === "done")).toMatchObject({ attempts: 1 });
  });

  it("tries again after a failure, whose message is seen, and the approval stays", async () => {
    const host = await served.connect();
    const keys: string[] = [];
    host.runtime.registerAction("demo", ACTION, (_, { idempotencyKey }) => {
      if (keys.push(idempotencyKey) === 1) throw new Error("the disk is full");
    });
    await approved(host);
    await jobThat(({ state }) => state === "done");
    expect(keys).toEqual([keys[0], keys[0]]);
    const again = await host.runtime.run(TOOL, MEMBER, () => host.sdk.access.checkExternalAccess(MODEL));
    expect(again.code).toBe("allowed_session");
  });

  it("that always fails has its job set aside, with the last error", async () => {
    const host = await served.connect();
    host.runtime.registerAction("demo", ACTION, () => {
      throw new TypeError("no such model");
    });
    await approved(host);
    const job = await jobThat(({ state }) => state === "parked");
    expect([job.lastError, job.attempts]).toEqual(["TypeError: no such model", 5]);
  });

  it("that lost its credential is told to stop, and the next one gets the same job", async () => {
    await served.close();
    served = await serveFixture({ limits: { jobLeaseMs: 600 } });
    const host = await served.connect();
    let begun: () => void = () => undefined;
    const running = new Promise<void>((resolve) => (begun = resolve));
    const stopped = new Promise<void>((resolve) => {
      host.runtime.registerAction("demo", ACTION, async (_, { signal }) => {
        begun();
        await new Promise<void>((end) => signal.addEventListener("abort", () => end(), { once: true }));
        resolve();
        throw new Error("stopped");
      });
    });
    await approved(host);
    await running;
    const { credential } = host.client;
    if (credential.kind !== "runtime") throw new Error("not a runtime credential");
    await served.revoke(credential);
    await stopped;
    const { client } = await clientOf();
    const lent = await lentTo(client);
    expect(lent).toMatchObject({ action: ACTION, context: { modelId: 5 } });
    expect(await client.settleJob(lent, { outcome: "done" })).toBe(true);
    expect(await jobs()).toMatchObject([{ state: "done", attempts: 2 }]);
  });

  it("hears of an action that the server refuses, and offers the others all the same", async () => {
    served.fixture.runtime.registerAction("demo", "demo.taken", () => undefined);
    const faults: unknown[] = [];
    const host = await served.connect({}, { onFault: (fault) => faults.push(fault) });
    host.runtime.registerAction("demo", "demo.taken", () => undefined);
    const ran = new Promise<void>((resolve) => {
      host.runtime.registerAction("demo", ACTION, () => resolve());
    });
    await approved(host);
    await ran;
    expect(faults).toMatchObject([{ message: expect.stringContaining("runs where the service is") }]);
  });
});

describe("attack: a credential", () => {
  it("that does not name the module can neither offer its action nor take its jobs", async () => {
    const host = await served.connect();
    host.runtime.registerAction("demo", "demo.other", () => undefined);
    const subjects = [
      { subject: BANK, phase: "runtime" },
      { subject: DEMO, phase: "install" },
    ];
    const { client } = await clientOf({ subjects });
    expect(await client.lendJobs([OFFER], 4)).toMatchObject({ ok: false, code: "permission_error" });
    const squatter = { ...OFFER, module: "bank" };
    expect(await client.lendJobs([squatter], 4)).toMatchObject({ ok: false, code: "invalid_operation" });
    expect(served.fixture.service.live).toBe(true);
    const named = await host.runtime.run(TOOL, MEMBER, () =>
      host.sdk.access.requireExternalAccess({ ...MODEL, resumeAction: ACTION }),
    );
    expect(named.code).toBe("invalid_operation");
  });

  it("of another session, user or organization is lent nothing of this one", async () => {
    const { client } = await clientOf();
    expect(await client.lendJobs([OFFER], 0)).toMatchObject({ ok: true });
    await approved(await served.connect());
    for (const changes of [
      { sessionKey: "sess-22" },
      { userId: "21" },
      { organizationId: 0 },
      { sessionKey: null },
    ]) {
      const spy = await clientOf(changes);
      expect(await spy.client.lendJobs([OFFER], 16)).toMatchObject({ ok: true, jobs: [] });
    }
    expect(await lentTo(client)).toMatchObject({ context: { modelId: 5 } });
  });

  it("cannot end, keep or fail what was lent to another one", async () => {
    const { client } = await clientOf();
    expect(await client.lendJobs([OFFER], 0)).toMatchObject({ ok: true });
    await approved(await served.connect());
    const lent = await lentTo(client);
    const thief = await clientOf();
    for (const outcome of ["kept", "done", "failed"] as const)
      expect(await thief.client.settleJob(lent, { outcome, error: "x" })).toBe(false);
    const stale = { ...lent, leaseNumber: lent.leaseNumber - 1 };
    expect(await client.settleJob(stale, { outcome: "done" })).toBe(false);
    expect(await jobs()).toMatchObject([{ state: "leased", attempts: 1 }]);
    expect(await client.settleJob(lent, { outcome: "done" })).toBe(true);
  });

  it("opens its actions to others in its own session only", async () => {
    const openTo = [BANK] as never;
    const { client } = await clientOf();
    expect(await client.lendJobs([{ ...OFFER, openTo }], 0)).toMatchObject({ ok: true });
    const words = { ...MODEL, resumeAction: ACTION } as const;
    const [here, there] = [await served.connect(), await served.connect({ sessionKey: "sess-22" })];
    const own = await here.runtime.run(BANK, MEMBER, () => here.sdk.access.requireExternalAccess(words));
    expect(own.code).toBe("approval_required");
    const options = { ...MEMBER, sessionKey: "sess-22" };
    const other = await there.runtime.run(BANK, options, () => there.sdk.access.requireExternalAccess(words));
    expect(other.code).toBe("invalid_operation");
  });

  it("that was forged or has run out is lent nothing", async () => {
    const { client, credential } = await clientOf();
    await served.revoke(credential);
    expect(await client.lendJobs([OFFER], 4)).toMatchObject({ ok: false });
  });
});

/** The first job that is lent. */
async function lentTo(client: Awaited<ReturnType<typeof clientOf>>["client"]) {
  for (;;) {
    const answer = await client.lendJobs([OFFER], 4);
    if (answer?.ok !== true) throw new Error("the offer was refused");
    const [job] = answer.jobs;
    if (job !== undefined) return job;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
