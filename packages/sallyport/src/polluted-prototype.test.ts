/** The attack "prototype pollution": what every object inherits from guarded code's hand changes no decision. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  ADMIN,
  AGENT,
  BANK,
  type Fixture,
  MEMBER,
  TOOL,
  entry,
  openFixture,
} from "./testing/sallyport-fixture.ts";

const UNKNOWN = {
  resourceType: "network",
  operation: "receive",
  target: "https://unknown.example.com/a",
} as const;
let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture({ ports: { resolver: async () => ["127.0.0.1"] } });
});
afterEach(() => fixture.close());

const PROTOTYPE: object = Object.prototype;

/** Runs `work` while every object inherits the words. */
async function polluted<R>(words: Readonly<Record<string, unknown>>, work: () => Promise<R>): Promise<R> {
  for (const [key, value] of Object.entries(words))
    Reflect.defineProperty(PROTOTYPE, key, { value, configurable: true, writable: true });
  try {
    return await work();
  } finally {
    for (const key of Object.keys(words)) Reflect.deleteProperty(PROTOTYPE, key);
  }
}

it("does not widen, lengthen or multiply an approval", async () => {
  const { runtime, sdk } = fixture;
  const whose = { subjectType: "tool", subjectName: TOOL.name } as const;
  const words = {
    widen: { match: "origin", target: UNKNOWN.target },
    reason: "evil",
    sessionKey: "sess-evil",
  };
  const decision = await polluted(words, () =>
    runtime.runAsHost(ADMIN, () => sdk.access.approvePermanently({ ...UNKNOWN, ...whose, maxUses: 1 })),
  );
  expect(decision).toMatchObject({ ok: true, approval: { match: "exact", maxUses: 1 } });
});

it("does not turn a one-off into another operation", async () => {
  const { runtime, sdk } = fixture;
  const url = UNKNOWN.target;
  const code = await polluted({ operation: "send" }, () =>
    runtime.run(TOOL, { ...MEMBER, oneOff: { url } }, async () => {
      const access = {
        resourceType: "network",
        operation: "send",
        target: url,
        registerRequest: false,
      } as const;
      return (await sdk.access.checkExternalAccess(access)).code;
    }),
  );
  expect(code).toBe("approval_required");
});

it("does not open an action to another module", async () => {
  const { runtime, sdk } = fixture;
  await polluted({ openTo: [AGENT, TOOL] }, async () =>
    runtime.registerAction("bank", "bank.transfer", { handler: () => undefined }),
  );
  const asked = { ...UNKNOWN, resumeAction: "bank.transfer" } as const;
  const answer = await runtime.run(TOOL, MEMBER, () => sdk.access.requireExternalAccess(asked));
  expect(answer.code).toBe("invalid_operation");
});

it("does not stand for the address that is dialled", async () => {
  const { runtime, sdk, registry, folder } = fixture;
  const server = createServer((_, response) => response.end("secret of this machine"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://feed.test:${(server.address() as AddressInfo).port}/`;
  const manifest = { access: [entry("network", "receive", url)] };
  registry.registerModule({ name: "web", root: folder, manifest });
  const words = { address: "203.0.113.1", passive: true, aliases: ["feed.test"] };
  const call = polluted(words, () =>
    runtime.run({ type: "module", name: "web" }, MEMBER, () => sdk.http.fetch(url)),
  );
  await expect(call).rejects.toMatchObject({ code: "ERR_ACCESS_DENIED" });
  await new Promise((resolve) => server.close(resolve));
});

it("does not make a made-up frame one of the host", async () => {
  const { runtime, sdk } = fixture;
  const send = { resourceType: "network", operation: "send", target: "https://bank.example.com" } as const;
  const words = {
    entry: "host",
    credential: "host",
    contracts: ["x"],
    frames: [],
    user: { id: 1, roles: ["super"] },
  };
  const answer = await polluted(words, () =>
    runtime.run(TOOL, { sessionKey: "s" }, () => sdk.run(BANK, () => sdk.access.checkExternalAccess(send))),
  );
  expect(answer.code).toBe("approval_required");
});
