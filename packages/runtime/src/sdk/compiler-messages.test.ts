/** What the compiler says to whoever writes an illegal call: pinned, so that it stays short and points at the word. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const FEED = `resourceType: "network", operation: "receive", target: "https://a.example"`;

/** Each call, and the last line of what the compiler says about it. */
const ILLEGAL = [
  [
    `check({ resourceType: "network", operation: "read", target: "https://a.example" })`,
    `Type '"read"' is not assignable to type '"connect" | "receive" | "send" | undefined'.`,
  ],
  [
    `check({ resourceType: "url", operation: "receive", target: "https://a.example" })`,
    `Type '"url"' is not assignable to type '"network"'.`,
  ],
  [
    `check({ resourceType: "filesystem", operation: "send", target: "/a" })`,
    `Type '"send"' is not assignable to type '"create" | "delete" | "execute" | "modify" | "read" | undefined'.`,
  ],
  [`check({ ${FEED}, userId: 21 })`, "Type 'number' is not assignable to type 'ComesFromTheContext'."],
  [
    `check({ ${FEED}, alreadyAllowed: true })`,
    "Type 'boolean' is not assignable to type 'DecidedByTheService'.",
  ],
  [
    `check({ ${FEED}, trusted: true })`,
    `TS2353: Object literal may only specify known properties, and 'trusted' does not exist in type 'Fault | Ok<Access> | ({ readonly resourceType: "network"; readonly operation: "connect" | "receive" | "send"; readonly target: string | URL; } & CheckOptions)'.`,
  ],
  [
    `check(sdk.access.network.read("https://a.example"))`,
    `TS2339: Property 'read' does not exist on type 'AccessConstructors<"network">'.`,
  ],
  [
    `sdk.access.requireExternalAccess({ ${FEED}, resumeContext: {} })`,
    `Property 'resumeAction' is missing in type '{ resourceType: "network"; operation: "receive"; target: string; resumeContext: {}; }' but required in type 'Resuming'.`,
  ],
  [
    `sdk.access.approvePermanently({ ${FEED} })`,
    `Type '{ resourceType: "network"; operation: "receive"; target: string; }' is missing the following properties from type 'DecidedSubject': subjectType, subjectName`,
  ],
  [
    `runtime.run("tool:demo.x", {}, () => 1)`,
    "TS2345: Argument of type 'string' is not assignable to parameter of type 'SubjectInput'.",
  ],
] as const;

const LINES_MAX = 6;
const LENGTH_MAX = 330;

it("says in a few words what is wrong with an illegal call", () => {
  const said = compile(ILLEGAL.map(([call]) => call));
  expect(said.map((lines) => lines.at(-1)?.trim())).toEqual(ILLEGAL.map(([, last]) => last));
  for (const lines of said) {
    expect(lines.length).toBeLessThanOrEqual(LINES_MAX);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(LENGTH_MAX);
  }
});

/** The lines about each call. */
function compile(calls: readonly string[]): readonly (readonly string[])[] {
  // WHY: inside the repository, so that package names resolve.
  const folder = mkdtempSync(join(root, "node_modules", ".calls-"));
  const before = `import type { Runtime, Sdk } from "@sallyport/runtime";
declare const sdk: Sdk; declare const runtime: Runtime;
const check = sdk.access.checkExternalAccess;`;
  const file = [before, ...calls.map((call) => `void ${call};`), "void runtime;"].join("\n");
  const options = {
    noEmit: true,
    composite: false,
    declaration: false,
    declarationMap: false,
    types: ["node"],
  };
  const config = { extends: "../../tsconfig.base.json", compilerOptions: options, files: ["calls.ts"] };
  try {
    writeFileSync(join(folder, "calls.ts"), file);
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const output = spoken(join(root, "node_modules", "typescript", "bin", "tsc"), folder);
    const first = before.split("\n").length + 1;
    return calls.map((_, index) => about(output, first + index));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function spoken(tsc: string, folder: string): string {
  try {
    return execFileSync(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { encoding: "utf8" });
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
}

function about(output: string, line: number): readonly string[] {
  const lines = output.split("\n");
  const start = lines.findIndex((text) => text.includes(`calls.ts(${line},`));
  if (start < 0) return [];
  const length = lines.slice(start + 1).findIndex((text) => !text.startsWith("  "));
  return lines.slice(start, start + 1 + Math.max(0, length)).map((text) => text.replace(/^.*?: error /, ""));
}
