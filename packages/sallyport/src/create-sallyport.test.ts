/** Embedded Sallyport in one call: what it leaves in its data folder, who may open it, what is closed to subjects. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { VERSION } from "./cli/version.ts";
import { type Sallyport, createSallyport } from "./create-sallyport.ts";
import { ADMIN, MEMBER, adminCaller } from "./testing/sallyport-fixture.ts";

let folder: string;
let dataFolder: string;
let opened: Sallyport[] = [];
const DEMO = { type: "module", name: "demo" } as const;
const FEED = { resourceType: "network", operation: "receive", target: "https://feed.example.com/a" } as const;

async function open(changes: object = {}): Promise<Sallyport> {
  const sallyport = await createSallyport({ dataFolder, ...changes });
  opened.push(sallyport);
  const known = sallyport.registry.registerModule({ name: "demo", root: join(folder, "demo"), manifest: {} });
  if (!known.ok) throw new Error(known.message);
  return sallyport;
}

async function closeAll(): Promise<void> {
  for (const sallyport of opened) await sallyport.close();
  opened = [];
}

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-create-")));
  dataFolder = join(folder, "data");
  mkdirSync(join(folder, "demo"));
});
afterEach(async () => {
  await closeAll();
  rmSync(folder, { recursive: true, force: true });
});

const check = ({ runtime, sdk }: Sallyport, access: object = FEED) =>
  runtime.run(DEMO, MEMBER, () => sdk.access.checkExternalAccess(access as never));

describe("createSallyport", () => {
  it("makes a data folder that only its owner can read", async () => {
    await open();
    expect(statSync(dataFolder).mode & 0o777).toBe(0o700);
    for (const name of ["key-ring.json", "masking.key", "checkpoint.pem"])
      expect(statSync(join(dataFolder, name)).mode & 0o777).toBe(0o600);
  });

  it("keeps decisions, sealed contexts and keys over a restart, and its log stays sound", async () => {
    const first = await open();
    first.runtime.registerAction("demo", "demo.resume", () => undefined);
    const whose = { subjectType: "module", subjectName: "demo" } as const;
    await first.runtime.runAsHost(ADMIN, () => first.sdk.access.approvePermanently({ ...FEED, ...whose }));
    const other = {
      ...FEED,
      target: "https://other.example.com",
      resumeAction: "demo.resume",
      resumeContext: { id: 7 },
    };
    const asked = await first.runtime.run(DEMO, MEMBER, () => first.sdk.access.requireExternalAccess(other));
    await closeAll();
    const keys = readFileSync(join(dataFolder, "key-ring.json"), "utf8");

    const second = await open();
    expect(readFileSync(join(dataFolder, "key-ring.json"), "utf8")).toBe(keys);
    expect((await check(second)).code).toBe("allowed_permanent");
    const ran = new Promise((resolve) => second.runtime.registerAction("demo", "demo.resume", resolve));
    const record = await second.service.list.request(adminCaller(), asked.requestId ?? "");
    const by = { requestId: record?.id ?? "", digest: record?.digest ?? "" };
    await second.runtime.runAsHost(ADMIN, () => second.sdk.access.approveForSession(by));
    expect(await ran).toEqual({ id: 7 });
    expect((await second.service.trail.verify(adminCaller())).ok).toBe(true);
  });

  it("refuses a second owner of the same folder, and says who and what has it", async () => {
    await open();
    await expect(createSallyport({ dataFolder })).rejects.toMatchObject({
      code: "store_owned",
      message: expect.stringMatching(new RegExp(`${process.pid}[^]*${VERSION}`)) as unknown,
    });
  });

  it.each(["masking.key", "checkpoint.pem", "runtime-credentials.pem", "key-ring.json"])(
    "does not use %s where others could read it, nor replaces it where it is broken",
    async (name) => {
      await open();
      await closeAll();
      chmodSync(join(dataFolder, name), 0o644);
      await expect(createSallyport({ dataFolder })).rejects.toThrow("open to others");
      chmodSync(join(dataFolder, name), 0o600);
      writeFileSync(join(dataFolder, name), "broken");
      await expect(createSallyport({ dataFolder })).rejects.toThrow();
      expect(readFileSync(join(dataFolder, name), "utf8")).toBe("broken");
    },
  );

  it("leaves nothing of itself behind where it cannot start", async () => {
    mkdirSync(dataFolder);
    writeFileSync(
      join(dataFolder, "store.db"),
      "this is no database, and it is longer than a header of one is",
    );
    await expect(createSallyport({ dataFolder })).rejects.toThrow();
    expect(readdirSync(dataFolder)).toContain("store.db");
  });
});

describe("self-approval is refused", () => {
  it("through the API port, whatever a person approved", async () => {
    const sallyport = await open({ apiPorts: [4180] });
    for (const target of [
      "http://127.0.0.1:4180/v1/decisions/deny",
      "http://localhost:4180",
      "http://[::1]:4180",
    ])
      for (const operation of ["receive", "send", "connect"] as const) {
        const access = { resourceType: "network", operation, target } as const;
        const whose = { subjectType: "module", subjectName: "demo" } as const;
        await sallyport.runtime.runAsHost(ADMIN, () =>
          sallyport.sdk.access.approvePermanently({ ...access, ...whose }),
        );
        expect((await check(sallyport, access)).code).toBe("denied_rule");
      }
  });

  it("through the sockets by which the host is administered, whatever a person approved", async () => {
    const elsewhere = join(folder, "admin-elsewhere.sock");
    const sallyport = await open({ adminSockets: [elsewhere] });
    const places = [join(dataFolder, "admin.sock"), join(dataFolder, "run.sock"), elsewhere];
    const whose = { subjectType: "module", subjectName: "demo" } as const;
    for (const place of places) {
      const socket = { resourceType: "network", operation: "connect", target: `unix:${place}` } as const;
      await sallyport.runtime.runAsHost(ADMIN, () =>
        sallyport.sdk.access.approvePermanently({ ...socket, ...whose }),
      );
      expect((await check(sallyport, socket)).code).toBe("denied_rule");
      const file = { resourceType: "filesystem", operation: "modify", target: place } as const;
      expect((await check(sallyport, file)).code).toBe("denied_rule");
    }
  });

  it("by a call to its own server, which is not even dialled", async () => {
    const { createServer: listenOn } = await import("node:net");
    const dialled: unknown[] = [];
    const listener = listenOn((socket) => dialled.push(socket.remotePort));
    const port = await new Promise<number>((resolve) =>
      listener.listen(0, "127.0.0.1", () => resolve((listener.address() as { readonly port: number }).port)),
    );
    const sallyport = await open({ apiPorts: [port] });
    const url = `http://127.0.0.1:${port}/v1/decisions/approve_permanently`;
    const whose = { subjectType: "module", subjectName: "demo" } as const;
    const words = { resourceType: "network", operation: "send", target: url } as const;
    await sallyport.runtime.runAsHost(ADMIN, () =>
      sallyport.sdk.access.approvePermanently({ ...words, ...whose }),
    );
    const call = sallyport.runtime.run(DEMO, MEMBER, (sdk) =>
      sdk.http.fetch(url, { method: "POST", body: "{}" }),
    );
    await expect(call).rejects.toMatchObject({ check: { code: "denied_rule" } });
    expect(dialled).toEqual([]);
    listener.close();
  });

  it("through the data folder, also by way of a link and of the folder above it", async () => {
    const sallyport = await open();
    const { symlinkSync } = await import("node:fs");
    symlinkSync(dataFolder, join(folder, "demo", "way"));
    const places = [
      ["modify", "demo/way/store.db"],
      ["create", "demo/way/x"],
      ["delete", "data"],
      ["delete", "."],
    ] as const;
    for (const [operation, name] of places) {
      const access = { resourceType: "filesystem", operation, target: join(folder, name) } as const;
      expect((await check(sallyport, access)).code).toBe("denied_rule");
    }
  });
});

describe("the same-name squatter", () => {
  it("neither takes a name nor inherits what was approved for it", async () => {
    const { registry, runtime, sdk } = await open();
    mkdirSync(join(folder, "evil"));
    const manifest = {
      access: [{ resource_type: "network", operation: "send", target: "https://evil.example.com" }],
    };
    const second = registry.registerModule({ name: "demo", root: join(folder, "evil"), manifest });
    expect(second).toMatchObject({ ok: false, reason: "name_taken" });
    const tool = registry.registerTool({ name: "demo.tool", module: "evil", definition: { access: [] } });
    expect(tool.ok).toBe(false);
    const send = { resourceType: "network", operation: "send", target: "https://evil.example.com/" } as const;
    const code = async () =>
      (await runtime.run(DEMO, MEMBER, () => sdk.access.checkExternalAccess(send))).code;
    expect(await code()).toBe("approval_required");
  });
});
