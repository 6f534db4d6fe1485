/**
 * What guarded code gets from its SDK, wherever it runs: in the host, in a child, in a worker; embedded and over HTTP. One
 * suite, so that all of them are the same API.
 */
import { join } from "node:path";
import type { ExternalAccessCheck } from "@sallyport/contract";
import type { RunOptions, SubjectInput } from "@sallyport/runtime";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type GatedPrograms, buildPrograms } from "./testing/gated-children.ts";
import {
  ADMIN,
  AGENT,
  BANK,
  DECLARED,
  MEMBER,
  TOOL,
  type Way,
  adminCaller,
  embeddedWay,
  remoteWay,
} from "./testing/sallyport-fixture.ts";
import { type SdkCall, type SdkOutcome, sdkCall } from "./testing/sdk-call.ts";
import { type ServedSdk, servedChild, servedWorker } from "./testing/served-sdk.ts";

type Place = "host" | "child" | "worker";

let programs: GatedPrograms;
beforeAll(async () => {
  programs = await buildPrograms("served-sdk-program.ts");
});
afterAll(() => programs.remove());

const receive = (target: string) => ({ resourceType: "network", operation: "receive", target });
const UNKNOWN = receive("https://unknown.example.com/a");
const PROFILE = {
  mode: "guard",
  platform: "linux",
  cwd: "/",
  readRoots: ["/usr"],
  writeRoots: [],
  network: { access: "open", forwardedPorts: [] },
  environmentRef: null,
  processLimits: { processesMax: null, openFilesMax: null, memoryBytesMax: null, cpuSecondsMax: null },
  violationRefs: [],
  enforcedBy: ["guard"],
  notEnforced: ["stat"],
} as const;

