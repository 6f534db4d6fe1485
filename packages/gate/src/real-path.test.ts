/* oxlint-disable typescript/unbound-method, no-extend-native -- the attack is the point */
import { spawn } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { realPath } from "./real-path.ts";
import { type Folder, type Node, obviousWalk } from "./testing/obvious-walk.ts";

const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "sallyport-path-")));
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

let trees = 0;
/** A fresh folder that holds `entries`: text is a link, `null` a file, an object a folder. */
function tree(entries: Readonly<Record<string, unknown>>): string {
  const folder = join(base, `t${trees++}`);
  const fill = (place: string, content: Readonly<Record<string, unknown>>) => {
    fs.mkdirSync(place);
    for (const [name, entry] of Object.entries(content)) {
      const path = join(place, name);
      if (typeof entry === "string") fs.symlinkSync(entry.replace("@", folder), path);
      else if (entry === null) fs.writeFileSync(path, "");
      else fill(path, entry as Readonly<Record<string, unknown>>);
    }
  };
  fill(folder, entries);
  return folder;
}

/** Where the kernel ends up when it opens a path for reading or as a name; `undefined` where it refuses. */
function byKernel(path: string): string | undefined {
  let fd: number;
  try {
    fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`);
  } finally {
    fs.closeSync(fd);
  }
}

describe("a path that exists", () => {
  test("is its own real path where it holds no link", () => {
    const at = tree({ a: { b: null } });
    expect(realPath(`${at}/a/b`, "follow")).toBe(`${at}/a/b`);
    expect(realPath("/", "follow")).toBe("/");
    expect(realPath("/", "keep")).toBe("/");
  });

  test("loses doubled slashes, dots and a closing slash behind a folder", () => {
    const at = tree({ a: { b: null } });
    expect(realPath(`${at}//a/.//b`, "follow")).toBe(`${at}/a/b`);
    expect(realPath(`${at}/a/`, "follow")).toBe(`${at}/a`);
  });

  test("goes through a link before it goes up", () => {
    const at = tree({ real: { deep: {} }, x: null, link: "real/deep" });
    expect(realPath(`${at}/link/../x`, "follow")).toBe(`${at}/real/x`);
    expect(realPath(`${at}/link/..`, "follow")).toBe(`${at}/real`);
  });

  test("follows its last link, or keeps it", () => {
    const at = tree({ secret: null, link: "secret", folder: {}, toFolder: "folder" });
    expect(realPath(`${at}/link`, "follow")).toBe(`${at}/secret`);
    expect(realPath(`${at}/link`, "keep")).toBe(`${at}/link`);
    expect(realPath(`${at}/toFolder/`, "keep")).toBe(`${at}/folder`);
    expect(realPath(`${at}/toFolder/.`, "keep")).toBe(`${at}/folder`);
    expect(realPath(`${at}/toFolder/new`, "keep")).toBe(`${at}/folder/new`);
  });

  test("is refused where a file stands in for a folder", () => {
    const at = tree({ file: null, link: "file" });
    for (const path of ["file/", "file/.", "file/..", "file/x", "link/", "link/../file"]) {
      expect(realPath(`${at}/${path}`, "follow"), path).toBeUndefined();
    }
  });
});

describe("a path that does not exist yet", () => {
  test("is the real path of what exists with the rest behind it", () => {
    const at = tree({ real: {}, link: "real" });
    expect(realPath(`${at}/link/new/deeper`, "follow")).toBe(`${at}/real/new/deeper`);
    expect(realPath(`${at}/link/new/`, "follow")).toBe(`${at}/real/new`);
  });

  test("is where a dangling link would make it", () => {
    const at = tree({ link: "@/secret/new", secret: {}, second: "link" });
    expect(realPath(`${at}/link`, "follow")).toBe(`${at}/secret/new`);
    expect(realPath(`${at}/second`, "follow")).toBe(`${at}/secret/new`);
    expect(realPath(`${at}/second`, "keep")).toBe(`${at}/second`);
  });

  test("is refused where it goes up from a missing folder", () => {
    const at = tree({ a: {}, dangling: "nowhere/../a" });
    expect(realPath(`${at}/missing/../a`, "follow")).toBeUndefined();
    expect(realPath(`${at}/dangling`, "follow")).toBeUndefined();
  });
});

