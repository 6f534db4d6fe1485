import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import * as remoteCall from "../call/remote-call.ts";
import { WIRE_ARBITRARIES } from "../testing/wire-arbitrary.ts";
import * as approval from "./approval.ts";
import { camelKey, isWireKey, snakeKey } from "./camel-case.ts";
import { WIRES, type WireName } from "./catalogue.ts";
import type { Wire } from "./define-wire.ts";
import * as errorBody from "./error-body.ts";
import * as event from "./event.ts";
import * as externalAccessCheck from "./external-access-check.ts";
import * as hostRule from "./host-rule.ts";
import * as origin from "./origin.ts";
import * as pendingRequest from "./pending-request.ts";
import * as permissionFacts from "./permission-facts.ts";
import * as resource from "./resource.ts";
import * as subject from "./subject.ts";

const NAMES = Object.keys(WIRES) as WireName[];
const wireOf = (name: WireName) => WIRES[name] as unknown as Wire<z.ZodType>;

/** JSON text and back, so that nothing but JSON can pass. */
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function keysOf(schema: unknown, found: Set<string>): Set<string> {
  if (Array.isArray(schema)) for (const element of schema) keysOf(element, found);
  else if (typeof schema === "object" && schema !== null) {
    for (const [key, value] of Object.entries(schema)) {
      if (key === "properties") for (const property of Object.keys(value as object)) found.add(property);
      keysOf(value, found);
    }
  }
  return found;
}

describe.each(NAMES)("wire type %s", (name) => {
  const wire = wireOf(name);
  const wireJson = WIRE_ARBITRARIES[name];

  it("formats what it parsed back to the same JSON", () => {
    fc.assert(
      fc.property(wireJson, (generated) => {
        const sent = json(generated);
        const parsed = wire.parse(sent);
        if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
        expect(json(wire.format(parsed.value))).toEqual(sent);
      }),
    );
  });

  it("parses what it formatted back to the same value", () => {
    fc.assert(
      fc.property(wireJson, (generated) => {
        const parsed = wire.parse(json(generated));
        if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
        expect(wire.parse(wire.format(parsed.value))).toEqual({ ok: true, value: parsed.value });
      }),
    );
  });

  it("has camelCase keys only, as its type says", () => {
    fc.assert(
      fc.property(wireJson, (generated) => {
        const parsed = wire.parse(json(generated));
        const keys = objectsIn(parsed.ok ? parsed.value : null).flatMap((object) => Object.keys(object));
        expect(keys.filter((key) => key.includes("_"))).toEqual([]);
      }),
    );
  });

  it("refuses a key that it does not know, at any place that has keys", () => {
    fc.assert(
      fc.property(
        wireJson,
        fc.constantFrom("surplus", "__proto__", "constructor"),
        fc.nat(),
        (generated, key, pick) => {
          const sent = json(generated);
          const objects = objectsIn(sent);
          if (objects.length === 0) return;
          const place = objects[pick % objects.length];
          Object.defineProperty(place, key, {
            value: 1,
            enumerable: true,
            writable: true,
            configurable: true,
          });
          expect(wire.parse(sent).ok).toBe(false);
        },
      ),
    );
  });

  it("has only keys whose two spellings undo each other", () => {
    const keys = [...keysOf(z.toJSONSchema(wire.schema), new Set())];
    expect(keys.filter((key) => !isWireKey(key) || snakeKey(camelKey(key)) !== key)).toEqual([]);
  });
});

function objectsIn(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return [];
  const below = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? below : [value, ...below];
}

describe("the catalogue of wire types", () => {
  const modules = [
    approval,
    errorBody,
    event,
    externalAccessCheck,
    hostRule,
    origin,
    pendingRequest,
    permissionFacts,
    remoteCall,
    resource,
    subject,
  ];

  it("holds every wire type that these files export", () => {
    const exported = modules.flatMap((file) =>
      Object.entries(file).flatMap(([key, value]) => (key.endsWith("Wire") ? [value as unknown] : [])),
    );
    expect(exported.length).toBe(NAMES.length);
    expect(new Set(exported)).toEqual(new Set(Object.values(WIRES)));
  });

  it("has a round trip for every wire type and for nothing else", () => {
    expect(Object.keys(WIRE_ARBITRARIES).toSorted()).toEqual([...NAMES].toSorted());
  });
});