describe.each<[string, () => Promise<Way>, Place]>([
  ["in the host, embedded", embeddedWay, "host"],
  ["in a child, embedded", embeddedWay, "child"],
  ["in a worker, embedded", embeddedWay, "worker"],
  ["in the host, over HTTP", remoteWay, "host"],
  ["in a child of a remote host", remoteWay, "child"],
  ["in a worker of a remote host", remoteWay, "worker"],
])("guarded code %s", (_, open, place) => {
  let way: Way;
  let served: ServedSdk | undefined;
  beforeEach(async () => {
    way = await open();
  });
  afterEach(async () => {
    await served?.end();
    served = undefined;
    await way.close();
  });

  /** Calls as the subject; a child is started with the first call, for as long as the test. */
  async function outcomeOf(
    call: SdkCall,
    subject: SubjectInput = TOOL,
    options: RunOptions = MEMBER,
  ): Promise<SdkOutcome> {
    const { runtime, sdk } = way;
    if (place === "host") return runtime.run(subject, options, () => sdkCall(sdk, call));
    const start = place === "child" ? servedChild : servedWorker;
    served ??= await runtime.run(subject, options, () => start(runtime, programs));
    return served.call(call);
  }
  async function valueOf<T>(...words: Parameters<typeof outcomeOf>): Promise<T> {
    const outcome = await outcomeOf(...words);
    if (!outcome.ok) throw new Error(`${outcome.name}: ${outcome.message}`);
    return outcome.value as T;
  }
  const check = (input: object, within?: SubjectInput) =>
    valueOf<ExternalAccessCheck>({
      path: "access.checkExternalAccess",
      args: [input],
      ...(within === undefined ? {} : { within }),
    });

  it("is allowed what its subject declared, and asks for the rest", async () => {
    expect((await check(receive(DECLARED))).code).toBe("allowed_sandbox");
    const answer = await check(UNKNOWN);
    expect(answer).toMatchObject({ requiresApproval: true, code: "approval_required" });
    const { rows } = await way.fixture.service.list.requests(adminCaller());
    expect(rows).toMatchObject([
      {
        id: answer.requestId,
        subject: TOOL,
        origin: { userId: 21, organizationId: 7, sessionKey: "sess-21", taskId: "task-1" },
      },
    ]);
  });

  it("hears what is wrong with its words", async () => {
    const cases: readonly [object, string][] = [
      [{ ...UNKNOWN, resourceType: "url" }, "invalid_operation"],
      [{ ...UNKNOWN, operation: "read" }, "invalid_operation"],
      [receive("http://"), "invalid_target"],
      // WHY declared: what is wrong with a question is never answered as what it would have been.
      [{ ...receive(DECLARED), mode: "bypass" }, "invalid_operation"],
      [{ ...UNKNOWN, userId: 1 }, "invalid_operation"],
      [{ ...receive("https://x.example.com/"), alreadyAllowed: true }, "invalid_operation"],
      [{ ...receive(DECLARED), subjectType: "agent", subjectName: AGENT.name }, "subject_not_active"],
    ];
    for (const [input, code] of cases) expect([(await check(input)).code, input]).toEqual([code, input]);
    const recorded = (await way.fixture.events()).filter(({ text }) =>
      /"code":"(invalid_\w+|subject_not_active)"/.test(text),
    );
    expect(recorded).toHaveLength(cases.length);
  });

  it("waits for a decision, by its request and by the check itself", async () => {
    const { requestId } = await check(UNKNOWN);
    const wait = { path: "access.waitForDecision", args: [requestId, { timeoutMs: 60_000 }] };
    const waiting = valueOf(wait);
    const by = await way.fixture.shown(requestId);
    await way.runtime.runAsHost(ADMIN, (sdk) => sdk.access.approveForSession(by));
    expect(await waiting).toEqual({ outcome: "allowed" });
    expect((await check(UNKNOWN)).code).toBe("allowed_session");
    const late = { ...receive("https://late.example.com/"), wait: { timeoutMs: 1 } };
    expect((await check(late)).code).toBe("approval_timeout");
    const foreign = { path: "access.waitForDecision", args: ["request-unknown", { timeoutMs: 60_000 }] };
    expect(await valueOf(foreign)).toEqual({ outcome: "not_found" });
  });

  it("knows who it is, what it stands under, and its own decisions", async () => {
    const { service } = way.fixture;
    const rule = { effect: "ask", source: "host", resourceType: "network", operation: "send" } as const;
    const own = await service.setRule(adminCaller(), { ...rule, target: "a.example.com" });
    const other = { type: "tool", name: "bank.transfer" } as never;
    await service.setRule(adminCaller(), { ...rule, target: "b.example.com", subject: other });
    expect(await valueOf({ path: "permission.state" })).toEqual({
      mode: "default",
      rules: [own.ok ? own.ruleId : ""],
      policySources: ["builtin", "manifest", "approval", "host"],
      interactive: true,
    });
    const facts = await valueOf({ path: "permission.facts" });
    expect(facts).toEqual({
      subjectChain: [{ subject: TOOL, phase: "runtime", entry: "host" }],
      phase: "runtime",
      hasSession: true,
      interactive: true,
      mode: null,
      taskId: "task-1",
    });
    expect(await valueOf({ path: "permission.facts", within: BANK })).toMatchObject({
      subjectChain: [{ subject: TOOL }, { subject: BANK, entry: "guarded" }],
    });
    const { decision } = await check(UNKNOWN);
    const asked = { path: "permission.decision", args: [decision.id] };
    expect(await valueOf(asked)).toEqual(decision);
    expect(await valueOf({ ...asked, within: BANK })).toBeNull();
  });

  it("sees the sandbox that stands around it", async () => {
    const options = { ...MEMBER, sandboxProfile: PROFILE as never };
    expect(await valueOf({ path: "sandbox.profile" }, TOOL, options)).toEqual(PROFILE);
  });

  it("cannot decide, and gains nothing by a subject that it makes up", async () => {
    const { requestId } = await check(UNKNOWN);
    const by = await way.fixture.shown(requestId);
    for (const verb of ["approveForSession", "approvePermanently", "denyExternalAccess"])
      expect(await outcomeOf({ path: `access.${verb}`, args: [by] })).toMatchObject({
        ok: false,
        name: "PermissionError",
      });
    const send = { resourceType: "network", operation: "send", target: "https://bank.example.com" };
    expect((await check(send, BANK)).code).toBe("approval_required");
    const core = { type: "core", name: "core" } as const;
    expect(await outcomeOf({ path: "permission.facts", within: core })).toMatchObject({
      ok: false,
      name: "TypeError",
    });
    const secret = join(way.fixture.dataFolder, "key-ring.json");
    expect(await outcomeOf({ path: "fs.readFile", args: [secret, "utf8"] })).toMatchObject({
      ok: false,
      name: "ExternalAccessError",
    });
  });

  it("names a resume action of its own module, and no other one", async () => {
    way.runtime.registerAction("demo", "demo.resume", () => undefined);
    way.fixture.runtime.registerAction("bank", "bank.resume", () => undefined);
    const asked = (resumeAction: string) =>
      valueOf<ExternalAccessCheck>({
        path: "access.requireExternalAccess",
        args: [{ ...UNKNOWN, resumeAction, resumeContext: { modelId: 1 } }],
      });
    expect((await asked("bank.resume")).code).toBe("invalid_operation");
    expect((await asked("demo.resume")).code).toBe("approval_required");
    const { rows } = await way.fixture.service.list.requests(adminCaller());
    expect(rows).toMatchObject([{ resume: { action: "demo.resume", context: "encrypted" } }]);
  });
});
