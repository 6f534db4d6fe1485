/**
 * Attacks on the private realm, each in a bare process of its own so that neither vitest nor another test is tampered
 * with. The attacking program is bundled from `testing/realm-process.ts`, the realm from its sources.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { UNAVAILABLE } from "@sallyport/policy/realm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPrivateRealm } from "./private-realm.ts";

const folder = mkdtempSync(join(tmpdir(), "sallyport-realm-"));
const realmScript = join(folder, "realm-script.js");
const program = join(folder, "realm-process.mjs");
const tools = new URL("../../../tools/build-realm.mjs", import.meta.url).href;

interface BuildTools {
  readonly buildRealm: (places: { output: string }) => Promise<string>;
  readonly bundleProgram: (entry: string, output: string) => Promise<void>;
}

beforeAll(async () => {
  const { buildRealm, bundleProgram } = (await import(tools)) as BuildTools;
  await buildRealm({ output: realmScript });
  await bundleProgram(fileURLToPath(new URL("testing/realm-process.ts", import.meta.url)), program);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- names what the scenario prints
function attack<T>(scenario: string): T {
  const output = execFileSync(process.execPath, [program, scenario, realmScript], {
    encoding: "utf8",
    timeout: 60_000,
  });
  return JSON.parse(output) as T;
}

interface Tampered {
  readonly questions: number;
  readonly codes: readonly string[];
  readonly replaced: number;
  readonly hostileCalls: number;
  readonly changed: number;
  readonly changedByFacts: number;
}

test.each(["attacker", "throw"])("no verdict changes when every built-in is replaced (%s)", (hostility) => {
  const result = attack<Tampered>(hostility);
  expect(result).toMatchObject({ changed: 0, hostileCalls: 0 });
  expect(result.replaced).toBeGreaterThan(700);
  expect(result.questions).toBeGreaterThan(500);
  expect(result.codes.length).toBeGreaterThanOrEqual(10);
  expect(result.changedByFacts).toBeGreaterThan(10);
});

test("the same engine in the main realm breaks when every built-in is replaced", () => {
  expect(attack<{ changed: number }>("control_throw").changed).toBeGreaterThan(100);
});

test("the same engine in the main realm lets a replaced Map.prototype.get decide", () => {
  expect(attack<{ opened: number }>("control_map_get").opened).toBeGreaterThan(100);
});

test("functions of vm, module, fs, url and path replaced after load change nothing", () => {
  const result = attack<Tampered>("modules");
  expect(result).toMatchObject({ changed: 0, hostileCalls: 0 });
  expect(result.replaced).toBeGreaterThan(200);
});

test("an exhausted stack lets no object of the realm out and changes no verdict", () => {
  const result = attack<Record<string, number>>("stack");
  expect(result).toMatchObject({ wrong: 0, foreign: 0, changed: 0 });
  expect(result["asked"]).toBeGreaterThan(10_000);
  expect(result["refused"]).toBeGreaterThan(100);
});

test("execution terminated in the middle of a check changes no later verdict", () => {
  const result = attack<Record<string, number>>("terminate");
  expect(result).toMatchObject({ changed: 0 });
  expect(result["stopped"]).toBeGreaterThan(50);
});

test("a leaked error of the realm neither runs code in it nor changes its intrinsics", () => {
  const result = attack<{ reached: number; callSites: number }>("leak");
  expect(result).toMatchObject({ unfrozen: 0, ran: [], taken: 0, givenAway: 0 });
  expect(result.reached).toBeGreaterThan(150);
  expect(result.callSites).toBeGreaterThan(0);
});

test("a leaked error of a realm that is not hardened changes its intrinsics", () => {
  const result = attack<{ unfrozen: number; ran: readonly string[] }>("control_leak");
  expect(result.unfrozen).toBeGreaterThan(100);
  expect(result.ran).toEqual(["set", "define", "delete", "setPrototypeOf"]);
});

test("objects, getters and Symbol.toPrimitive are refused untouched in every argument", () => {
  expect(attack("objects")).toMatchObject({ answered: 0, touched: 0, asked: 66 });
});

test("prototypes polluted before the realm is opened change nothing", () => {
  const result = attack<{ questions: number; changed: number }>("polluted");
  expect(result.changed).toBe(0);
  expect(result.questions).toBeGreaterThan(500);
});

describe("a realm that misbehaves", () => {
  const open = (border: string) => openPrivateRealm({ seed: [1, 2], script: `(() => () => (${border}))()` });
  const ask = (border: string, target: unknown = "/") => {
    const realm = open(border);
    const text = target as string;
    return [
      realm.check(1, 3, text, 0, 0, ""),
      realm.explain(1, 3, text, 0, 0, ""),
      realm.open(text),
      realm.apply(text),
    ];
  };
  const nothing = [UNAVAILABLE, "", 0, ""];

  test("is never handed an object", () => {
    expect(ask("(...args) => typeof args[3]")).toEqual([UNAVAILABLE, "string", 0, "string"]);
    expect(ask("(...args) => typeof args[3]", {})).toEqual(nothing);
    expect(ask("() => 7", Symbol("target"))).toEqual(nothing);
  });

  test("hands out no object and no exception", () => {
    expect(ask("() => ({})")).toEqual(nothing);
    expect(ask("() => undefined")).toEqual(nothing);
    expect(ask("() => { throw new Error('leak'); }")).toEqual(nothing);
    expect(ask("function f() { return f(); }")).toEqual(nothing);
  });

  test("can make no code from text or bytes, and has neither process nor require", () => {
    const attempt = (code: string) =>
      open(`() => { try { return String(${code}); } catch (error) { return error.name; } }`).verdict();
    expect(attempt("1 + 1")).toBe("2");
    expect(attempt("Function('return 1')()")).toBe("EvalError");
    expect(attempt("(0, eval)('1')")).toBe("EvalError");
    expect(attempt("new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))")).toBe(
      "CompileError",
    );
    expect(attempt("typeof process + typeof require + typeof URL")).toBe("undefinedundefinedundefined");
  });
});
