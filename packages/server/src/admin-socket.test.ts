import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type DoorWatch, listenOnSocket } from "./admin-socket.ts";
import { asked } from "./testing/person-browser.ts";
import { type ServerFixture, openServer } from "./testing/server-fixture.ts";

let fixture: ServerFixture | undefined;
let folder: string | undefined;
afterEach(async () => {
  await fixture?.close();
  fixture = undefined;
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
});

interface Heard {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

/** `null`: the connection ended without an answer. */
function over(socketPath: string, path: string, body?: unknown, agent?: Agent): Promise<Heard | null> {
  return new Promise((resolve) => {
    const call = request(
      {
        socketPath,
        path,
        agent: agent ?? false,
        method: body === undefined ? "GET" : "POST",
        headers: body === undefined ? {} : { "content-type": "application/json" },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => (text += part));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) as Heard["json"] }),
        );
      },
    );
    call.once("error", () => resolve(null));
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** What a program in the place of ours might say: nothing, root and then fail, too much, what is no number. */
const PRETENDERS = ["exit 0", "echo 0 1; exit 1", "echo 0 1; kill -9 $$", "echo 0 1; echo 0 1", "echo -0 1"];

describe("the admin socket", () => {
  it("is its owner's alone, and whoever opens it is the local administrator", async () => {
    fixture = await openServer({ admin: {} });
    const path = join(fixture.folder, "admin.sock");
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(lstatSync(fixture.folder).mode & 0o077).toBe(0);
    const session = await over(path, "/v1/session");
    expect(session?.json).toMatchObject({
      user: { id: `local:${process.getuid?.()}`, name: "local administrator" },
      way: "socket",
      may_decide: true,
      csrf_token: null,
    });
    const { requestId, digest } = await asked(fixture, "a");
    const by = { kind: "request", request_id: requestId, digest };
    expect((await over(path, "/v1/decisions/deny", { by, words: {} }))?.json).toMatchObject({ ok: true });
    const link = await over(path, "/v1/sign-in/links", { name: "lost" });
    expect(String(link?.json["url"])).toContain(`${fixture.origin}/#token=`);
  });

  it("closes its door while the folder is open to others, and opens it again", async () => {
    fixture = await openServer({ admin: {} });
    const path = join(fixture.folder, "admin.sock");
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await over(path, "/v1/session", undefined, agent))?.status).toBe(200);
    chmodSync(fixture.folder, 0o755);
    expect(await over(path, "/v1/session")).toBeNull();
    const older = await over(path, "/v1/freeze", { frozen: true }, agent);
    expect(older).toMatchObject({ status: 403, json: { code: "permission_error" } });
    expect(fixture.service.overview.stateUnchecked().freeze.frozen).toBe(false);
    agent.destroy();
    chmodSync(fixture.folder, 0o700);
    expect((await over(path, "/v1/session"))?.status).toBe(200);
    chmodSync(path, 0o666);
    expect(await over(path, "/v1/session")).toBeNull();
    chmodSync(path, 0o600);
  });

  it("has the administration API and nothing of remote hosts", async () => {
    fixture = await openServer({ admin: {} });
    const path = join(fixture.folder, "admin.sock");
    expect((await over(path, "/v1/runtime/check", {}))?.status).toBe(404);
    expect((await over(path, "/v1/permission-state"))?.status).toBe(200);
  });

  it("is gone with the server", async () => {
    fixture = await openServer({ admin: {} });
    const path = join(fixture.folder, "admin.sock");
    await fixture.listening.close();
    expect(existsSync(path)).toBe(false);
  });

  it("refuses a folder that is open to others, a file in its place, and a socket that is in use", async () => {
    folder = mkdtempSync(join(tmpdir(), "sallyport-socket-"));
    const inside = (name: string, mode: number): string => {
      const place = join(folder as string, name);
      mkdirSync(place);
      chmodSync(place, mode);
      return join(place, "admin.sock");
    };
    const peers = { kind: "modes_only", reason: "a test" } as const;
    const watch: DoorWatch = { closing: new AbortController().signal, onRefused: () => undefined };
    const opened = (path: string, server = createServer((_, response) => response.end())) =>
      listenOnSocket(server, { path, peers }, watch);
    await expect(opened(inside("open", 0o755))).rejects.toThrow("open to others");
    await expect(opened(join(folder, "none", "admin.sock"))).rejects.toThrow("not a folder");
    await expect(opened(inside("x".repeat(100), 0o700))).rejects.toThrow("too long");
    const taken = inside("taken", 0o700);
    writeFileSync(taken, "not a socket");
    await expect(opened(taken)).rejects.toThrow("in the way");
    const used = inside("used", 0o700);
    const first = createServer((_, response) => response.end());
    await opened(used, first);
    await expect(opened(used)).rejects.toThrow("in use");
    await new Promise((resolve) => first.close(resolve));
  });

  it("attack: whatever does not say plainly that the peer is the owner or root lets nobody in, also while the server closes", async () => {
    folder = mkdtempSync(join(tmpdir(), "sallyport-peer-"));
    const path = join(folder, "admin.sock");
    const program = join(folder, "peer-uid");
    const refused: string[] = [];
    const heard: (Heard | null)[] = [];
    const closing = new AbortController();
    const watch: DoorWatch = { closing: closing.signal, onRefused: (reason) => refused.push(reason) };
    const server = createServer((_, response) => response.end("{}"));
    await listenOnSocket(server, { path, peers: { kind: "program", path: program } }, watch);
    const ask = async (script: string | null): Promise<void> => {
      rmSync(program, { force: true });
      if (script !== null) writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      heard.push(await over(path, "/v1/session"));
    };
    for (const script of PRETENDERS) await ask(script);
    await ask(null);
    await ask("echo 65533 1");
    expect(heard).toEqual(Array(PRETENDERS.length + 2).fill(null));
    expect(refused.filter((reason) => reason.includes("could not be told"))).toHaveLength(
      PRETENDERS.length + 1,
    );
    expect(refused.at(-1)).toContain("user 65533 (process 1)");
    await ask(`echo ${process.getuid?.()} 1`);
    expect(heard.at(-1)).toMatchObject({ status: 200 });
    const told = refused.length;
    const started = join(folder, "started");
    const late = ask(`: >${started}; exec sleep 1000`);
    await expect.poll(() => existsSync(started)).toBe(true);
    closing.abort();
    await new Promise((resolve) => server.close(resolve));
    await late;
    expect([heard.at(-1), refused.length]).toEqual([null, told]);
  });
});