describe("a walk that cannot be made", () => {
  test("loops, or follows more than 40 links", () => {
    const chain = Object.fromEntries(
      Array.from({ length: 42 }, (_, index) => [`l${index}`, index === 0 ? "end" : `l${index - 1}`]),
    );
    const at = tree({ ...chain, end: null, a: "b", b: "a", self: "self/x" });
    expect(realPath(`${at}/l39`, "follow")).toBe(`${at}/end`);
    expect(byKernel(`${at}/l39`)).toBe(`${at}/end`);
    expect(realPath(`${at}/l40`, "follow")).toBeUndefined();
    expect(byKernel(`${at}/l40`)).toBeUndefined();
    expect(realPath(`${at}/a`, "follow")).toBeUndefined();
    expect(realPath(`${at}/self/y`, "keep")).toBeUndefined();
  });

  test("is longer than the kernel takes", () => {
    expect(realPath(`/${"a".repeat(256)}`, "follow")).toBeUndefined();
    expect(realPath(`${base}${"/.".repeat(2100)}`, "follow")).toBeUndefined();
    expect(realPath(`${base}${"/.".repeat(2100)}/x`, "keep")).toBeUndefined();
    expect(realPath(`${base}/${"\u00e9/".repeat(1400)}`, "follow")).toBeUndefined();
  });

  test("is relative or empty", () => {
    expect(realPath("a/b", "follow")).toBeUndefined();
    expect(realPath("", "follow")).toBeUndefined();
  });

  test("enters a folder that may not be searched", () => {
    const at = tree({ closed: { x: "y" } });
    fs.chmodSync(`${at}/closed`, 0o000);
    fs.chmodSync(base, 0o755);
    const isRoot = process.geteuid?.() === 0;
    try {
      if (isRoot) process.seteuid?.(65_534);
      expect(realPath(`${at}/closed/x`, "follow")).toBeUndefined();
      expect(realPath(`${at}/closed/x`, "keep")).toBeUndefined();
    } finally {
      if (isRoot) process.seteuid?.(0);
      fs.chmodSync(`${at}/closed`, 0o755);
    }
  });
});

describe("links of /proc", () => {
  test("are followed where their text names the same file", () => {
    expect(realPath(`/proc/self/root${base}`, "follow")).toBe(base);
    expect(realPath("/proc/self/cwd", "follow")).toBe(fs.realpathSync(process.cwd()));
    expect(realPath("/proc/self", "follow")).toBe(`/proc/${process.pid}`);
    expect(realPath("/proc/self", "keep")).toBe("/proc/self");
  });

  test("are refused where their text is not where they lead", () => {
    const file = join(base, "gone");
    const fd = fs.openSync(file, "w");
    fs.unlinkSync(file);
    fs.writeFileSync(`${file} (deleted)`, "");
    expect(realPath(`/proc/self/fd/${fd}`, "follow")).toBeUndefined();
    expect(realPath(`/proc/self/fd/${fd}`, "keep")).toBe(`/proc/${process.pid}/fd/${fd}`);
    fs.closeSync(fd);
  });
});

describe("surroundings that were tampered with", () => {
  test.each(["href", "code"])("`%s` on Object.prototype makes no link look plain", (name) => {
    const at = tree({ secret: null, link: "secret", dangling: "nothing" });
    const forged = { configurable: true, get: () => "EINVAL", set: () => undefined };
    Object.defineProperty(Object.prototype, name, forged);
    let answers: (string | undefined)[];
    try {
      answers = [realPath(`${at}/link`, "follow"), realPath(`${at}/missing`, "follow")];
    } finally {
      Reflect.deleteProperty(Object.prototype, name);
    }
    expect(answers.every((answer) => answer === undefined || answer === `${at}/secret`)).toBe(true);
  });

  test("a setter for `code` on Object.prototype makes no missing folder look like one", () => {
    const at = tree({ secret: null });
    const forge = function (this: object) {
      Reflect.defineProperty(this, "code", { value: "EINVAL" });
    };
    Object.defineProperty(Object.prototype, "code", { configurable: true, get: () => "EINVAL", set: forge });
    let answer: string | undefined;
    try {
      answer = realPath(`${at}/missing/../secret`, "follow");
    } finally {
      Reflect.deleteProperty(Object.prototype, "code");
    }
    expect(answer).toBeUndefined();
  });

  test("replaced functions of fs and String.prototype are not used", () => {
    const at = tree({ secret: null, link: "secret" });
    const saved = [
      fs.readlinkSync,
      fs.realpathSync.native,
      String.prototype.slice,
      String.prototype.charCodeAt,
    ] as const;
    let answer: string | undefined;
    try {
      Object.assign(fs, { readlinkSync: () => "/forged" });
      Object.assign(fs.realpathSync, { native: () => "/forged" });
      Object.assign(String.prototype, { slice: () => "/forged", charCodeAt: () => 0 });
      answer = realPath(`${at}/link`, "follow");
    } finally {
      Object.assign(fs, { readlinkSync: saved[0] });
      Object.assign(fs.realpathSync, { native: saved[1] });
      Object.assign(String.prototype, { slice: saved[2], charCodeAt: saved[3] });
    }
    expect(answer).toBe(`${at}/secret`);
  });
});

