/** `sallyport run` and the network: connections of any program are asked of the real service, which decides for good. */
import type { ChildProcess } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runSocketOf } from "../../data-folder.ts";
import { type BundledCli, bundleCli, printed, runCli, startCli } from "../../testing/cli-process.ts";
import { type Fixture, adminCaller, entry, openFixture } from "../../testing/sallyport-fixture.ts";
import { type RunDoor, openRunDoor } from "../run-door.ts";

const CACHE = join(tmpdir(), "sallyport-cache");
const LONG = 300_000;

let cli: BundledCli;
let server: Server;
let port: number;
const seen: string[] = [];
/** Streams that the other side gave up. */
let cut = 0;
beforeAll(async () => {
  mkdirSync(CACHE, { recursive: true });
  cli = await bundleCli({ runs: true });
  server = createServer((req, res) => {
    seen.push(`${req.method} ${req.url}`);
    if (req.url === "/stream") res.on("close", () => (cut += 1)).write("begun\n");
    else req.resume().on("end", () => res.end(`hello ${req.method}\n`));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
}, LONG);
afterAll(() => {
  cli.remove();
  server.close();
  server.closeAllConnections();
});

let fixture: Fixture;
let door: RunDoor;
let work: string;
beforeEach(async () => {
  fixture = await openFixture();
  work = join(fixture.folder, "work");
  door = await openRunDoor(fixture, runSocketOf(fixture.dataFolder));
});
afterEach(async () => {
  await door.close();
  await fixture.close();
});

const env = { SALLYPORT_CACHE: CACHE };
/** The program of the system, its settings, and one URL of the host's own loopback. */
function words(...rest: readonly string[]): readonly string[] {
  const access = [
    entry("filesystem", "execute", "/usr/"),
    entry("filesystem", "read", "/etc/"),
    entry("network", "receive", `http://localhost:${port}/declared`),
  ];
  writeFileSync(join(work, "manifest.json"), JSON.stringify({ access }));
  return ["run", "--data", fixture.dataFolder, "--manifest", "manifest.json", ...rest];
}
const start = (...rest: readonly string[]): ChildProcess => startCli(cli, words(...rest), { cwd: work, env });

async function asked() {
  const pending = async () =>
    (await fixture.service.list.requests(adminCaller(), { status: "pending" })).rows;
  await expect.poll(async () => (await pending()).length, { timeout: LONG }).toBe(1);
  return (await pending())[0];
}
async function approve(request: { readonly id: string } | undefined): Promise<void> {
  const decided = await fixture.service.approveForSession(adminCaller(), await fixture.shown(request?.id));
  expect(decided.ok).toBe(true);
}
function ended(child: ChildProcess): Promise<{ code: number | null; stdout: string }> {
  let stdout = "";
  child.stdout?.on("data", (text: Buffer) => (stdout += text.toString()));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout })));
}

it(
  "what is declared passes; the rest is refused in words where nobody waits",
  async () => {
    const at = (...args: string[]) =>
      runCli(cli, words("--no-wait", "/usr/bin/curl", "-q", "-sS", "-m", "60", ...args), { cwd: work, env });
    expect(await at(`http://localhost:${port}/declared`)).toMatchObject({ code: 0, stdout: "hello GET\n" });
    const before = seen.length;
    const { stdout } = await at("-d", "x", `http://localhost:${port}/declared`);
    expect(JSON.parse(stdout)).toMatchObject({
      reason: "approval_required",
      decision: "asked",
      subject: { type: "tool", name: expect.stringMatching(/^local\./) },
      operation: "send",
      target: `http://127.0.0.1:${port}/declared`,
      request_id: expect.stringMatching(/./),
    });
    expect(seen.length).toBe(before);
    const types = (await fixture.events()).map(({ type }) => type);
    expect(types).toContain("sandbox.violation");
  },
  LONG,
);

