/** docs/cli.md and the commands say the same. */
import { readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { ERROR_CODES, type ErrorCode } from "@sallyport/contract";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { EXIT_CODES, exitOf } from "./exit-code.ts";
import { buildProgram } from "./program.ts";
import { Terminal } from "./terminal.ts";
import { VERSION } from "./version.ts";

const docs = readFileSync(new URL("../../../../docs/cli.md", import.meta.url), "utf8");
const stream = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
const program = buildProgram({
  terminal: new Terminal({ stdin: Readable.from([]), stdout: stream(), stderr: stream() }, {}),
  env: {},
  cwd: "/",
  ending: new AbortController().signal,
  withOwner: async () => {
    throw new Error("nobody is asked here");
  },
});

function leaves(command: Command, path: readonly string[] = []): { path: string; command: Command }[] {
  return command.commands.flatMap((one) => {
    const here = [...path, one.name()];
    return one.commands.length === 0 ? [{ path: here.join(" "), command: one }] : leaves(one, here);
  });
}

describe("the commands", () => {
  it("are all documented, and what is documented is there", () => {
    const table = docs.slice(docs.indexOf("## Commands"), docs.indexOf("## Deciding"));
    const documented = table
      .split("\n")
      .flatMap((row) =>
        [...(row.split("|")[1] ?? "").matchAll(/`([a-z][a-z -]*)/g)].map(([, name = ""]) => name.trim()),
      );
    expect(documented.toSorted()).toEqual(
      leaves(program)
        .map(({ path }) => path)
        .toSorted(),
    );
  });

  it("all print JSON where they are asked to", () => {
    for (const { path, command } of leaves(program))
      expect(
        command.options.map(({ long }) => long),
        path,
      ).toContain("--json");
  });

  it("end with the codes that are documented, each of them once", () => {
    const rows = [...docs.matchAll(/^\| (\d+) \| (\w+) \| (.*) \|$/gm)].map(([, code, name, meaning]) => [
      name,
      { code: Number(code), meaning },
    ]);
    expect(Object.fromEntries(rows)).toEqual(EXIT_CODES);
    const codes = Object.values(EXIT_CODES).map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it("never end with 0 where the service said no", () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[])
      expect(exitOf(code) === "done", code).toBe(ERROR_CODES[code].status === 200);
  });

  it("know the version of the package", () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    expect(VERSION).toBe(version);
  });
});
