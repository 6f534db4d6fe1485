/** Frames that the host enters: what they hold, how long, and what follows them through asynchronous code. */
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { SubjectRefusedError } from "@sallyport/runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  ADMIN,
  AGENT,
  BANK,
  DECLARED,
  DEMO,
  type Fixture,
  MEMBER,
  TOOL,
  WHISPER,
  entry,
  openFixture,
} from "./testing/sallyport-fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const receive = (target: string) => ({ resourceType: "network", operation: "receive", target }) as const;
const codeOf = async (target: string) =>
  (await fixture.sdk.access.checkExternalAccess({ ...receive(target), registerRequest: false })).code;
const active = () => fixture.sdk.permission.facts()?.subjectChain.at(-1)?.subject.name;

describe("a frame", () => {
  it("keeps what is synchronous synchronous, and lets results and exceptions pass", () => {
    const { runtime } = fixture;
    expect(runtime.run(TOOL, MEMBER, () => 42)).toBe(42);
    const error = new Error("own");
    expect(() =>
      runtime.run(TOOL, MEMBER, () => {
        throw error;
      }),
    ).toThrow(error);
    expect(runtime.run(TOOL, MEMBER, () => Promise.resolve(1))).toBeInstanceOf(Promise);
    expect(active()).toBeUndefined();
  });

  it("holds what the host says, and takes the rest from the frames around it", () => {
    const { runtime } = fixture;
    runtime.run(DEMO, MEMBER, () =>
      runtime.run(AGENT, { taskId: "task-2", interactive: false }, () => {
        expect(runtime.caller()).toMatchObject({
          frames: [{ subject: DEMO }, { subject: AGENT, entry: "host" }],
          user: { id: 21, roles: ["member"], accessLevel: null },
          organizationId: 7,
          sessionKey: "sess-21",
          taskId: "task-2",
          interactive: false,
          credential: "runtime",
        });
      }),
    );
  });

  it("takes rules of the install phase in that phase only", async () => {
    const { runtime } = fixture;
    const packages = "https://packages.example.com/x";
    const install = { ...MEMBER, phase: "install" } as const;
    expect(await runtime.run(WHISPER, MEMBER, () => codeOf(packages))).toBe("approval_required");
    expect(await runtime.run(WHISPER, install, () => codeOf(packages))).toBe("allowed_sandbox");
    expect(() => runtime.run(TOOL, install, () => 1)).toThrow(SubjectRefusedError);
  });

  it("has a one-off URL until its call is over", async () => {
    const { runtime } = fixture;
    const url = "https://media.example.com/video.mp4";
    const later = { run: async () => "" };
    const first = await runtime.run(TOOL, { ...MEMBER, oneOff: { url } }, async () => {
      later.run = runtime.bind(() => codeOf(url));
      await turn();
      return codeOf(url);
    });
    expect([first, await later.run()]).toEqual(["allowed_sandbox", "approval_required"]);
    expect(await runtime.run(TOOL, MEMBER, () => codeOf(url))).toBe("approval_required");
    const inside = runtime.run(TOOL, MEMBER, () =>
      fixture.sdk.run(AGENT, () => runtime.oneOff({ url }, () => codeOf(url))),
    );
    expect(await inside).toBe("allowed_sandbox");
    const send = { ...receive(url), operation: "send", registerRequest: false } as const;
    const sent = await runtime.run(TOOL, { ...MEMBER, oneOff: { url } }, () =>
      fixture.sdk.access.checkExternalAccess(send),
    );
    expect(sent.code).toBe("approval_required");
  });

  it("keeps the contract that it was entered with until its promise is over, over a reload", async () => {
    const { runtime, registry } = fixture;
    const other = "https://other.example.com/";
    const tool = registry.enter(TOOL as never);
    if (!tool.ok) throw new Error(tool.message);
    tool.leave();
    let late: (() => Promise<string>) | undefined;
    const codes = await runtime.run(TOOL, MEMBER, async () => {
      late = runtime.bind(() => codeOf(DECLARED));
      registry.reload(tool.frame.subject, { access: [entry("network", "receive", other)] });
      await turn();
      return [await codeOf(DECLARED), await codeOf(other)];
    });
    expect(codes).toEqual(["allowed_sandbox", "approval_required"]);
    expect(await late?.()).toBe("approval_required");
    expect(await runtime.run(TOOL, MEMBER, () => codeOf(other))).toBe("allowed_sandbox");
  });

  it("is refused for whoever is not registered, and for the core inside another subject", () => {
    const { runtime } = fixture;
    expect(() => runtime.run({ type: "tool", name: "demo.squatter" }, MEMBER, () => 1)).toThrow(
      "register it first",
    );
    expect(() => runtime.run({ type: "tool", name: "a b" }, MEMBER, () => 1)).toThrow(TypeError);
    expect(() => runtime.run(TOOL, MEMBER, () => runtime.runAsHost(ADMIN, () => 1))).toThrow(TypeError);
  });

  it("of an unregistered manifest is tool:local.<digest>, which inherits nobody's approvals", async () => {
    const { runtime, registry, sdk, folder } = fixture;
    const url = "https://approved.example.com";
    const whose = { subjectType: "tool", subjectName: TOOL.name } as const;
    await runtime.runAsHost(ADMIN, () => sdk.access.approvePermanently({ ...receive(url), ...whose }));
    const manifest = { name: TOOL.name, access: [] };
    const local = registry.registerLocal({ root: join(folder, "work"), manifest });
    if (!local.ok) throw new Error(local.message);
    expect(local.subject.name).toMatch(/^local\.[0-9a-f]+$/);
    expect(await runtime.run(local.subject, MEMBER, () => codeOf(url))).toBe("approval_required");
    expect(await runtime.run(TOOL, MEMBER, () => codeOf(url))).toBe("allowed_permanent");
  });
});

describe("the context", () => {
  it("follows promises, timers, listeners and streams, each to its own subject", async () => {
    const { runtime } = fixture;
    const bus = new EventEmitter();
    const stream = new PassThrough();
    const seen: [string, string | undefined][] = [];
    for (const subject of [TOOL, BANK]) {
      runtime.run(subject, MEMBER, () => {
        const note = () => seen.push([subject.name, active()]);
        bus.on("news", note);
        stream.on("data", note);
        setTimeout(note, 0);
        queueMicrotask(note);
        process.nextTick(note);
        void Promise.resolve().then(note);
      });
    }
    runtime.run(AGENT, MEMBER, () => bus.emit("news"));
    stream.end("x");
    await once(stream, "end");
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(seen).toHaveLength(12);
    expect(seen.filter(([own, found]) => own !== found)).toEqual([]);
  });

  it("of guarded code cannot be shed through an exit, a reset or a polluted prototype", async () => {
    const { runtime, sdk } = fixture;
    const polluted = Object.prototype as Record<string, unknown>;
    try {
      Object.assign(polluted, {
        allowed: true,
        registerRequest: false,
        subjectType: "module",
        user: { id: 1 },
      });
      Object.assign(polluted, { oneOff: { url: "https://unknown.example.com" }, phase: "install" });
      const answer = await runtime.run(TOOL, { sessionKey: "s" }, () =>
        sdk.access.checkExternalAccess(receive("https://unknown.example.com")),
      );
      expect([answer.code, answer.allowed]).toEqual(["approval_required", false]);
      expect(runtime.run(TOOL, { sessionKey: "s" }, () => runtime.caller().user)).toBeNull();
    } finally {
      for (const key of ["allowed", "registerRequest", "subjectType", "user", "oneOff", "phase"])
        delete polluted[key];
    }
  });
});
