/**
 * Real programs that know nothing of a gateway, against local servers: allowed, blocked, asked, approved and going on.
 * No proxy variables are set unless a test says so.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Host } from "@sallyport/contract";
import {
  type EgressWorkshop,
  NO_PROXIES,
  TestDecider,
  openEgressWorkshop,
} from "../testing/egress-fixture.ts";
import { rules } from "../testing/sandbox-fixture.ts";

const LONG = 300_000;
let workshop: EgressWorkshop;

beforeAll(async () => {
  workshop = await openEgressWorkshop();
}, LONG);
afterAll(() => workshop.close());

const web = (): string => `http://web.test:${workshop.web.port}`;
const secure = (): string => `https://secure.test:${workshop.secureWeb.port}`;

interface Program {
  readonly name: string;
  readonly get: (url: string) => string;
}

const PROGRAMS: readonly Program[] = [
  { name: "curl", get: (url) => `curl -sS --fail -m 60 ${url}` },
  { name: "wget", get: (url) => `wget -q -O- -T 60 -t 1 ${url}` },
  {
    name: "python3 urllib",
    get: (url) =>
      `/usr/bin/python3 -I -c 'import urllib.request as r; print(r.urlopen("${url}", timeout=60).read().decode())'`,
  },
];

describe.each(PROGRAMS)("$name", ({ get }) => {
  test(
    "fetches what is allowed, in clear text and under TLS, and nothing else",
    async () => {
      const decider = new TestDecider().allow(web(), "receive").allow(`${secure()}/ok`, "receive");
      const { stdout } = await workshop.net(
        `${get(`${web()}/one`)}; ${get(`${secure()}/ok`)}; ${get(`${secure()}/other`)} || echo BLOCKED`,
        decider,
      );
      expect(stdout).toContain("hello GET /one 0");
      expect(stdout).toContain("hello GET /ok 0");
      expect(stdout).toContain("BLOCKED");
      expect(decider.asked).toEqual([{ operation: "receive", target: `${secure()}/other` }]);
      expect(workshop.secureWeb.seen.some((line) => line.includes("/other"))).toBe(false);
    },
    LONG,
  );

  test(
    "waits for a person and goes on after the approval",
    async () => {
      const decider = new TestDecider();
      decider.answer = () => Promise.resolve(true);
      const { stdout, code } = await workshop.net(get(`${secure()}/asked`), decider);
      expect({ code, stdout: stdout.trim() }).toEqual({ code: 0, stdout: "hello GET /asked 0" });
      expect(decider.asked).toEqual([{ operation: "receive", target: `${secure()}/asked` }]);
    },
    LONG,
  );
});

test(
  "a program that honours proxy variables is served by them as well, SOCKS included",
  async () => {
    const decider = new TestDecider().allow(web(), "receive").allow(secure(), "receive");
    const { stdout, stderr } = await workshop.net(
      `curl -sS -m 60 ${web()}/p1; curl -sS -m 60 ${secure()}/p2
     curl -sS -m 60 -x socks5h://127.0.0.1:15001 ${web()}/p3; curl -sS -m 60 -x socks5h://127.0.0.1:15001 ${secure()}/p4`,
      decider,
      { isProxied: true },
    );
    expect(stderr).toBe("");
    expect(stdout.match(/\/p\d/g)).toEqual(["/p1", "/p2", "/p3", "/p4"]);
  },
  LONG,
);

test(
  "a raw socket of python3 needs connect: refused, then asked, approved and going on",
  async () => {
    const script = `/usr/bin/python3 -I -c '
import socket
s = socket.create_connection(("echo.test", ${workshop.echo.port}), 60)
print("heard", s.recv(100).decode().strip())
s.sendall(b"ping")
print("echoed", s.recv(100).decode())'`;
    const gateway = { silentMs: 200 };
    const refused = await workshop.net(script, new TestDecider(), { gateway });
    expect(refused.code).not.toBe(0);
    expect(workshop.echo.seen).toEqual([]);
    const decider = new TestDecider();
    decider.answer = () => Promise.resolve(true);
    const { stdout } = await workshop.net(script, decider, { gateway });
    expect(stdout).toBe("heard first word\nechoed ping\n");
    expect(decider.asked).toEqual([{ operation: "connect", target: `echo.test:${workshop.echo.port}` }]);
  },
  LONG,
);

test(
  "git clones over https: blocked, then asked, approved and going on",
  async () => {
    const source = join(workshop.make("git"), "source");
    const git = (...args: readonly string[]): string =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "safe.directory=*", ...args], {
        encoding: "utf8",
      });
    mkdirSync(source);
    git("init", "-q", source);
    writeFileSync(join(source, "file.txt"), "content\n");
    git("-C", source, "add", ".");
    git("-C", source, "commit", "-q", "-m", "first");
    git("-C", source, "update-server-info");
    const served = await serveFolder((path) => readFileSync(join(source, ".git", path)));
    try {
      const url = `https://secure.test:${served.port}/`;
      const work = workshop.make("clones");
      const run = (name: string, decider: TestDecider) =>
        workshop.net(`git clone -q ${url} ${work}/${name} && cat ${work}/${name}/file.txt`, decider, {
          allow: rules(`${work}/`, "read", "create", "modify", "delete", "execute"),
          env: { ...NO_PROXIES, HOME: work, GIT_TERMINAL_PROMPT: "0" },
        });
      const blocked = await run("blocked", new TestDecider());
      expect(blocked.code).not.toBe(0);
      expect(blocked.stderr).toContain("403");
      const decider = new TestDecider();
      decider.answer = () => Promise.resolve(true);
      const cloned = await run("cloned", decider);
      expect({ stdout: cloned.stdout, stderr: cloned.stderr }).toEqual({ stdout: "content\n", stderr: "" });
      expect(decider.asked[0]).toMatchObject({
        operation: "receive",
        target: expect.stringContaining("/info/refs"),
      });
    } finally {
      served.close();
    }
  },
  LONG,
);

test(
  "npm installs from a registry: blocked, then asked, approved and going on",
  async () => {
    const archive = tarball("package/package.json", JSON.stringify({ name: "small", version: "1.0.0" }));
    const served = await serveFolder((path, port) => {
      if (path.endsWith(".tgz")) return archive;
      const dist = { tarball: `https://secure.test:${port}/small/-/small-1.0.0.tgz` };
      const versions = { "1.0.0": { name: "small", version: "1.0.0", dist } };
      return Buffer.from(JSON.stringify({ name: "small", "dist-tags": { latest: "1.0.0" }, versions }));
    });
    try {
      const work = workshop.make("npm");
      const env = { ...NO_PROXIES, HOME: work };
      const flags = `--registry https://secure.test:${served.port}/ --no-audit --no-fund --no-update-notifier --fetch-retries 0 --cache ${work}/cache`;
      const script = `cd ${work} && npm install small ${flags} --loglevel error && cat node_modules/small/package.json`;
      const allow = [
        ...rules(`${work}/`, "read", "create", "modify", "delete", "execute"),
        ...rules("/", "read"),
      ];
      const blocked = await workshop.net(script, new TestDecider(), { allow, env });
      expect(blocked.code).not.toBe(0);
      const decider = new TestDecider();
      decider.answer = () => Promise.resolve(true);
      const installed = await workshop.net(script, decider, { allow, env });
      expect(installed.stderr).toBe("");
      expect(installed.stdout).toContain('"name":"small"');
      expect(decider.asked.map(({ operation }) => operation)).toEqual(["receive", "receive"]);
    } finally {
      served.close();
    }
  },
  LONG,
);

async function serveFolder(
  read: (path: string, port: number) => Buffer,
): Promise<{ readonly port: number; close(): void }> {
  const { certificates: cert, key } = workshop.authority.certify("secure.test" as Host);
  const server = createServer({ cert, key }, (req, res) => {
    try {
      res.end(read((req.url ?? "").slice(1).split("?")[0] ?? "", (server.address() as AddressInfo).port));
    } catch {
      res.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** One file as `tar` would write it. */
function tarball(name: string, content: string): Buffer {
  const head = Buffer.alloc(512);
  const put = (text: string, at: number): void => void head.write(text, at, "latin1");
  put(name, 0);
  put("0000644\0", 100);
  put("0000000\0", 108);
  put("0000000\0", 116);
  put(`${Buffer.byteLength(content).toString(8).padStart(11, "0")}\0`, 124);
  put("00000000000\0", 136);
  put("        ", 148);
  put("0", 156);
  put("ustar\u000000", 257);
  const sum = head.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / 512) * 512);
  body.write(content);
  return gzipSync(Buffer.concat([head, body, Buffer.alloc(1024)]));
}
