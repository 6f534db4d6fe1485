/** Resume actions: who registers them, who may name them, and as whom they run. */
import { PermissionError } from "@sallyport/contract";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ADMIN, BANK, DEMO, type Fixture, MEMBER, TOOL, openFixture } from "./testing/sallyport-fixture.ts";

const MODEL = {
  resourceType: "network",
  operation: "receive",
  target: "https://models.example.com/a",
} as const;

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const approve = async (requestId: string | undefined) => {
  const by = await fixture.shown(requestId);
  return fixture.runtime.runAsHost(ADMIN, () => fixture.sdk.access.approveForSession(by));
};

it("runs as the module for the user who asked, with the typed context and the idempotency key", async () => {
  const { runtime, sdk } = fixture;
  const schema = {
    "~standard": {
      validate: (value: unknown) =>
        typeof (value as { modelId?: unknown }).modelId === "number"
          ? { value: value as { readonly modelId: number } }
          : { issues: [{ message: "modelId must be a number" }] },
    },
  };
  const ran = new Promise((resolve) => {
    runtime.run(DEMO, {}, () =>
      sdk.actions.register("demo.resume_download", {
        schema,
        handler: async ({ modelId }, run) => {
          const check = await run.sdk.access.checkExternalAccess({ ...MODEL, registerRequest: false });
          await expect(run.sdk.access.approvePermanently({ requestId: "", digest: "" })).rejects.toThrow(
            PermissionError,
          );
          resolve({ modelId, check: check.code, caller: runtime.caller(), key: run.idempotencyKey });
        },
      }),
    );
  });
  const answer = await runtime.run(DEMO, MEMBER, () =>
    sdk.access.requireExternalAccess({
      ...MODEL,
      resumeAction: "demo.resume_download",
      resumeContext: { modelId: 5 },
    }),
  );
  expect(answer.code).toBe("approval_required");
  expect(await approve(answer.requestId)).toMatchObject({ ok: true, jobs: 1 });
  expect(await ran).toMatchObject({
    modelId: 5,
    check: "allowed_session",
    key: expect.stringMatching(/./),
    caller: {
      frames: [{ subject: DEMO, entry: "host" }],
      user: { id: 21, roles: [], accessLevel: null },
      organizationId: 7,
      sessionKey: "sess-21",
      interactive: false,
      credential: "runtime",
    },
  });
});

it("does not undo the approval where the context is not of its schema", async () => {
  const { runtime, sdk } = fixture;
  const parse = (): number => {
    throw new TypeError("not of the schema");
  };
  let runs = 0;
  runtime.registerAction("demo", "demo.resume", { schema: { parse }, handler: () => void (runs += 1) });
  const answer = await runtime.run(TOOL, MEMBER, () =>
    sdk.access.requireExternalAccess({ ...MODEL, resumeAction: "demo.resume", resumeContext: {} }),
  );
  await approve(answer.requestId);
  await fixture.service.executor.runDue();
  const again = await runtime.run(TOOL, MEMBER, () => sdk.access.checkExternalAccess(MODEL));
  expect([again.code, runs]).toEqual(["allowed_session", 0]);
});

it("refuses a harmless request with another module's resume action", async () => {
  const { runtime, sdk } = fixture;
  runtime.registerAction("bank", "bank.transfer", () => undefined);
  const asked = { ...MODEL, resumeAction: "bank.transfer" } as const;
  for (const subject of [DEMO, TOOL]) {
    const answer = await runtime.run(subject, MEMBER, () => sdk.access.requireExternalAccess(asked));
    expect([answer.code, answer.requestId]).toEqual(["invalid_operation", undefined]);
  }
  const claimed = await runtime.run(TOOL, MEMBER, () =>
    sdk.run(BANK, () => sdk.access.requireExternalAccess(asked)),
  );
  expect([claimed.code, claimed.requestId]).toEqual(["invalid_operation", undefined]);
  expect(claimed.message).toContain("outside of `sdk.run`");
});

it("refuses the squatter on an action of another module", () => {
  const { runtime, sdk } = fixture;
  const squat = () => sdk.actions.register("bank.resume", () => undefined);
  expect(() => runtime.run(DEMO, {}, squat)).toThrow("is not of module `demo`");
  expect(() => runtime.run(DEMO, {}, () => sdk.run(BANK, squat))).toThrow("in the module's own frame");
  expect(() => runtime.run(TOOL, {}, () => sdk.actions.register("demo.x", () => undefined))).toThrow(
    TypeError,
  );
  expect(squat).toThrow(TypeError);
  expect(() => runtime.registerAction("demo", "bank.resume", () => undefined)).toThrow(TypeError);
});

it("refuses a resume context without an action", async () => {
  const { runtime, sdk } = fixture;
  const answer = await runtime.run(DEMO, MEMBER, () =>
    sdk.access.requireExternalAccess({ ...MODEL, resumeContext: { id: 1 } } as never),
  );
  expect([answer.code, answer.requestId]).toEqual(["invalid_operation", undefined]);
});
