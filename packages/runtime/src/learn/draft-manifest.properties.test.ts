/** A learned manifest allows what was seen, by the engine that decides, and nothing beside it. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { declaredCover } from "./declared-cover.ts";
import { type Draft, draftManifest } from "./draft-manifest.ts";
import { SeenBook } from "./seen-book.ts";

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-learn-")));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const EMPTY = '{"access":[]}';

function manifestOf({ rules, imports }: Draft): string {
  return JSON.stringify({
    access: rules.map(({ resourceType, operation, target }) => ({
      resource_type: resourceType,
      operation,
      target,
    })),
    ...(imports.length === 0 ? {} : { allowed_imports: imports.map(({ name }) => name) }),
  });
}

function coverOf(manifest: string) {
  const cover = declaredCover(manifest, folder);
  if (!cover.ok) throw new Error(cover.message);
  return cover.value;
}

const draftOf = (book: SeenBook, manifest = EMPTY): Draft => {
  const { isCovered, imports, root } = coverOf(manifest);
  return draftManifest(book.seen(), { root, isCovered, listedImports: imports });
};

const name = fc.stringMatching(/^[a-z0-9_ é.-]{1,8}$/u).filter((text) => !/^\.{1,2}$/.test(text));
const path = fc
  .tuple(fc.boolean(), fc.array(name, { minLength: 1, maxLength: 3 }))
  .map(([isOwn, names]) => `${isOwn ? folder : "/nowhere"}/${names.join("/")}`);
const file = fc.record({
  resourceType: fc.constant("filesystem"),
  operation: fc.constantFrom("read", "create", "modify", "delete", "execute"),
  target: path,
});
const segment = fc.stringMatching(/^[a-z0-9_-]{1,6}$/);
const url = fc.record({
  resourceType: fc.constant("network"),
  operation: fc.constantFrom("receive", "send"),
  target: fc
    .tuple(
      fc.constantFrom("https", "http"),
      fc.constantFrom("api.example.com", "one.example.org:8443"),
      fc.array(segment, { minLength: 1, maxLength: 3 }),
      fc.option(segment),
    )
    .map(
      ([scheme, host, names, query]) =>
        `${scheme}://${host}/${names.join("/")}${query === null ? "" : `?key=${query}`}`,
    ),
});
const endpoint = fc.record({
  resourceType: fc.constant("network"),
  operation: fc.constant("connect"),
  target: fc.constantFrom("db.example.com:5432", "10.0.0.7:6379", "unix:/run/some.sock"),
});
const program = fc.record({
  resourceType: fc.constant("system_dependency"),
  operation: fc.constant("execute"),
  target: fc.constantFrom("git", "ffmpeg", "c++"),
});
const access = fc.oneof(file, url, endpoint, program);

it("the draft covers everything that was seen", () => {
  fc.assert(
    fc.property(fc.array(access, { minLength: 1, maxLength: 12 }), (seen) => {
      const book = new SeenBook();
      for (const one of seen) book.addAccess(one, undefined);
      const draft = draftOf(book);
      expect(draft.leftOut).toEqual([]);
      const { isCovered } = coverOf(manifestOf(draft));
      for (const one of seen) expect([one, isCovered(one)]).toEqual([one, true]);
    }),
    { numRuns: 60 },
  );
});

it("the draft covers no neighbour that was not seen: no other name, operation, path, scheme, host or port", () => {
  fc.assert(
    fc.property(fc.array(access, { minLength: 1, maxLength: 6 }), access, segment, (seen, other, word) => {
      const book = new SeenBook();
      for (const one of seen) book.addAccess(one, undefined);
      const { isCovered } = coverOf(manifestOf(draftOf(book)));
      const known = (one: typeof other): boolean =>
        seen.some(
          (had) =>
            had.resourceType === one.resourceType &&
            had.operation === one.operation &&
            had.target.split("?")[0] === one.target.split("?")[0],
        );
      const neighbours = [
        other,
        ...seen.flatMap((one) => [
          ...(one.resourceType === "filesystem"
            ? [
                { ...one, target: `${one.target}/${word}` },
                { ...one, target: `${one.target.slice(0, one.target.lastIndexOf("/"))}/${word}` },
                { ...one, target: `${one.target}${word}` },
                { ...one, operation: one.operation === "read" ? "modify" : "read" },
              ]
            : []),
          ...(one.target.startsWith("http")
            ? [
                { ...one, target: `${one.target.split("?")[0]}/${word}` },
                { ...one, target: `${one.target.split("/").slice(0, 3).join("/")}/${word}x` },
                { ...one, operation: one.operation === "send" ? "receive" : "send" },
              ]
            : []),
        ]),
      ] as (typeof other)[];
      for (const one of neighbours) if (!known(one)) expect([one, isCovered(one)]).toEqual([one, false]);
    }),
    { numRuns: 60 },
  );
});

it("what is declared already is not drafted again, and counts and evidence are kept", () => {
  const book = new SeenBook();
  const read = { resourceType: "filesystem", operation: "read", target: join(folder, "in", "a.csv") };
  const send = {
    resourceType: "network",
    operation: "send",
    target: "https://api.example.com/v1?token=secret",
  };
  book.addAccess(read, "open at app.js:1");
  for (const evidence of ["connect at app.js:2", "connect at app.js:9"]) book.addAccess(send, evidence);
  book.addAccess({ ...send, target: "https://api.example.com/v1?token=other" }, "connect at app.js:3");
  book.addAccess({ resourceType: "filesystem", operation: "read", target: "/" }, "scandir");
  book.addAccess(
    { resourceType: "network", operation: "receive", target: "https://api.example.com/v2/" },
    undefined,
  );
  book.addImport("child_process", "app.js:4");
  book.addImport("vm", undefined);
  const manifest = JSON.stringify({
    access: [{ resource_type: "filesystem", operation: "read", target: "./in/" }],
    allowed_imports: ["vm"],
  });
  expect(draftOf(book, manifest)).toEqual({
    rules: [
      {
        resourceType: "network",
        operation: "send",
        target: "https://api.example.com/v1",
        count: 3,
        evidence: ["connect at app.js:3", "connect at app.js:2"],
        wider: null,
      },
      {
        resourceType: "network",
        operation: "receive",
        target: "https://api.example.com/v2/",
        count: 1,
        evidence: [],
        wider: "a URL that ends in a slash covers every path below it",
      },
    ],
    imports: [{ name: "child_process", count: 1, evidence: "app.js:4" }],
    leftOut: [
      {
        seen: expect.objectContaining({ target: "/", evidence: "scandir" }),
        reason: expect.stringContaining("everything below"),
      },
    ],
    covered: 1,
  });
});
