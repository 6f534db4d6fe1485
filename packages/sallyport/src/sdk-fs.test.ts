/** File operations of the SDK: checked part by part, done at the path that was checked. */
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AccessPendingError, ExternalAccessError } from "@sallyport/contract";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ADMIN, type Fixture, MEMBER, entry, openFixture } from "./testing/sallyport-fixture.ts";

const FILES = { type: "module", name: "files" } as const;
let fixture: Fixture;
let work: string;

/** Registers the module with rights such as `["read", "in/"]`, relative to the work folder. */
function allow(...rights: readonly (readonly [operation: string, target: string])[]): void {
  const access = rights.map(([operation, target]) => entry("filesystem", operation, join(work, target)));
  const manifest = { access };
  const known = fixture.registry.registerModule({
    name: "files",
    root: join(fixture.folder, "demo"),
    manifest,
  });
  if (!known.ok) throw new Error(known.message);
}

const run = <R>(fn: () => R): R => fixture.runtime.run(FILES, MEMBER, fn);
const at = (...names: readonly string[]): string => join(work, ...names);

/** The blocked parts, as the error names them. */
async function blocked(call: () => Promise<unknown>): Promise<readonly string[]> {
  const error = await run(call).catch((thrown: unknown) => thrown);
  if (!(error instanceof ExternalAccessError)) throw new Error(`not blocked: ${String(error)}`);
  return error.blocked.map(({ message }) => {
    const [, what = "", target = ""] = /filesystem (\w+) `([^`]*)`/.exec(message) ?? [];
    return `${what} ${target.replace(work, "")}`;
  });
}

beforeEach(async () => {
  fixture = await openFixture();
  work = join(fixture.folder, "work");
  for (const folder of ["in", "out", "secret"]) mkdirSync(at(folder));
  writeFileSync(at("in", "a.txt"), "a");
  writeFileSync(at("secret", "key"), "key");
});
afterEach(() => fixture.close());

describe("a file operation", () => {
  it("does what is declared", async () => {
    allow(["read", "in/"], ["create", "out/"], ["modify", "out/"], ["delete", "out/"], ["read", "out/"]);
    const { fs } = fixture.sdk;
    await run(async () => {
      expect(await fs.readFile(at("in", "a.txt"), "utf8")).toBe("a");
      await fs.writeFile(at("out", "b"), "b");
      await fs.appendFile(at("out", "b"), "c");
      await fs.copyFile(at("in", "a.txt"), at("out", "copy"));
      await fs.rename(at("out", "copy"), at("out", "moved"));
      await fs.mkdir(at("out", "x", "y"), { recursive: true });
      await fs.symlink("../moved", at("out", "x", "link"));
      const file = await fs.open(at("out", "b"), "r+");
      await file.write("B", 0);
      await file.close();
      expect((await fs.readdir(at("out"))).map(({ name }) => name).toSorted()).toEqual(["b", "moved", "x"]);
      expect((await fs.stat(at("out", "b"))).size).toBe(2);
      await fs.rm(at("out", "x"), { recursive: true });
    });
    expect(readFileSync(at("out", "b"), "utf8")).toBe("Bc");
    expect([existsSync(at("out", "x")), existsSync(at("out", "moved"))]).toEqual([false, true]);
  });

  it.each([
    ["readFile", () => fixture.sdk.fs.readFile(at("secret", "key")), ["read /secret/key"]],
    ["stat", () => fixture.sdk.fs.stat(at("secret")), ["read /secret"]],
    ["readdir", () => fixture.sdk.fs.readdir(at("secret")), ["read /secret"]],
    ["writeFile of a new file", () => fixture.sdk.fs.writeFile(at("secret", "n"), ""), ["create /secret/n"]],
    [
      "writeFile over a file",
      () => fixture.sdk.fs.writeFile(at("secret", "key"), ""),
      ["modify /secret/key"],
    ],
    ["appendFile", () => fixture.sdk.fs.appendFile(at("secret", "key"), ""), ["modify /secret/key"]],
    ["r+", () => fixture.sdk.fs.open(at("secret", "key"), "r+"), ["read /secret/key", "modify /secret/key"]],
    ["w+", () => fixture.sdk.fs.open(at("secret", "n"), "w+"), ["read /secret/n", "create /secret/n"]],
    ["a+", () => fixture.sdk.fs.open(at("secret", "key"), "a+"), ["read /secret/key", "modify /secret/key"]],
    ["mkdir", () => fixture.sdk.fs.mkdir(at("n", "m"), { recursive: true }), ["create /n", "create /n/m"]],
    ["unlink", () => fixture.sdk.fs.unlink(at("secret", "key")), ["delete /secret/key"]],
    [
      "rm",
      () => fixture.sdk.fs.rm(at("secret"), { recursive: true }),
      ["delete /secret", "delete /secret/key"],
    ],
    [
      "rename",
      () => fixture.sdk.fs.rename(at("secret", "key"), at("k")),
      ["delete /secret/key", "create /k"],
    ],
    [
      "rename over a file",
      () => fixture.sdk.fs.rename(at("secret", "key"), at("in", "a.txt")),
      ["delete /secret/key", "modify /in/a.txt"],
    ],
    [
      "copyFile",
      () => fixture.sdk.fs.copyFile(at("secret", "key"), at("k")),
      ["read /secret/key", "create /k"],
    ],
    ["link", () => fixture.sdk.fs.link(at("secret", "key"), at("k")), ["read /secret/key", "create /k"]],
    ["symlink", () => fixture.sdk.fs.symlink("secret", at("k")), ["create /k"]],
  ])("names every blocked part of %s and does nothing", async (_, call, parts) => {
    allow();
    expect(await blocked(call)).toEqual(parts);
    expect(readFileSync(at("secret", "key"), "utf8")).toBe("key");
    expect(existsSync(at("k"))).toBe(false);
    const { rows } = await fixture.service.list.requests(
      fixture.runtime.runAsHost(ADMIN, () => fixture.runtime.caller()),
    );
    expect(rows).toHaveLength(parts.length);
  });

  it("waits for a person part by part, and then goes through", async () => {
    allow(["read", "in/"]);
    const copy = () => fixture.sdk.fs.copyFile(at("in", "a.txt"), at("out", "a.txt"));
    const error = await run(copy).catch((thrown: unknown) => thrown);
    if (!(error instanceof AccessPendingError)) throw new Error("is not pending");
    const by = await fixture.shown(error.requestId);
    await fixture.runtime.runAsHost(ADMIN, () => fixture.sdk.access.approveForSession(by));
    await run(copy);
    expect(readFileSync(at("out", "a.txt"), "utf8")).toBe("a");
  });

  it("does not spend a counted approval where another part is blocked", async () => {
    allow();
    const whose = { subjectType: "module", subjectName: "files", maxUses: 1 } as const;
    const read = { resourceType: "filesystem", operation: "read", target: at("in", "a.txt") } as const;
    const create = { ...read, operation: "create", target: at("out", "a.txt") } as const;
    const approve = (access: typeof read | typeof create) =>
      fixture.runtime.runAsHost(ADMIN, () => fixture.sdk.access.approvePermanently({ ...access, ...whose }));
    await approve(read);
    const copy = () => fixture.sdk.fs.copyFile(at("in", "a.txt"), at("out", "a.txt"));
    expect(await blocked(copy)).toEqual(["create /out/a.txt"]);
    await approve(create);
    await run(copy);
    expect(await blocked(copy)).toEqual(["read /in/a.txt", "modify /out/a.txt"]);
  });
});

describe("an escape by another name is refused:", () => {
  it("a path through a link", async () => {
    allow(["read", "in/"]);
    symlinkSync("../secret", at("in", "way"));
    expect(await blocked(() => fixture.sdk.fs.readFile(at("in", "way", "key")))).toEqual([
      "read /secret/key",
    ]);
    expect(await blocked(() => fixture.sdk.fs.readFile(`${at("in")}/way/../secret/key`))).toEqual([
      "read /secret/key",
    ]);
  });

  it("a dangling link as the target of a write", async () => {
    allow(["create", "out/"], ["modify", "out/"]);
    symlinkSync("../secret/made", at("out", "way"));
    expect(await blocked(() => fixture.sdk.fs.writeFile(at("out", "way"), "x"))).toEqual([
      "create /secret/made",
    ]);
    expect(existsSync(at("secret", "made"))).toBe(false);
  });

  it("a rename that would make a file readable or executable", async () => {
    allow(["delete", "secret/"], ["create", "out/"], ["read", "out/"], ["execute", "out/"]);
    expect(await blocked(() => fixture.sdk.fs.rename(at("secret", "key"), at("out", "key")))).toEqual([
      "read /secret/key",
      "execute /secret/key",
    ]);
    expect(existsSync(at("secret", "key"))).toBe(true);
  });

  it("a rename of a folder that would make its files readable", async () => {
    allow(["delete", "secret/"], ["create", "out/"], ["read", "out/"], ["read", "secret"]);
    expect(await blocked(() => fixture.sdk.fs.rename(at("secret"), at("out", "s")))).toEqual([
      "read /secret/key",
    ]);
  });

  it("a hard link that would make a file modifiable", async () => {
    allow(["read", "secret/"], ["create", "out/"], ["modify", "out/"]);
    expect(await blocked(() => fixture.sdk.fs.link(at("secret", "key"), at("out", "key")))).toEqual([
      "modify /secret/key",
    ]);
  });

  it("the removal of a link takes the link and not where it leads", async () => {
    allow(["delete", "out/"]);
    symlinkSync("../secret", at("out", "way"));
    await run(() => fixture.sdk.fs.rm(at("out", "way"), { recursive: true }));
    expect(existsSync(at("secret", "key"))).toBe(true);
    expect(lstatSync(at("out", "way"), { throwIfNoEntry: false })).toBeUndefined();
  });

  it("the data folder, also as part of a removal", async () => {
    allow(["delete", "../"], ["read", "../"]);
    const call = () => fixture.sdk.fs.rm(fixture.folder, { recursive: true });
    expect((await blocked(call)).some((part) => part.endsWith("key-ring.json"))).toBe(true);
    expect(
      await blocked(() => fixture.sdk.fs.readFile(join(fixture.dataFolder, "masking.key"))),
    ).toHaveLength(1);
  });

  it("no subject", async () => {
    const error = await fixture.sdk.fs.readFile(at("in", "a.txt")).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "ERR_ACCESS_DENIED", check: { code: "no_subject" } });
  });
});
