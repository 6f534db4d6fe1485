/** Every example of the SDK is run against an embedded Sallyport and does what it says. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  AccessPendingError,
  PermissionError,
  type RunOptions,
  type Sallyport,
  type Sdk,
  createSallyport,
} from "sallyport";
import { requestRecordWire } from "@sallyport/contract";
import { createServer } from "@sallyport/server";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as checks from "../../docs/examples/check-access.ts";
import * as decisions from "../../docs/examples/decide-access.ts";
import { PATTERNS, reports, system, whisper } from "../../docs/examples/manifests.ts";
import * as facts from "../../docs/examples/permission-facts.ts";
import { registerImport, startRemoteHost } from "../../docs/examples/remote-host.ts";
import * as resume from "../../docs/examples/resume-download.ts";

const SYSTEM = { type: "module", name: "system" } as const;
const REPORTS = { type: "module", name: "reports" } as const;
/** The member of seed 000, and a person who may decide. */
const MEMBER: RunOptions = {
  user: { id: 21 },
  sessionKey: "sess-21",
  taskId: "task-123",
  interactive: true,
};
const SUPER = { user: { id: 21, roles: ["super"] }, sessionKey: "sess-21" } as const;

let folder: string;
let sallyport: Sallyport;

const as = <R>(subject: typeof SYSTEM | typeof REPORTS, fn: (sdk: Sdk) => R): R =>
  sallyport.runtime.run(subject, MEMBER, fn);
