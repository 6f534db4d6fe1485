import { describe, expect, it } from "vitest";
import { SessionMap } from "./session-map.ts";

const OWN = { organizationId: 7, userId: 21, sessionKey: "s" } as const;
const OTHERS = [
  { ...OWN, organizationId: "7" },
  { ...OWN, organizationId: null },
  { ...OWN, userId: "21" },
  { ...OWN, userId: null },
  { ...OWN, sessionKey: "t" },
] as const;

describe("sessions", () => {
  it("are told apart by organization, user and key, each as given", () => {
    const sessions = new SessionMap();
    const node = sessions.getOrMake(OWN, OWN.sessionKey);
    expect(sessions.getOrMake(OWN, OWN.sessionKey)).toBe(node);
    expect(sessions.get(OWN)).toBe(node);
    expect(OTHERS.map((other) => sessions.get(other))).toEqual(OTHERS.map(() => undefined));
    for (const other of OTHERS) expect(sessions.getOrMake(other, other.sessionKey)).not.toBe(node);
  });

  it("go one by one, and the last one of a user leaves the others", () => {
    const sessions = new SessionMap();
    for (const other of [OWN, ...OTHERS]) sessions.getOrMake(other, other.sessionKey);
    sessions.delete(OWN);
    expect(sessions.get(OWN)).toBeUndefined();
    expect(OTHERS.every((other) => sessions.get(other) !== undefined)).toBe(true);
    for (const other of OTHERS) sessions.delete(other);
    expect(OTHERS.some((other) => sessions.get(other) !== undefined)).toBe(false);
  });

  it("that do not exist can go too, and a session without a key is none", () => {
    const sessions = new SessionMap();
    sessions.delete(OWN);
    sessions.getOrMake(OWN, OWN.sessionKey);
    for (const other of OTHERS) sessions.delete(other);
    sessions.delete({ ...OWN, sessionKey: "" });
    sessions.delete({ ...OWN, sessionKey: null });
    expect(sessions.get(OWN)).toBeDefined();
    expect(sessions.get({ ...OWN, sessionKey: "" })).toBeUndefined();
  });
});