const NAMES = ["a", "b", "c"] as const;
const name = fc.constantFrom(...NAMES);
const step = fc.constantFrom(...NAMES, "..", ".");
const linkText = (root: string) =>
  fc
    .tuple(
      fc.constantFrom("", `${root}/`),
      fc.array(step, { minLength: 1, maxLength: 4 }),
      fc.constantFrom("", "/"),
    )
    .map(([start, names, end]) => `${start}${names.join("/")}${end}`);

function arbitraryTree(root: string): fc.Arbitrary<Folder> {
  const { node } = fc.letrec<{ node: Node }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3, depthIdentifier: "tree" },
      fc.constant<Node>({ kind: "file" }),
      linkText(root).map((to): Node => ({ kind: "link", to })),
      fc
        .dictionary(name, tie("node"), { maxKeys: 3 })
        .map((entries): Node => ({ kind: "folder", entries: new Map(Object.entries(entries)) })),
    ),
  }));
  return fc
    .dictionary(name, node, { maxKeys: 3 })
    .map((entries): Folder => ({ kind: "folder", entries: new Map(Object.entries(entries)) }));
}

function build(folder: Folder, place: string): void {
  fs.mkdirSync(place);
  for (const [entry, node] of folder.entries) {
    const path = `${place}/${entry}`;
    if (node.kind === "folder") build(node, path);
    else if (node.kind === "link") fs.symlinkSync(node.to, path);
    else fs.writeFileSync(path, "");
  }
}

/** The obvious walker, or `"outside"` where the walk leaves the tree it knows. */
function expected(
  folder: Folder,
  root: string,
  path: string,
  lastLink: "follow" | "keep",
): string | undefined {
  try {
    return obviousWalk(folder, root, path, lastLink);
  } catch {
    return "outside";
  }
}

test("agrees with an obvious walker and with the kernel on random trees, also after a tree was swapped", () => {
  const root = join(base, "random");
  const counts = { walked: 0, linked: 0, opened: 0, refused: 0 };
  const compare = (folder: Folder, paths: readonly string[]) => {
    for (const path of paths) {
      for (const lastLink of ["follow", "keep"] as const) {
        const want = expected(folder, root, path, lastLink);
        if (want === "outside") continue;
        const got = realPath(`${root}/${path}`, lastLink);
        expect(got, `${path} ${lastLink}`).toBe(want);
        counts.walked++;
        if (got === undefined) counts.refused++;
        else if (got !== `${root}/${path}`) counts.linked++;
        const kernel = lastLink === "follow" ? byKernel(`${root}/${path}`) : undefined;
        if (kernel !== undefined) {
          expect(got, `kernel ${path}`).toBe(kernel);
          counts.opened++;
        }
      }
    }
  };
  const paths = fc.array(
    fc
      .tuple(fc.array(step, { minLength: 1, maxLength: 6 }), fc.constantFrom("", "/"))
      .map(([names, end]) => names.join("/") + end),
    { minLength: 8, maxLength: 16 },
  );
  fc.assert(
    fc.property(arbitraryTree(root), arbitraryTree(root), paths, (first, second, asked) => {
      for (const folder of [first, second]) {
        fs.rmSync(root, { recursive: true, force: true });
        build(folder, root);
        compare(folder, asked);
      }
    }),
    { numRuns: 400, seed: 20_261_115 },
  );
  expect(counts.walked).toBeGreaterThan(3000);
  expect(counts.linked).toBeGreaterThan(300);
  expect(counts.opened).toBeGreaterThan(300);
  expect(counts.refused).toBeGreaterThan(300);
});

test("never leaves the two places that a link is swapped between by another process", () => {
  const at = tree({ left: { f: null }, right: { f: null }, link: "left" });
  const swapping = spawn("sh", ["-c", "while :; do ln -sfn right link; ln -sfn left link; done"], {
    cwd: at,
    stdio: "ignore",
  });
  const seen = new Set<string | undefined>();
  try {
    const both = () => seen.has(`${at}/left/f`) && seen.has(`${at}/right/f`);
    for (let round = 0; round < 200_000 && !(round > 3000 && both()); round++)
      seen.add(realPath(`${at}/link/f`, "follow"));
    expect(both()).toBe(true);
  } finally {
    swapping.kill("SIGKILL");
  }
  // A link that is away for a moment is a missing name.
  for (const answer of seen)
    expect([`${at}/left/f`, `${at}/right/f`, `${at}/link/f`, undefined]).toContain(answer);
});
