/** npm itself, unchanged, as a guarded program: it installs from the registry that is declared, and from no other. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, it } from "vitest";
import { ADMIN, adminCaller, entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { obtainPackage } from "../../tools/cached-package.mjs";
import { type GuardedWorld, openWorld, start } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
let npm: string;
const servers: Server[] = [];
let declared: number;
let other: number;
/** What the registries were asked for. */
const seen: string[] = [];

const PACKAGE = { name: "port", version: "1.0.0", main: "index.js" } as const;
const TARBALL = gzipSync(
  Buffer.concat([
    tarFile("package/package.json", JSON.stringify(PACKAGE)),
    tarFile("package/index.js", "module.exports = 'installed';\n"),
    Buffer.alloc(1024),
  ]),
);

/** One file as `tar` writes it. */
function tarFile(name: string, text: string): Buffer {
  const head = Buffer.alloc(512);
  head.write(name, 0);
  head.write("0000644\0", 100);
  head.write("0000000\0", 108);
  head.write("0000000\0", 116);
  head.write(`${Buffer.byteLength(text).toString(8).padStart(11, "0")}\0`, 124);
  head.write("00000000000\0", 136);
  head.write("        ", 148);
  head.write("0", 156);
  head.write("ustar\u000000", 257);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
  body.write(text);
  return Buffer.concat([head, body]);
}

async function openRegistry(): Promise<number> {
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    seen.push(`${port === declared ? "declared" : "other"} ${request.method} ${request.url}`);
    if (request.url === "/port") {
      const integrity = `sha512-${createHash("sha512").update(TARBALL).digest("base64")}`;
      const tarball = `http://localhost:${port}/port/-/port-1.0.0.tgz`;
      const version = { ...PACKAGE, dist: { integrity, tarball } };
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({ name: "port", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } }),
      );
    } else if (request.url === "/port/-/port-1.0.0.tgz") response.end(TARBALL);
    else response.writeHead(404).end("{}");
  });
  servers.push(server);
  return listening(server);
}

worldOfFile(async (preload) => {
  npm = await obtainPackage("npm", "10.9.4");
  declared = await openRegistry();
  other = await openRegistry();
  world = await openWorld(
    preload,
    (folder) => [
      entry("network", "receive", `http://localhost:${declared}/`),
      entry("filesystem", "read", `${npm}/`),
      ...npmLooks(folder).map((path) => entry("filesystem", "read", path)),
    ],
    {},
    ["child_process", "worker_threads", "module", "vm"],
  );
  return world;
});
afterAll(() => {
  for (const server of servers) server.close();
});

/** Where npm looks by itself: which Node this is, and which workspace the project may belong to. */
function npmLooks(places: string): readonly string[] {
  const above = [places, dirname(places), dirname(dirname(places)), ""];
  const node = realpathSync(process.execPath);
  const names = ["package.json", "node_modules"];
  return [
    ...above.flatMap((folder) => names.map((name) => `${folder}/${name}`)),
    node,
    join(dirname(dirname(node)), "etc", "npmrc"),
  ];
}

async function install(port: number, name: string, waitMs = 0) {
  const project = join(world.places.all, name);
  mkdirSync(join(project, "home"), { recursive: true });
  writeFileSync(join(project, "package.json"), JSON.stringify({ name, version: "1.0.0" }));
  const flags = [
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--fetch-retries=0",
    "--loglevel=warn",
    "--logs-max=0",
  ];
  const args = [
    "install",
    "port",
    `--registry=http://localhost:${port}/`,
    `--cache=${project}/cache`,
    `--userconfig=${project}/home/.npmrc`,
    `--globalconfig=${project}/home/npmrc`,
    ...flags,
  ];
  const program = `
    for (const name of Object.keys(process.env)) if (/^npm_/i.test(name)) delete process.env[name];
    process.chdir(${JSON.stringify(project)});
    process.argv.splice(2, 1, ...${JSON.stringify(args)});
    require(${JSON.stringify(join(npm, "lib", "cli.js"))})(process);`;
  const { code, stdout, stderr } = await start(world, program, {
    codeRoots: [dirname(npm)],
    env: { HOME: join(project, "home"), PATH: dirname(realpathSync(process.execPath)) },
    isOwn: true,
    waitMs,
  }).ended;
  return { code, told: `${stdout}${stderr}`, made: join(project, "node_modules", "port", "index.js") };
}

const INSTALLED = "module.exports = 'installed';\n";
const reached = (which: "declared" | "other") => seen.filter((line) => line.startsWith(which));

it("installs from the registry that is declared", async () => {
  const { code, told, made } = await install(declared, "inside");
  expect([code, existsSync(made) ? readFileSync(made, "utf8") : told]).toEqual([0, INSTALLED]);
  expect(reached("declared")).toEqual(["declared GET /port", "declared GET /port/-/port-1.0.0.tgz"]);
});

it("is blocked at another registry, installs nothing, and goes on where a person approves", async () => {
  const blocked = await install(other, "outside");
  expect([blocked.code, existsSync(blocked.made), reached("other")]).toEqual([1, false, []]);
  expect(blocked.told).toContain("ERR_ACCESS_DENIED");
  const { fixture } = world;
  const over = new AbortController();
  const asked = install(other, "approved", 60_000).finally(() => over.abort());
  while (!over.signal.aborted) {
    const { rows } = await fixture.service.list.requests(adminCaller());
    const pending = rows.find(
      ({ status, resource }) => status === "pending" && resource.target.includes(`:${other}/`),
    );
    if (pending === undefined) await new Promise((resolve) => setImmediate(resolve));
    else {
      const by = await fixture.shown(pending.id);
      await fixture.runtime.runAsHost(ADMIN, () => fixture.sdk.access.approveForSession(by));
    }
  }
  const { code, told, made } = await asked;
  expect([code, existsSync(made) ? readFileSync(made, "utf8") : told]).toEqual([0, INSTALLED]);
  expect(reached("other")).toEqual(["other GET /port", "other GET /port/-/port-1.0.0.tgz"]);
});
