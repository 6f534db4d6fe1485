/** An API that is served beyond the local host: whatever address leads to it is closed to every subject. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { get } from "node:http";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ADMIN, DEMO, MEMBER } from "../testing/sallyport-fixture.ts";
import { createSallyport } from "../create-sallyport.ts";
import { apiAddresses, apiHosts, plainAddress } from "./api-addresses.ts";
import { type ServingOwner, openServingOwner } from "./owner.ts";

let folder: string;
let owner: ServingOwner | undefined;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-api-")));
  mkdirSync(join(folder, "demo"));
});
afterEach(async () => {
  await owner?.close();
  owner = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const ORIGIN = "https://sallyport.example.com";

/** The port of an owner that listens there behind a proxy. */
async function serve(host: string, port: number): Promise<ServingOwner> {
  owner = await openServingOwner({
    folder: join(folder, "data"),
    port,
    listen: { host, origin: ORIGIN },
    told: {},
    runsResumes: false,
    onFault: () => undefined,
  });
  const root = join(folder, "demo");
  expect(owner.sallyport.registry.registerModule({ name: "demo", root, manifest: {} }).ok).toBe(true);
  return owner;
}

async function freePort(): Promise<number> {
  const { createServer } = await import("node:net");
  const server = createServer();
  const port = await new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as { readonly port: number }).port)),
  );
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** What a subject is told of a target that a person approved for it. */
async function codeOf({ sallyport: { runtime, sdk } }: ServingOwner, target: string): Promise<string> {
  const access = { resourceType: "network", operation: "send", target } as const;
  await runtime.runAsHost(ADMIN, () =>
    sdk.access.approvePermanently({ ...access, subjectType: "module", subjectName: "demo" }),
  );
  const answer = await runtime.run(DEMO, MEMBER, () => sdk.access.checkExternalAccess(access));
  return answer.code;
}

/** The status of a call at an address of this machine, or that nobody answers there. */
function answerAt(address: string, port: number): Promise<number | "nobody"> {
  return new Promise((resolve) => {
    const headers = { host: new URL(ORIGIN).host };
    get({ host: address, port, path: "/healthz", headers, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    }).on("error", () => resolve("nobody"));
  });
}

it("attack: the address it listens on is closed like the local host, whatever a person approved", async () => {
  const port = await freePort();
  const served = await serve("127.0.0.2", port);
  for (const host of ["127.0.0.2", "localhost", "[::ffff:127.0.0.2]"])
    expect([host, await codeOf(served, `http://${host}:${port}/v1/decisions`)]).toEqual([
      host,
      "denied_rule",
    ]);
  expect(await codeOf(served, `http://127.0.0.2:${port + 1}/`)).toBe("allowed_permanent");
});

it("attack: the origin of a proxy in front of it is closed, however it is spelled and whatever a person approved", async () => {
  const served = await serve("127.0.0.1", await freePort());
  for (const target of [
    `${ORIGIN}/v1/decisions`,
    "https://SALLYPORT.example.com:443/",
    "https://sallyport.example.com./v1/decisions",
    "wss://sallyport.example.com/",
    "http://sallyport.example.com:443/",
  ])
    expect([target, await codeOf(served, target)]).toEqual([target, "denied_rule"]);
  for (const target of ["https://example.com/", "https://sallyport.example.com:8443/"])
    expect([target, await codeOf(served, target)]).toEqual([target, "allowed_permanent"]);
});

it("an origin that is none starts nothing: what cannot be named cannot be closed", async () => {
  const dataFolder = join(folder, "data");
  for (const origin of ["sallyport.example.com", "https://sallyport.example.com/console", "unix:/run/x"])
    await expect(createSallyport({ dataFolder, apiOrigins: [origin] })).rejects.toThrow("is not an origin");
});

it("attack: on all addresses each of them is closed, and one that nobody could name leads nowhere", async () => {
  const port = await freePort();
  const served = await serve("0.0.0.0", port);
  const own = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
  for (const address of own) {
    const plain = plainAddress(address);
    const host = plain.includes(":") ? `[${plain}]` : plain;
    expect([host, await codeOf(served, `http://${host}:${port}/`)]).toEqual([host, "denied_rule"]);
  }
  expect(await answerAt("127.0.0.1", port)).toBe(200);
  for (const address of ["127.0.0.3", "127.1.2.3"]) expect(await answerAt(address, port)).toBe("nobody");
});

it("addresses are those of the name, without zones, and in brackets where they are hosts", async () => {
  expect(await apiAddresses("127.0.0.1")).toEqual(new Set(["127.0.0.1", "::1"]));
  expect(apiHosts(await apiAddresses("localhost"))).toEqual([]);
  expect(apiHosts(await apiAddresses("fe80::5%eth0"))).toEqual(["[fe80::5]"]);
  expect(plainAddress("::ffff:10.0.0.5")).toBe("10.0.0.5");
});
