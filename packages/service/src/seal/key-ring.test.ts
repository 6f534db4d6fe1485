/** The key ring as a value and as a file. */
import {
  chmod,
  mkdtemp,
  open,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type RingFiles,
  type RingHandle,
  type RingPlace,
  loadKeyRing,
  saveKeyRing,
} from "./key-ring-file.ts";
import {
  type KeyRing,
  activeKey,
  formatKeyRing,
  newKeyRing,
  parseKeyRing,
  retireKey,
  rotateKeyRing,
} from "./key-ring.ts";

const NOW = "2026-01-31T09:30:00Z";
const FILES: RingFiles = { open, rename, unlink };

const texts = ({ keys }: KeyRing): unknown =>
  keys.map(({ id, state, createdAt, key }) => [id, state, createdAt, key?.export().toString("hex")]);

describe("a key ring", () => {
  it("has one active key through every rotation", () => {
    let ring = newKeyRing(NOW);
    for (let round = 0; round < 5; round++) ring = rotateKeyRing(ring, NOW);
    expect(ring.keys.map(({ state }) => state)).toEqual(["kept", "kept", "kept", "kept", "kept", "active"]);
    expect(new Set(ring.keys.map(({ id }) => id)).size).toBe(6);
    expect(Object.isFrozen(ring.keys) && ring.keys.every((key) => Object.isFrozen(key))).toBe(true);
  });

  it("forgets the bytes of a retired key and remembers its id", () => {
    const old = newKeyRing(NOW);
    const { id, key } = activeKey(old);
    const result = retireKey(rotateKeyRing(old, NOW), id);
    expect(result.ok && result.ring.keys[0]).toEqual({
      id,
      state: "retired",
      createdAt: NOW,
      key: undefined,
    });
    expect(result.ok && formatKeyRing(result.ring)).not.toContain(key.export().toString("base64"));
  });

  it("retires neither its active key nor one it never had", () => {
    const ring = newKeyRing(NOW);
    expect(retireKey(ring, activeKey(ring).id)).toMatchObject({
      ok: false,
      message: expect.stringContaining("rotate the ring first"),
    });
    expect(retireKey(ring, "x")).toMatchObject({ ok: false, message: "there is no key `x`: list the ring" });
  });

  it("is read again as it was written", () => {
    const first = newKeyRing(NOW);
    const retired = retireKey(rotateKeyRing(rotateKeyRing(first, NOW), NOW), activeKey(first).id);
    if (!retired.ok) throw new Error(retired.message);
    const { ring } = retired;
    const read = parseKeyRing(formatKeyRing(ring));
    expect(read.ok && texts(read.ring)).toEqual(texts(ring));
  });

  it.each<readonly [string, (file: { format: unknown; keys: Record<string, unknown>[] }) => unknown]>([
    ["another format", (file) => ({ ...file, format: 2 })],
    ["no keys", (file) => ({ ...file, keys: [] })],
    ["keys that are no list", (file) => ({ ...file, keys: {} })],
    [
      "two active keys",
      ({ keys }) => ({ format: 1, keys: keys.map((key) => ({ ...key, state: "active" })) }),
    ],
    ["no active key", ({ keys }) => ({ format: 1, keys: keys.map((key) => ({ ...key, state: "kept" })) })],
    [
      "one id twice",
      ({ keys: [first, second] }) => ({ format: 1, keys: [{ ...first, id: second?.["id"] }, second] }),
    ],
    ["a short key", ({ keys: [, second] }) => ({ format: 1, keys: [{ ...second, material: "AAAA" }] })],
    [
      "a key that is not Base64",
      ({ keys: [, second] }) => ({
        format: 1,
        keys: [{ ...second, material: `${String(second?.["material"])} ` }],
      }),
    ],
    [
      "a retired key with its bytes",
      ({ keys: [first, second] }) => ({ format: 1, keys: [{ ...first, state: "retired" }, second] }),
    ],
    [
      "an unknown state",
      ({ keys: [first, second] }) => ({ format: 1, keys: [{ ...first, state: "toString" }, second] }),
    ],
    [
      "an id of another form",
      ({ keys: [first, second] }) => ({ format: 1, keys: [{ ...first, id: "../x" }, second] }),
    ],
    ["a list", () => []],
    ["nothing", () => null],
  ])("is refused with %s, and the message holds no key", (_, change) => {
    const ring = rotateKeyRing(newKeyRing(NOW), NOW);
    const file = JSON.parse(formatKeyRing(ring)) as { format: number; keys: Record<string, unknown>[] };
    const read = parseKeyRing(JSON.stringify(change(file)));
    expect(read.ok).toBe(false);
    for (const { material } of file.keys)
      expect(JSON.stringify(read)).not.toContain(String(material).slice(0, 8));
  });
});

