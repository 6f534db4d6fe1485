/** Children of a remote host where its server is gone, or its credential is: nothing is answered from memory. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type GatedPrograms, buildPrograms } from "./testing/gated-children.ts";
import { DECLARED, MEMBER, type ServedFixture, TOOL, serveFixture } from "./testing/sallyport-fixture.ts";
import { type ServedSdk, servedChild, servedWorker } from "./testing/served-sdk.ts";

let programs: GatedPrograms;
let served: ServedFixture;
let child: ServedSdk | undefined;
beforeAll(async () => {
  programs = await buildPrograms("served-sdk-program.ts");
});
afterAll(() => programs.remove());
beforeEach(async () => {
  served = await serveFixture();
});
afterEach(async () => {
  await child?.end();
  child = undefined;
  await served.close();
});

const declared = {
  path: "access.checkExternalAccess",
  args: [{ resourceType: "network", operation: "receive", target: DECLARED }],
};
const codeOf = async (sdk: ServedSdk): Promise<unknown> => {
  const outcome = await sdk.call(declared);
  return outcome.ok ? (outcome.value as { readonly code: string }).code : outcome.name;
};

describe.each([
  ["child", servedChild],
  ["worker", servedWorker],
])("a %s of a remote host", (_, start) => {
  it("is allowed nothing while the server is gone, not even what was declared", async () => {
    const { runtime } = await served.connect();
    child = await runtime.run(TOOL, MEMBER, () => start(runtime, programs));
    expect(await codeOf(child)).toBe("allowed_sandbox");
    await served.stopServing();
    expect(await codeOf(child)).toBe("unavailable");
    expect(await child.call({ path: "permission.state" })).toEqual({ ok: true, value: null });
    const wait = { path: "access.waitForDecision", args: ["request-1", { timeoutMs: 1 }] };
    expect(await child.call(wait)).toMatchObject({ ok: true, value: { outcome: "timed_out" } });
  });

  it("is allowed nothing once the credential of its host was taken back", async () => {
    const host = await served.connect();
    child = await host.runtime.run(TOOL, MEMBER, () => start(host.runtime, programs));
    expect(await codeOf(child)).toBe("allowed_sandbox");
    const { credential } = host.client;
    if (credential.kind !== "runtime") throw new Error("not a runtime credential");
    await served.revoke(credential);
    expect(await codeOf(child)).toBe("unavailable");
  });

  it("ends its gate with its host", async () => {
    const host = await served.connect();
    child = await host.runtime.run(TOOL, MEMBER, () => start(host.runtime, programs));
    await host.close();
    expect(await codeOf(child)).toBe("unavailable");
  });
});
