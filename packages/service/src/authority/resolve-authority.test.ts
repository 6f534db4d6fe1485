/** Who may decide, and every way to look as if one might. */
import { PermissionError, type RuntimeUser } from "@sallyport/contract";
import { afterEach, describe, expect, it } from "vitest";
import { Authority, resolveAuthority } from "./resolve-authority.ts";

const user = (more: Record<string, unknown> = {}): RuntimeUser =>
  ({ id: 7, roles: [], accessLevel: null, ...more }) as unknown as RuntimeUser;
/** A list of one without its member. */
const hole = (): unknown[] => Object.assign([], { length: 1 });
const resolve = (given: unknown, organization: unknown = null) =>
  resolveAuthority(given as RuntimeUser, organization as null);

describe("authority", () => {
  it("comes from a super role or a super access level", () => {
    expect(resolve(user({ roles: ["editor", "super"] }))).toMatchObject({
      ok: true,
      userId: 7,
      ground: "role",
    });
    const byLevel = resolve(user({ id: "ann", accessLevel: "super" }));
    expect(byLevel).toMatchObject({ ok: true, userId: "ann", ground: "access_level", name: "super" });
    expect(resolve(user({ id: 0, accessLevel: "super" }))).toMatchObject({ ok: true, userId: 0 });
  });

  it("comes from the names that the host configured, and only from those", () => {
    const names = { roles: ["root"], accessLevels: ["9"] };
    expect(resolveAuthority(user({ roles: ["root"] }), null, names)).toMatchObject({
      ok: true,
      name: "root",
    });
    expect(resolveAuthority(user({ accessLevel: "9" }), null, names)).toMatchObject({ ok: true });
    expect(resolveAuthority(user({ roles: ["super"] }), null, names)).toMatchObject({ reason: "no_super" });
    expect(resolveAuthority(user({ accessLevel: "root" }), null, names)).toMatchObject({
      reason: "no_super",
    });
    const nobody = { roles: [], accessLevels: [""] };
    expect(resolveAuthority(user({ roles: ["super"], accessLevel: "" }), null, nobody).ok).toBe(false);
  });

  it("cannot be made by hand, and nothing shaped like it is one", () => {
    const genuine = resolve(user({ roles: ["super"] }));
    expect(Authority.isGenuine(genuine)).toBe(true);
    expect(Object.isFrozen(genuine)).toBe(true);
    expect(() => Reflect.construct(Authority, [Symbol("mint"), 7, "role", "super"])).toThrow(/never made/);
    const copies = [
      Object.assign({}, genuine),
      Object.create(Authority.prototype),
      Object.create(genuine),
      null,
      "super",
    ];
    for (const copy of copies) expect(Authority.isGenuine(copy)).toBe(false);
  });

  it("that is missing becomes the error that says nothing about what exists", () => {
    const fault = resolve(user());
    if (fault.ok) throw new Error("granted");
    expect(fault).toMatchObject({ code: "permission_error", reason: "no_super", userId: 7 });
    expect(fault.toError("approve requests")).toBeInstanceOf(PermissionError);
    expect(fault.toError("approve requests").message).toContain("may not approve requests");
  });
});

describe("an organization", () => {
  const superUser = user({ roles: ["super"] });

  it.each([0, -0, 1, "0", "acme", "", undefined, false, Number.NaN, {}, []])(
    "of %j is a scope, or no statement",
    (organization) => {
      const resolved = resolveAuthority(superUser, organization as never);
      expect(resolved).toMatchObject({ ok: false, reason: "organization_scope", userId: 7 });
    },
  );

  it("of null is none", () => {
    expect(resolveAuthority(superUser, null).ok).toBe(true);
  });
});

describe("attack", () => {
  afterEach(() => {
    for (const property of ["roles", "accessLevel", "id", "super"])
      Reflect.deleteProperty(Object.prototype, property);
    Reflect.deleteProperty(Array.prototype, "0");
  });

  it.each<readonly [string, unknown]>([
    ["no user", null],
    ["an undefined user", undefined],
    ["a text as a user", "super"],
    ["a user without an id", { roles: ["super"], accessLevel: "super" }],
    ["a user with an empty id", user({ id: "", roles: ["super"] })],
    ["a user with a null id", user({ id: null, roles: ["super"] })],
    ["a user whose id is no number", user({ id: Number.NaN, roles: ["super"] })],
    ["a user whose id is an object", user({ id: { toString: () => "1" }, roles: ["super"] })],
  ])("%s", (_, given) => {
    expect(resolve(given)).toMatchObject({ ok: false, reason: "no_user" });
  });

  it.each<readonly [string, Record<string, unknown>]>([
    ["a nested list", { roles: [["super"]] }],
    ["an object with a toString", { roles: [{ toString: () => "super" }] }],
    ["a String object", { roles: [Object("super")] }],
    ["a text instead of a list", { roles: "super" }],
    ["an object instead of a list", { roles: { 0: "super", length: 1 } }],
    ["a set", { roles: new Set(["super"]) }],
    ["an upper-case name", { roles: ["SUPER", "Super"], accessLevel: "Super" }],
    ["a name with blanks", { roles: [" super", "super ", "super\n"] }],
    ["a name with a NUL", { roles: ["super\0"] }],
    ["a longer name", { roles: ["superuser", "not-super"] }],
    ["a Cyrillic look-alike", { roles: ["ѕuper", "supеr"], accessLevel: "ѕuper" }],
    ["a full-width look-alike", { roles: ["ｓｕｐｅｒ"] }],
    ["a zero-width joiner", { roles: ["su\u200dper"] }],
    ["an access level in a list", { accessLevel: ["super"] }],
    ["an access level with a toString", { accessLevel: { toString: () => "super" } }],
    ["a snake_case access level", { access_level: "super" }],
    ["a true value", { super: true, isSuper: true, accessLevel: true }],
    ["a role map", { roles: { super: true } }],
  ])("%s", (_, more) => {
    expect(resolve(user(more))).toMatchObject({ ok: false, reason: "no_super" });
  });

  it("a user that inherits its roles", () => {
    const parent = { roles: ["super"], accessLevel: "super" };
    expect(resolve(Object.assign(Object.create(parent), { id: 7 }))).toMatchObject({ reason: "no_super" });
  });

  it("a role list that inherits its members", () => {
    const roles = Object.setPrototypeOf(hole(), ["super"]) as unknown;
    expect(resolve(user({ roles }))).toMatchObject({ reason: "no_super" });
  });

  it("polluted prototypes", () => {
    Object.assign(Object.prototype, { roles: ["super"], accessLevel: "super", id: 7, super: true });
    Reflect.defineProperty(Array.prototype, "0", { value: "super", configurable: true, writable: true });
    expect(resolve({})).toMatchObject({ reason: "no_user" });
    expect(resolve({ id: 7 })).toMatchObject({ reason: "no_super" });
    expect(resolve({ id: 7, roles: hole() })).toMatchObject({ reason: "no_super" });
  });

  it("getters, which could answer twice in two ways", () => {
    let asked = 0;
    const given = {
      id: 7,
      get roles() {
        asked++;
        return ["super"];
      },
      get accessLevel() {
        asked++;
        return "super";
      },
    };
    expect(resolve(given)).toMatchObject({ reason: "no_super" });
    expect(asked).toBe(0);
  });

  it("a user that throws", () => {
    const given = new Proxy(
      {},
      {
        getOwnPropertyDescriptor: () => {
          throw new Error("no");
        },
      },
    );
    expect(resolve(given)).toMatchObject({ ok: false, reason: "no_user", userId: null });
  });
});
