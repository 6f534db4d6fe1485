/** Flags of Node's own permission model from what is declared. */
import { describe, expect, it } from "vitest";
import { type NodePermissionFacts, nodePermissionFlags } from "./node-permission.ts";

const rule = (resourceType: string, operation: string, target: string) =>
  ({ resourceType, operation, target }) as NodePermissionFacts["allow"][number];
const flagsOf = (changes: Partial<NodePermissionFacts>): readonly string[] => {
  const permission = nodePermissionFlags({ nodeMajor: 26, allow: [], imports: [], ...changes });
  if (!permission.ok) throw new Error(permission.message);
  return permission.flags;
};
const BASE = ["--permission", "--disable-warning=SecurityWarning", "--allow-fs-read=*"];

it("without declarations nothing is written, started, loaded or connected", () => {
  expect(flagsOf({})).toEqual([...BASE, "--allow-worker"]);
});

it("what may be created, modified or deleted may be written, each place once", () => {
  expect(
    flagsOf({
      allow: [
        rule("filesystem", "create", "/data/out/"),
        rule("filesystem", "modify", "/data/out/"),
        rule("filesystem", "delete", "/data/one.txt"),
        rule("filesystem", "read", "/etc/secret"),
        { ...rule("filesystem", "modify", "/data/tree/"), match: "exact" },
      ],
    }),
  ).toEqual([
    ...BASE,
    "--allow-fs-write=/data/out/*",
    "--allow-fs-write=/data/one.txt",
    "--allow-fs-write=/data/tree/",
    "--allow-worker",
  ]);
});

it("programs, native code and the network follow the manifest", () => {
  const allow = [
    rule("system_dependency", "execute", "git"),
    rule("network", "receive", "https://a.example.com"),
  ];
  const imports = ["child_process", "native_addons", "wasi"];
  expect(flagsOf({ allow, imports })).toEqual([
    ...BASE,
    "--allow-worker",
    "--allow-child-process",
    "--allow-addons",
    "--allow-wasi",
    "--allow-net",
  ]);
  expect(flagsOf({ allow, imports, nodeMajor: 24 })).not.toContain("--allow-net");
  expect(flagsOf({ allow: allow.slice(1), imports })).not.toContain("--allow-child-process");
  expect(flagsOf({ allow, imports: [] })).not.toContain("--allow-child-process");
});

describe("is refused", () => {
  it.each<[string, Partial<NodePermissionFacts>]>([
    ["where the right to start threads could not be taken back", { nodeMajor: 22 }],
    ["where threads are declared: they are a way out", { imports: ["worker_threads"] }],
    ["where a place cannot be named", { allow: [rule("filesystem", "modify", "/data/a,b")] }],
  ])("%s", (_, changes) => {
    const permission = nodePermissionFlags({ nodeMajor: 24, allow: [], imports: [], ...changes });
    expect(permission).toEqual({ ok: false, message: expect.any(String) });
  });
});