const asSuper = <R>(fn: (sdk: Sdk) => R): R => sallyport.runtime.runAsHost(SUPER, fn);
const pending = async () => {
  const { rows } = await asSuper(() => sallyport.service.list.requests(sallyport.runtime.caller()));
  return rows.filter(({ status }) => status === "pending");
};

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-examples-")));
  sallyport = await createSallyport({ dataFolder: join(folder, "data") });
  for (const manifest of [system, reports]) {
    mkdirSync(join(folder, manifest.name));
    const known = sallyport.registry.registerModule({ root: join(folder, manifest.name), manifest });
    expect(known).toMatchObject({ ok: true, subject: { type: "module", name: manifest.name } });
  }
});
afterEach(async () => {
  await sallyport.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("checking", () => {
  it("allows what the manifest declares and keeps the rest as structured requests", async () => {
    expect((await as(SYSTEM, checks.mayReceiveModel)).code).toBe("allowed_sandbox");
    const access = await as(SYSTEM, checks.mayReadCustomers);
    expect(access).toMatchObject({ allowed: false, requiresApproval: true, code: "approval_required" });
    expect(await pending()).toMatchObject([
      {
        subject: { type: "module", name: "system" },
        resource: { type: "filesystem", operation: "read", target: "/mnt/imports/customer.csv" },
        origin: { userId: 21, sessionKey: "sess-21", taskId: "task-123" },
        resume: null,
      },
    ]);
  });

  it("gives a message that can be shown for a URL that a user typed in", async () => {
    const answer = await as(SYSTEM, (sdk) => checks.importUrl(sdk, "https://pasted.example/hook"));
    expect(answer.ok).toBe(false);
    expect(answer.message).toContain("module:system: network receive `https://pasted.example/hook`");
    const bad = await as(SYSTEM, (sdk) => checks.importUrl(sdk, "file:///etc/passwd"));
    expect([bad.ok, (await pending()).length]).toEqual([false, 1]);
  });

  it("throws where the code cannot go on", async () => {
    await expect(as(SYSTEM, checks.fetchFeed)).rejects.toBeInstanceOf(AccessPendingError);
  });

  it("leaves no request where it only looks", async () => {
    expect(await as(SYSTEM, checks.showStatus)).toBe("needs approval");
    expect(await pending()).toEqual([]);
  });

  it("keeps nine operations apart", async () => {
    const codes = (await as(REPORTS, checks.everyOperation)).map(({ code }) => code);
    expect(codes).toEqual([
      "approval_required",
      "allowed_sandbox",
      ...Array<string>(7).fill("approval_required"),
    ]);
  });
});

describe("deciding", () => {
  const report = (sdk: Sdk) =>
    sdk.access.checkExternalAccess(sdk.access.network.receive("https://api.example.com/v1/report"));
  const other = { type: "module", name: "other" } as const;
  beforeEach(() => {
    mkdirSync(join(folder, "other"));
    sallyport.registry.unregister({ type: "module", name: "reports" } as never);
    const manifest = { access: [] };
    sallyport.registry.registerModule({ name: "reports", root: join(folder, "reports"), manifest });
    sallyport.registry.registerModule({ name: "other", root: join(folder, "other"), manifest });
  });

  it("approves for the session that asked, and needs its request", async () => {
    expect(await asSuper(decisions.approveReportForSession)).toMatchObject({ ok: false, code: "not_found" });
    await as(REPORTS, report);
    expect(await asSuper(decisions.approveReportForSession)).toMatchObject({ ok: true });
    expect((await as(REPORTS, report)).code).toBe("allowed_session");
    const elsewhere = { ...MEMBER, sessionKey: "sess-22" };
    expect((await sallyport.runtime.run(REPORTS, elsewhere, report)).code).toBe("approval_required");
    expect((await sallyport.runtime.run(other, MEMBER, report)).code).toBe("approval_required");
  });

  it("cannot approve a request without a session for a session", async () => {
    const scheduled = { user: { id: 21 } };
    await sallyport.runtime.run(REPORTS, scheduled, report);
    const words = { ...SUPER, sessionKey: null };
    const decision = await sallyport.runtime.runAsHost(words, decisions.approveReportForSession);
    expect(decision).toMatchObject({ ok: false, code: "session_key_required" });
  });

  it("approves permanently, ahead of any request", async () => {
    expect(await asSuper(decisions.approveReportPermanently)).toMatchObject({ ok: true, requestId: null });
    expect((await as(REPORTS, report)).code).toBe("allowed_permanent");
  });

  it("denies, and asks nobody again", async () => {
    expect(await asSuper(decisions.denyUpload)).toMatchObject({ ok: true });
    const upload = (sdk: Sdk) =>
      sdk.access.checkExternalAccess(sdk.access.network.send("https://unapproved.example"));
    expect((await as(REPORTS, upload)).code).toBe("resource_disabled");
    expect(await pending()).toEqual([]);
  });

  it.each([decisions.approveReportForSession, decisions.approveReportPermanently, decisions.denyUpload])(
    "raises PermissionError for everybody without authority",
    async (decide) => {
      await as(REPORTS, report);
      const scoped = { ...SUPER, organizationId: 0 };
      const calls = [
        sallyport.runtime.runAsHost({ user: { id: 21, roles: ["member"] } }, decide),
        sallyport.runtime.runAsHost(scoped, decide),
        sallyport.runtime.runAsHost({}, decide),
        sallyport.runtime.run(REPORTS, SUPER, decide),
      ];
      for (const call of calls) await expect(call).rejects.toBeInstanceOf(PermissionError);
    },
  );
});

describe("resuming", () => {
  const url = "https://models.example.com/llama.bin";
  const context = { catalogModelId: 123, inventoryId: 7 };

  it("goes on after the approval, as the requester and once only for finished work", async () => {
    const stored = new Map<number, number>();
    const inventory: resume.Inventory = {
      statusOf: async (id) => (stored.has(id) ? "ready" : "missing"),
      store: async (id, model) => void stored.set(id, model),
    };
    const ended: string[] = [];
    let wake: () => void = () => undefined;
    const next = () => new Promise<void>((resolve) => (wake = resolve));
    const done = (status: string) => {
      ended.push(status);
      wake();
    };
    as(SYSTEM, (sdk) => resume.registerResume(sdk, inventory, done));
    const blocked = as(SYSTEM, (sdk) => resume.downloadModel(sdk, url, context));
    await expect(blocked).rejects.toBeInstanceOf(AccessPendingError);
    const [request] = await pending();
    expect(request).toMatchObject({ resume: { action: resume.RESUME, context: "encrypted" } });
    const ran = next();
    const by = { requestId: request?.id ?? "", digest: request?.digest ?? "" };
    expect(await asSuper((sdk) => sdk.access.approveForSession(by))).toMatchObject({ ok: true, jobs: 1 });
    await ran;
    expect([ended, stored.get(7)]).toEqual([["downloaded"], 123]);
    expect(await as(SYSTEM, (sdk) => resume.downloadModel(sdk, url, context))).toEqual({
      status: "downloaded",
    });
  });
});

describe("a request", () => {
  it("is kept in the wire form of seed 000, with its context sealed", async () => {
    sallyport.runtime.registerAction("system", "system.resume_import", () => undefined);
    expect((await as(SYSTEM, resume.importCustomers)).code).toBe("approval_required");
    const [request] = await pending();
    if (request === undefined) throw new Error("there is no request");
    expect(requestRecordWire.format(request)).toMatchObject({
      subject: { type: "module", name: "system" },
      resource: { type: "filesystem", operation: "read", target: "/mnt/imports/customer.csv" },
      origin: { user_id: 21, session_key: "sess-21", task_id: "task-123" },
      resume: { action: "system.resume_import", context: "encrypted" },
    });
  });

  it("is not made where access is allowed already", async () => {
    sallyport.runtime.registerAction("system", "system.resume_model_materialization", () => undefined);
    const target = "https://example.com/model.bin";
    const words = { resourceType: "network", operation: "receive", target } as const;
    await asSuper((sdk) =>
      sdk.access.approvePermanently({ ...words, subjectType: "module", subjectName: "system" }),
    );
    const access = await as(SYSTEM, resume.materializeModel);
    expect([access.allowed, access.code, await pending()]).toEqual([true, "allowed_permanent", []]);
  });
});

describe("facts", () => {
  it("say who acts, in which mode and behind which boundary", async () => {
    expect(await as(SYSTEM, facts.describeMyself)).toBe(
      "module:system in mode default, a person can be asked, no sandbox",
    );
    expect(await facts.describeMyself(sallyport.sdk)).toBe("nobody acts");
  });

  it("say why something was decided", async () => {
    expect(await as(SYSTEM, facts.explainFeed)).toContain("asked by ");
  });
});

describe("a host on another machine", () => {
  it("asks, waits for nobody, and goes on after an approval, without a database", async () => {
    const server = createServer({ ...sallyport.serverParts(), authenticate: async () => null });
    const listening = await server.listen();
    const subjects = [{ subject: SYSTEM, phase: "runtime" }];
    const grant = { subjects, userId: 21, organizationId: null, sessionKey: "sess-21", taskId: null };
    const words = { ...grant, interactive: true } as never;
    const host = await startRemoteHost(listening.origin, (thumbprint) =>
      server.credentials.issue(words, thumbprint),
    );
    const manifest = { name: "system", access: [] };
    host.registry.registerModule({ root: join(folder, "system"), manifest });
    const run = <R>(fn: (sdk: Sdk) => R): R => host.runtime.run(SYSTEM, { taskId: "task-123" }, fn);
    expect((await run(checks.mayReceiveModel)).code).toBe("allowed_sandbox");
    const imported = new Promise((resolve) => run((sdk) => registerImport(sdk, resolve)));
    expect((await run(resume.importCustomers)).code).toBe("approval_required");
    const [request] = await pending();
    const by = { requestId: request?.id ?? "", digest: request?.digest ?? "" };
    expect(await asSuper((sdk) => sdk.access.approveForSession(by))).toMatchObject({ ok: true, jobs: 1 });
    expect(await imported).toBe("/mnt/imports/customer.csv");
    await host.close();
    await listening.close();
  });
});

describe("declaring", () => {
  it("gives an engine the rules of the phase that it is in", async () => {
    mkdirSync(join(folder, "whisper"));
    const engine = { root: join(folder, "whisper"), manifest: whisper };
    expect(sallyport.registry.registerEngine(engine)).toMatchObject({ ok: true });
    const codes = async (phase: "runtime" | "install") =>
      Promise.all(
        ["https://api.example.com/v1/x", "https://packages.example.com/x"].map((url) =>
          sallyport.runtime.run({ type: "engine", name: "whisper" }, { phase }, async (sdk) => {
            const access = sdk.access.network.receive(url);
            return (await sdk.access.checkExternalAccess(access, { registerRequest: false })).allowed;
          }),
        ),
      );
    expect([await codes("runtime"), await codes("install")]).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  it.each(PATTERNS)("$declared allows what the table says", async ({ declared, allows, blocks }) => {
    const operation = declared.startsWith("https") ? "receive" : "connect";
    const manifest = { access: [{ resource_type: "network", operation, target: declared }] };
    mkdirSync(join(folder, "pattern"));
    sallyport.registry.registerModule({ name: "pattern", root: join(folder, "pattern"), manifest });
    const isAllowed = (target: string) =>
      sallyport.runtime.run({ type: "module", name: "pattern" }, {}, async (sdk) => {
        const access = sdk.access.network[operation](target);
        return (await sdk.access.checkExternalAccess(access, { registerRequest: false })).allowed;
      });
    for (const target of allows) expect([target, await isAllowed(target)]).toEqual([target, true]);
    for (const target of blocks) expect([target, await isAllowed(target)]).toEqual([target, false]);
  });
});

describe("the page about the examples", () => {
  it("shows a host that runs and prints what it says", () => {
    const page = readFileSync(new URL("../../docs/examples/README.md", import.meta.url), "utf8");
    const [, code = ""] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
    const [, promised] = /console\.log\(.*\); \/\/ (\w+)/.exec(code) ?? [];
    // WHY: inside the repository, so that package names resolve.
    const own = mkdtempSync(fileURLToPath(new URL("../../node_modules/.examples-", import.meta.url)));
    try {
      writeFileSync(join(own, "host.mjs"), code);
      const printed = execFileSync(process.execPath, ["host.mjs"], { cwd: own, encoding: "utf8" });
      expect(printed.trim()).toBe(promised);
    } finally {
      rmSync(own, { recursive: true });
    }
  });
});
