/** The packages as they are published: packed, installed in an empty folder, and used where there is no compiler. */
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-release-test-")));
const [tarballs, place, home] = ["tarballs", "place", "home"].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];
const SANDBOX = join(place, "node_modules", "@sallyport", "sandbox");
let printed: string;

/** What others wrote. WHY from here: a test asks no registry, and Sallyport's own packages are what is tried out. */
async function bringDependencies(): Promise<void> {
  const listed = await run("npm", ["ls", "--omit=dev", "--all", "--parseable", "-w", "sallyport"], {
    cwd: root,
  });
  const modules = join(realpathSync(root), "node_modules");
  for (const path of listed.stdout.split("\n")) {
    const name = relative(modules, path);
    if (path === "" || name.startsWith("..") || /^(?:@sallyport|sallyport)(?:\/|$)/.test(name)) continue;
    cpSync(path, join(place, "node_modules", name), { recursive: true });
  }
}

beforeAll(async () => {
  for (const path of [join(place, "node_modules"), home]) mkdirSync(path, { recursive: true });
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: "empty", private: true }));
  const tool = join(root, "tools", "release.mjs");
  printed = (await run(process.execPath, [tool, "--built", "--out", tarballs])).stdout;
  await bringDependencies();
  const files = readdirSync(tarballs).map((name) => join(tarballs, name));
  await run("npm", ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", ...files], {
    cwd: place,
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The command as it was installed, where nothing is on the path: no compiler either. */
async function sallyport(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly stdout: string }> {
  const command = join(place, "node_modules", ".bin", "sallyport");
  const env = { PATH: join(folder, "nothing-is-here"), HOME: home };
  try {
    const { stdout } = await run(process.execPath, [command, ...args], { cwd: place, env });
    return { code: 0, stdout };
  } catch (error) {
    const { code, stdout } = error as { readonly code: number; readonly stdout: string };
    return { code, stdout };
  }
}

test("a program runs confined without any compiler, and doctor says which launcher it is", async () => {
  const { stdout } = await sallyport("doctor", "--json");
  const { ok, findings } = JSON.parse(stdout) as {
    readonly ok: boolean;
    readonly findings: readonly { readonly name: string; readonly found: string }[];
  };
  expect(ok).toBe(true);
  const found = new Map(findings.map(({ name, found: words }) => [name, words]));
  expect(found.get("wall: launcher")).toMatch(
    /-prebuilt\/launcher`, prebuilt at release from these sources$/,
  );
  expect(found.get("admin socket")).toBe("who connects is read from the kernel");
  const script = "echo confined; echo x > made";
  const ran = await sallyport(
    "run",
    "--no-wait",
    "--data",
    join(place, "data"),
    "--",
    "/bin/sh",
    "-c",
    script,
  );
  expect(ran.stdout).toBe("confined\n");
  expect(ran.code).not.toBe(0);
  expect(existsSync(join(place, "made"))).toBe(false);
});

test("launcher, relay and the reader of peers come for each architecture that is named as built", () => {
  const made = [...printed.matchAll(/^(x64|arm64) (\S+) with /gm)].map(([, arch, name]) => `${arch} ${name}`);
  expect(made).toEqual(expect.arrayContaining(["x64 launcher", "x64 terminal-relay", "x64 peer-uid"]));
  const isForArm = made.includes("arm64 launcher");
  expect(printed.includes("nothing prebuilt for arm64")).toBe(!isForArm);
  const brought = (name: string): readonly string[] => readdirSync(join(SANDBOX, "native", name));
  const architectures = isForArm ? ["linux-arm64", "linux-x64"] : ["linux-x64"];
  for (const name of ["prebuilt", "terminal/prebuilt"]) expect(brought(name)).toEqual(architectures);
});

test("what is for tests is no part of a package, and the clone holds no binary afterwards", () => {
  const native = readdirSync(join(SANDBOX, "native"));
  expect(native).toContain("main.c");
  expect(native.filter((name) => name.startsWith("fuzz-"))).toEqual([]);
  expect(existsSync(join(root, "packages", "sandbox", "native", "prebuilt"))).toBe(false);
  expect(existsSync(join(dirname(SANDBOX), "console", "dist-web", "index.html"))).toBe(true);
});

test("attack: a compiler's output of other sources is not what runs after the sources were changed", async () => {
  const header = join(SANDBOX, "native", "parts.h");
  writeFileSync(header, "/* changed */\n");
  rmSync(join(home, ".cache"), { recursive: true, force: true });
  const { code, stdout } = await sallyport("doctor", "--json");
  expect(code).not.toBe(0);
  expect(stdout).toContain("was built from other sources");
});
