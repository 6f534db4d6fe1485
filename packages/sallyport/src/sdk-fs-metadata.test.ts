/** What the SDK does to files beside reading and writing: looked at, marked, cut, watched; each checked as the table says. */
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ExternalAccessError } from "@sallyport/contract";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Fixture, MEMBER, entry, openFixture } from "./testing/sallyport-fixture.ts";

const FILES = { type: "module", name: "files" } as const;
let fixture: Fixture;
let work: string;

function allow(...rights: readonly (readonly [operation: string, target: string])[]): void {
  const access = rights.map(([operation, target]) => entry("filesystem", operation, join(work, target)));
  const root = join(fixture.folder, "demo");
  const known = fixture.registry.registerModule({ name: "files", root, manifest: { access } });
  if (!known.ok) throw new Error(known.message);
}

const run = <R>(fn: () => R): R => fixture.runtime.run(FILES, MEMBER, fn);
const at = (...names: readonly string[]): string => join(work, ...names);

async function blocked(call: () => Promise<unknown>): Promise<readonly string[]> {
  const error = await run(call).catch((thrown: unknown) => thrown);
  if (!(error instanceof ExternalAccessError)) throw new Error(`not blocked: ${String(error)}`);
  return error.blocked.map(({ message }) => {
    const [, what = "", target = ""] = /filesystem (\w+) `([^`]*)`/.exec(message) ?? [];
    return `${what} ${target.replace(work, "").replace(/tmp-\w+/, "tmp-…")}`;
  });
}

beforeEach(async () => {
  fixture = await openFixture();
  work = join(fixture.folder, "work");
  mkdirSync(at("in"));
  mkdirSync(at("secret"));
  writeFileSync(at("in", "a.txt"), "abc");
  writeFileSync(at("secret", "key"), "key");
  symlinkSync("../secret/key", at("in", "link"));
});
afterEach(() => fixture.close());

describe("an operation on a file", () => {
  it("does what is declared", async () => {
    allow(["read", "in/"], ["create", "in/"], ["modify", "in/"], ["delete", "in/"]);
    const { fs } = fixture.sdk;
    await run(async () => {
      await fs.chmod(at("in", "a.txt"), 0o640);
      await fs.utimes(at("in", "a.txt"), 1000, new Date(2_000_000));
      await fs.chown(at("in", "a.txt"), process.getuid?.() ?? 0, process.getgid?.() ?? 0);
      await fs.truncate(at("in", "a.txt"), 1);
      expect(await fs.exists(at("in", "a.txt"))).toBe(true);
      expect(await fs.exists(at("in", "none"))).toBe(false);
      await fs.access(at("in", "a.txt"));
      await expect(fs.access(at("in", "none"))).rejects.toMatchObject({ code: "ENOENT" });
      expect(await fs.readlink(at("in", "link"))).toBe("../secret/key");
      expect(await fs.realpath(at("in", "..", "in", "a.txt"))).toBe(at("in", "a.txt"));
      const made = await fs.mkdtemp(at("in", "tmp-"));
      expect(statSync(made).mode & 0o777).toBe(0o700);
      await fs.rmdir(made);
      expect(existsSync(made)).toBe(false);
    });
    const { mode, mtimeMs } = statSync(at("in", "a.txt"));
    expect([mode & 0o777, readFileSync(at("in", "a.txt"), "utf8")]).toEqual([0o640, "a"]);
    expect(mtimeMs).toBeGreaterThan(2_000_000);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ["chmod", () => fixture.sdk.fs.chmod(at("secret", "key"), 0o777), "modify /secret/key"],
    ["chown", () => fixture.sdk.fs.chown(at("secret", "key"), 0, 0), "modify /secret/key"],
    ["utimes", () => fixture.sdk.fs.utimes(at("secret", "key"), 0, 0), "modify /secret/key"],
    ["truncate", () => fixture.sdk.fs.truncate(at("secret", "key")), "modify /secret/key"],
    ["exists", () => fixture.sdk.fs.exists(at("secret", "none")), "read /secret/none"],
    ["access", () => fixture.sdk.fs.access(at("secret", "key")), "read /secret/key"],
    ["readlink", () => fixture.sdk.fs.readlink(at("secret", "key")), "read /secret/key"],
    ["realpath", () => fixture.sdk.fs.realpath(at("secret", "key")), "read /secret/key"],
    ["mkdtemp", () => fixture.sdk.fs.mkdtemp(at("secret", "tmp-")), "create /secret/tmp-…"],
    ["rmdir", () => fixture.sdk.fs.rmdir(at("secret")), "delete /secret"],
    ["watch", () => first(fixture.sdk.fs.watch(at("secret"))), "read /secret"],
  ])("%s is checked as the table says", async (_, call, part) => {
    allow(["read", "in/"], ["modify", "in/"]);
    expect(await blocked(call)).toEqual([part]);
    expect(readFileSync(at("secret", "key"), "utf8")).toBe("key");
  });

  it("goes where the link leads, and is checked there", async () => {
    allow(["read", "in/"], ["modify", "in/"]);
    const link = at("in", "link");
    const { fs } = fixture.sdk;
    for (const call of [
      () => fs.chmod(link, 0o777),
      () => fs.truncate(link),
      () => fs.utimes(link, 0, 0),
      () => fs.chown(link, 0, 0),
    ])
      expect(await blocked(call)).toEqual(["modify /secret/key"]);
    expect(await blocked(() => fs.exists(link))).toEqual(["read /secret/key"]);
    expect(await run(() => fs.readlink(link))).toBe("../secret/key");
  });

  it("reading does not allow to change, nor changing to read", async () => {
    allow(["read", "in/"]);
    expect(await blocked(() => fixture.sdk.fs.chmod(at("in", "a.txt"), 0o777))).toEqual(["modify /in/a.txt"]);
    await fixture.close();
    fixture = await openFixture();
    work = join(fixture.folder, "work");
    mkdirSync(at("in"));
    writeFileSync(at("in", "a.txt"), "abc");
    allow(["modify", "in/"]);
    expect(await blocked(() => fixture.sdk.fs.exists(at("in", "a.txt")))).toEqual(["read /in/a.txt"]);
  });

  it("refuses a mode that is none", async () => {
    allow(["modify", "in/"]);
    for (const mode of [-1, 0o10000, 1.5, Number.NaN, "777" as never])
      await expect(run(() => fixture.sdk.fs.chmod(at("in", "a.txt"), mode))).rejects.toThrow(TypeError);
  });

  it("tells of changes until its signal stops it", async () => {
    allow(["read", "in/"]);
    const stop = new AbortController();
    const changes = run(() => fixture.sdk.fs.watch(at("in"), { signal: stop.signal }));
    const seen: string[] = [];
    const watching = run(async () => {
      for await (const { name } of changes) {
        seen.push(name ?? "");
        stop.abort();
      }
    });
    while (seen.length === 0) {
      writeFileSync(at("in", "new.txt"), "x");
      await new Promise((resolve) => setImmediate(resolve));
    }
    await watching;
    expect(seen).toContain("new.txt");
  });
});

async function first<T>(values: AsyncIterable<T>): Promise<T | undefined> {
  for await (const value of values) return value;
  return undefined;
}