it(
  "a connection waits for a person, and goes on when they approve",
  async () => {
    const end = ended(
      start("/usr/bin/curl", "-q", "-sS", "-m", "100", "-d", "x", `http://localhost:${port}/post`),
    );
    const request = await asked();
    expect(request).toMatchObject({
      attestedBy: "gateway",
      resource: { type: "network", operation: "send", target: `http://127.0.0.1:${port}/post` },
    });
    expect(seen).not.toContain("POST /post");
    await approve(request);
    expect(await end).toMatchObject({ code: 0, stdout: "hello POST\n" });
    expect(seen).toContain("POST /post");
  },
  LONG,
);

it(
  "a revocation closes the live connection",
  async () => {
    const child = start("/usr/bin/curl", "-q", "-sS", "-N", "-m", "100", `http://localhost:${port}/stream`);
    const begun = new Promise<void>((resolve) => child.stdout?.once("data", () => resolve()));
    const end = ended(child);
    await approve(await asked());
    await begun;
    const [approval] = (await fixture.service.list.approvals(adminCaller())).rows;
    const revoked = await fixture.service.revokeApproval(adminCaller(), { id: approval?.id ?? "" });
    expect(revoked.ok).toBe(true);
    expect((await end).code).not.toBe(0);
  },
  LONG,
);

describe("attack: the command, and the gateway with it, is killed with SIGKILL", () => {
  const curl = (path: string): string => `curl -q -sS -N -m 100 http://localhost:${port}${path}`;
  /** Holds the program's streams, and would hold them on. */
  const SLEEPER = "sleep 1000 &";
  /**
   * One connection after the other, by the shell itself. WHY no program: starting one is a call that stops at the supervisor,
   * which would notice there that nobody answers any more; this one is ended by nothing but the end of the channel.
   */
  const untrapped = (): string => `PORT=${port}; exec 2>/dev/null; while :; do
    if exec 3<>/dev/tcp/127.0.0.1/$PORT; then
      printf 'GET /declared?killed HTTP/1.0\\r\\nHost: localhost:%s\\r\\n\\r\\n' $PORT >&3
      while read -r line <&3; do echo "$line"; done; exec 3>&-
    fi
  done`;
  /** Its streams end only when nobody in the sandbox holds them any more. */
  async function killed(child: ChildProcess): Promise<string> {
    const end = ended(child);
    child.kill("SIGKILL");
    return (await end).stdout;
  }

  it(
    "amid one connection after the other: from then on nothing gets out",
    async () => {
      const child = start("/bin/bash", "--norc", "-c", untrapped());
      await printed(child, /hello GET\n/);
      await killed(child);
      const reached = seen.length;
      // WHY another one: it takes as long as an attempt of the first would.
      await ended(start("/usr/bin/curl", "-q", "-sS", `http://localhost:${port}/declared`));
      expect(seen.slice(reached)).toEqual(["GET /declared"]);
    },
    LONG,
  );

  it(
    "while a question waits: nobody can approve it any more, and nothing gets out",
    async () => {
      const child = start("/bin/sh", "-c", `${SLEEPER} ${curl("/waits")}; wait`);
      const request = await asked();
      const shown = await fixture.shown(request?.id);
      await killed(child);
      const status = async () =>
        (await fixture.service.list.request(adminCaller(), request?.id ?? ""))?.status;
      await expect.poll(status).toBe("cancelled");
      const decided = await fixture.service.approvePermanently(adminCaller(), shown);
      expect(decided).toMatchObject({ ok: false, code: "already_decided" });
      await ended(start("/usr/bin/curl", "-q", "-sS", `http://localhost:${port}/declared`));
      expect(seen).not.toContain("GET /waits");
    },
    LONG,
  );

  it(
    "while bytes flow: the connection to the server ends with it",
    async () => {
      const child = start("/bin/sh", "-c", `${SLEEPER} ${curl("/stream")}; wait`);
      const begun = printed(child, /begun/);
      await approve(await asked());
      await begun;
      const before = cut;
      await killed(child);
      await expect.poll(() => cut).toBe(before + 1);
    },
    LONG,
  );
});
