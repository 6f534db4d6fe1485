/**
 * Guarded code that wants to approve itself does not ask the SDK: it opens the socket of the command line, calls the API
 * port, writes the store, starts the command. Under the guard each of these is refused, although its manifest declares them
 * all, and nothing was decided afterwards.
 */
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Listening, createServer } from "@sallyport/server";
import { adminCaller, entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { freePort } from "./loopback.ts";
import { preloadOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
let server: Listening;
let port: number;

const preload = preloadOfFile();

/** The weaker door: what stops guarded code here is the guard. */
const MODES_ONLY = { kind: "modes_only", reason: "a test" } as const;

beforeEach(async () => {
  port = await freePort();
  const declared = (folder: string) => {
    const data = join(folder, "..", "data");
    const operations = ["read", "create", "modify", "delete"] as const;
    return [
      entry("network", "connect", `unix:${join(data, "admin.sock")}`),
      entry("network", "connect", `localhost:${port}`),
      ...operations.map((operation) => entry("filesystem", operation, `${data}/`)),
    ];
  };
  world = await openWorld(preload, declared, { apiPorts: [port] });
  const { fixture } = world;
  server = await createServer({
    ...fixture.serverParts(),
    admin: { service: fixture.service, version: "test" },
  }).listen({ port, adminSocket: { path: join(fixture.dataFolder, "admin.sock"), peers: MODES_ONLY } });
});
afterEach(async () => {
  await server.close();
  await world.close();
});

it("attack: approving itself through the socket, the port, the store or the command of its host", async () => {
  const { fixture } = world;
  const data = fixture.dataFolder;
  const before = `
const net = require("net");
const data = ${JSON.stringify(data)};
const opened = (...words) => new Promise((done, failed) => net.connect(...words).on("error", failed).on("connect", () => done("open")));
`;
  const found = await outcomes(
    world,
    `
    socket: () => opened(path.join(data, "admin.sock")),
    socketByLink: () => { fs.symlinkSync(data, path.join(at.all, "way")); return opened(path.join(at.all, "way", "admin.sock")); },
    port: () => opened(${port}, "127.0.0.1"),
    portByName: () => opened({ host: "localhost", port: ${port} }),
    portBySix: () => opened({ host: "::1", port: ${port} }),
    reads: () => fs.readFileSync(path.join(data, "store.db")),
    writes: () => fs.writeFileSync(path.join(data, "store.db"), ""),
    lists: () => fs.readdirSync(data).join(),
    moves: () => fs.renameSync(data, path.join(at.all, "data")),
    command: () => require("node:child_process").execFileSync("sallyport", ["approve", "--yes"]),
    worker: () => new (require("node:worker_threads").Worker)("0", { eval: true }),
    `,
    { before },
  );
  const isRefused = expect.stringMatching(/ERR_ACCESS_DENIED/);
  expect(found).toEqual(
    Object.fromEntries(
      [
        "socket",
        "socketByLink",
        "port",
        "portByName",
        "portBySix",
        "reads",
        "writes",
        "lists",
        "moves",
        "command",
        "worker",
      ].map((name) => [name, isRefused]),
    ),
  );
  const denied = ["socket", "port", "reads", "writes", "lists", "moves"].map((name) => found[name]);
  for (const words of denied) expect(words).toContain("denied_rule");
  const { rows } = await fixture.service.list.approvals(adminCaller());
  expect(rows).toEqual([]);
  expect((await fixture.service.list.requests(adminCaller(), { status: "pending" })).rows).toEqual([]);
});
