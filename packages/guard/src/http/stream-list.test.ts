import type { Host } from "@sallyport/contract";
import { expect, it } from "vitest";
import { newConnection } from "../network/connection.ts";
import { isAuthority } from "./stream-list.ts";

it("an authority is the connection's own, with or without the brackets that Node leaves away", () => {
  const connection = newConnection({ host: "[2001:db8::1]" as Host, port: 4711, isTls: true });
  for (const own of ["[2001:db8::1]:4711", "2001:db8::1:4711", undefined])
    expect(isAuthority(connection, own)).toBe(true);
  const others = ["2001:db8::1", "[2001:db8::1]", "2001:db8::14711", "2001:db8::1:4712", "2001:db8::2:4711"];
  for (const other of [...others, "[2001:db8::1:4711", "2001:db8::1]:4711", "", "other.example:4711"])
    expect(isAuthority(connection, other), other).toBe(false);
});

it("a host that is no address with colons has no second form", () => {
  const connection = newConnection({ host: "a.example" as Host, port: 443, isTls: true });
  for (const own of ["a.example:443", "a.example", "A.example"])
    expect(isAuthority(connection, own)).toBe(true);
  for (const other of [".exampl:443", "a.example:80", "b.example:443"])
    expect(isAuthority(connection, other)).toBe(false);
});