describe("the key file", () => {
  let folder: string;
  let place: RingPlace;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sallyport-ring-"));
    place = { files: FILES, folder, name: "keys.json" };
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function loaded(from = place): Promise<unknown> {
    const result = await loadKeyRing(from);
    return result.ok === true ? texts(result.ring) : result;
  }

  it("is missing before it is saved, and the owner's alone afterwards", async () => {
    expect(await loaded()).toEqual({ ok: "missing" });
    const ring = newKeyRing(NOW);
    await saveKeyRing(place, ring);
    expect(await loaded()).toEqual(texts(ring));
    expect((await stat(join(folder, "keys.json"))).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(["keys.json"]);
  });

  it("is not used where others can read or write it", async () => {
    await saveKeyRing(place, newKeyRing(NOW));
    for (const mode of [0o640, 0o604, 0o620, 0o602, 0o601]) {
      await chmod(join(folder, "keys.json"), mode);
      expect(await loaded()).toMatchObject({ ok: false, message: expect.stringContaining("open to others") });
    }
  });

  it("is not used through a link, as a folder, or damaged", async () => {
    await saveKeyRing({ ...place, name: "real.json" }, newKeyRing(NOW));
    await symlink("real.json", join(folder, "keys.json"));
    expect(await loaded()).toMatchObject({ ok: false, message: expect.stringContaining("it is a link") });
    expect(await loaded({ ...place, name: "." })).toMatchObject({ ok: false });
    await writeFile(join(folder, "torn.json"), (await readFile(join(folder, "real.json"))).subarray(0, 40), {
      mode: 0o600,
    });
    expect(await loaded({ ...place, name: "torn.json" })).toMatchObject({
      ok: false,
      message: expect.stringContaining("backup"),
    });
  });

  it("is saved again after a crash left a half-written one beside it", async () => {
    await writeFile(join(folder, "keys.json.new"), "{");
    const ring = newKeyRing(NOW);
    await saveKeyRing(place, ring);
    expect(await loaded()).toEqual(texts(ring));
  });

  /** Every call is written down; the one at `failAt` and all after it fail as in a crash. */
  function crashing(failAt: number): { readonly files: RingFiles; readonly calls: string[] } {
    const calls: string[] = [];
    const step = async <T>(name: string, act: () => Promise<T>): Promise<T> => {
      calls.push(name);
      if (calls.length > failAt) throw new Error("crash");
      return act();
    };
    const wrapped = (handle: RingHandle, kind: string): RingHandle => ({
      chmod: (mode) => step(`${kind} chmod`, () => handle.chmod(mode)),
      writeFile: (data, options) => step(`${kind} writeFile`, () => handle.writeFile(data, options)),
      sync: () => step(`${kind} sync`, () => handle.sync()),
      readFile: handle.readFile.bind(handle),
      stat: handle.stat.bind(handle),
      close: () => handle.close(),
    });
    const files: RingFiles = {
      open: (path, flags, mode) => {
        const kind = path === folder ? "folder" : "file";
        return step(`${kind} open`, async () => wrapped(await open(path, flags, mode), kind));
      },
      rename: (from, to) => step("rename", () => rename(from, to)),
      unlink: (path) => step("unlink", () => unlink(path)),
    };
    return { files, calls };
  }

  it("is the old ring or the new one after a crash at any call", async () => {
    const whole = crashing(Number.POSITIVE_INFINITY);
    const old = newKeyRing(NOW);
    await saveKeyRing({ ...place, files: whole.files }, old);
    expect(whole.calls).toEqual([
      "unlink",
      "file open",
      "file chmod",
      "file writeFile",
      "file sync",
      "rename",
      "folder open",
      "folder sync",
    ]);
    for (let failAt = 0; failAt < whole.calls.length; failAt++) {
      await saveKeyRing(place, old);
      const next = rotateKeyRing(old, NOW);
      await expect(saveKeyRing({ ...place, files: crashing(failAt).files }, next)).rejects.toThrow("crash");
      expect(await loaded()).toEqual(texts(failAt >= 6 ? next : old));
    }
  });
});
