/** Scripts that name their interpreter in a way that the kernel, `env` or the C library reads otherwise than one would think. */
import { realpathSync } from "node:fs";
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { preloadOfFile } from "./world-of-file.ts";

const preload = preloadOfFile();
const seen: string[] = [];
const server = createServer((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  response.end("ok");
});
const own = { isOwn: true, waitMs: 0 } as const;
let world: GuardedWorld;
let before: string;

beforeAll(async () => {
  const port = await listening(server);
  const declared = (folder: string) => [
    entry("filesystem", "execute", `${folder}/all/`),
    entry("filesystem", "execute", realpathSync(process.execPath)),
    entry("system_dependency", "execute", "cat"),
    entry("network", "receive", `http://localhost:${port}/open/`),
  ];
  world = await openWorld(preload, declared, {}, ["child_process"]);
  before = `
    const cp = require("child_process");
    const port = ${port};
    const script = (name, text) => { const file = at.all + "/" + name; fs.writeFileSync(file, text); cp.execFileSync("cat", { input: "" }); fs.chmodSync(file, 0o755); return file; };
    const started = (name, text) => { const { error, stdout, status } = cp.spawnSync(script(name, text), { encoding: "utf8" }); if (error) throw error; return "through: " + stdout + " " + status; };
    const opened = async (work) => {
      const http = require("http");
      const agent = new http.Agent({ keepAlive: true });
      try {
        const socket = await new Promise((done, failed) => {
          const request = http.get({ host: "localhost", port, path: "/open/a", agent }, (response) => response.resume().on("end", () => done(request.socket)));
          request.on("error", failed);
        });
        return await work(socket);
      } finally { agent.destroy(); }
    };`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await world.close();
});

describe("attack: an interpreter that nobody declared", () => {
  it("does not run, however the script names it", async () => {
    const attacks = {
      plainly: `return started("plain", "#!/bin/sh\\necho ran")`,
      "without a word": `return started("none", "echo ran")`,
      "with an empty line": `return started("empty", "#!\\necho ran")`,
      "behind a variable of env": `return started("variable", "#!/usr/bin/env -S A=1 sh\\necho ran")`,
      "behind a flag of env": `return started("flag", "#!/usr/bin/env -S -i /bin/sh\\necho ran")`,
      "in one word with a flag of env": `return started("joined", "#!/usr/bin/env -S/bin/sh\\necho ran")`,
      "in quotes of env": `return started("quoted", "#!/usr/bin/env -S '/bin/sh'\\necho ran")`,
      "with a zero byte behind it": `return started("zero", "#!/bin/sh\\0x\\necho ran")`,
      "by a script that is the interpreter": `script("between", "#!/bin/sh\\necho ran"); return started("outer", "#!" + at.all + "/between\\n")`,
      "by an env of its own": `script("env", "#!/bin/sh\\necho ran"); return started("owned", "#!" + at.all + "/env cat\\n")`,
      "by its name beside the working folder": `
        script("near", "#!/bin/sh\\necho ran");
        const { error, stdout } = cp.spawnSync(script("beside", "#!near\\n"), { cwd: at.all, encoding: "utf8", env: { PATH: "/usr/bin" } });
        if (error) throw error;
        return "through: " + stdout`,
    };
    const tasks = Object.entries(attacks).map(([name, work]) => `${JSON.stringify(name)}: () => { ${work} }`);
    const found = await outcomes(world, tasks.join(",\n"), { ...own, before });
    for (const [name, outcome] of Object.entries(found))
      expect(`${name}: ${String(outcome)}`).toMatch(/ERR_ACCESS_DENIED/);
  });

  it("is said not to be there where it is not, as by the kernel", async () => {
    const found = await outcomes(
      world,
      `missing: () => started("missing", "#!/no/such/interpreter\\n"),
       "with a return behind it": () => started("return", "#!/usr/bin/cat\\r\\n")`,
      { ...own, before },
    );
    for (const outcome of Object.values(found)) expect(outcome).toMatch(/^Error ENOENT/);
  });
});

describe("attack: a connection that was opened for requests is handed to a program", () => {
  it("which does not get it", async () => {
    const found = await outcomes(
      world,
      `"as its output": () => opened((socket) => void cp.spawn("cat", { stdio: ["pipe", socket, "ignore"] }).stdin.end("POST /stolen HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 0\\r\\n\\r\\n")),
       "by its number": () => opened((socket) => void cp.spawn("cat", { stdio: ["pipe", socket._handle.fd, "ignore"] })),
       "with another number on its handle": () => opened((socket) => { Object.defineProperty(socket._handle, "fd", { value: -1 }); cp.spawn("cat", { stdio: ["pipe", socket, "ignore"] }).stdin.end("POST /stolen HTTP/1.1\\r\\n\\r\\n"); }),
       "by a message": () => opened((socket) => new Promise((done, failed) => {
         const child = cp.fork(path.join(__dirname, "none.cjs"), { execArgv: [], stdio: ["ignore", "ignore", "ignore", "ipc"] });
         child.on("error", failed);
         try { child.send("x", socket, { keepOpen: true }, (error) => { child.kill(); error ? failed(error) : done("through"); }); } catch (error) { child.kill(); failed(error); }
       }))`,
      { ...own, before },
    );
    for (const [name, outcome] of Object.entries(found))
      expect(`${name}: ${String(outcome)}`).toMatch(/ERR_ACCESS_DENIED|EBADF/);
    expect(seen).not.toContain("POST /stolen");
  });
});
