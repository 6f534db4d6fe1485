import { describe, expect, it } from "vitest";
import { AGENT, BANK, READER, frameOf, grant } from "../testing/server-fixture.ts";
import { credentialCaller, remoteCaller } from "./remote-caller.ts";

const reader = { subject: READER, phase: "runtime", entry: "host" } as const;
const standing = { chain: [reader], taskId: "task-1", interactive: true };

/** What no word of a remote host and no credential changes. */
const GUARDED = {
  user: { id: 21, roles: [], accessLevel: null },
  organizationId: 7,
  sessionKey: "sess-21",
  mode: null,
  modeExpiresAtMs: null,
  observe: false,
  confined: false,
  sandboxProfile: null,
  credential: "runtime",
};

describe("the caller of a remote call", () => {
  it("is guarded code without roles, mode or sandbox, with the frames of the registry", () => {
    const { caller, claimed } = remoteCaller(grant, standing, frameOf);
    expect(claimed).toBeNull();
    expect(caller).toEqual({ ...GUARDED, frames: [frameOf(READER)], taskId: "task-1", interactive: true });
    expect(credentialCaller(grant, frameOf)).toEqual({
      ...GUARDED,
      frames: [frameOf(READER)],
      taskId: null,
      interactive: false,
    });
  });

  it("has the task of its credential where that has one, and waits only where both say so", () => {
    const bound = { ...grant, taskId: "task-9", interactive: false } as typeof grant;
    expect(remoteCaller(bound, standing, frameOf).caller).toMatchObject({
      taskId: "task-9",
      interactive: false,
    });
    const silent = remoteCaller(grant, { ...standing, interactive: false }, frameOf);
    expect(silent.caller.interactive).toBe(false);
  });

  it("has the rules of a made-up frame from the registry, and that frame stays made up", () => {
    const made = { subject: AGENT, phase: "runtime", entry: "guarded" } as const;
    const { caller } = remoteCaller(grant, { ...standing, chain: [reader, made] }, frameOf);
    expect(caller.frames).toEqual([frameOf(READER), { ...frameOf(AGENT), entry: "guarded" }]);
  });

  it("is nobody where its subject is registered no more", () => {
    expect(remoteCaller(grant, standing, () => null).caller.frames).toEqual([]);
  });

  it("that claims another subject stands on its own frame, and the claim is told", () => {
    const other = { subject: BANK, phase: "runtime", entry: "host" } as const;
    const { caller, claimed } = remoteCaller(grant, { ...standing, chain: [other] }, frameOf);
    expect([claimed, caller.frames]).toEqual([BANK, [frameOf(READER)]]);
  });
});
