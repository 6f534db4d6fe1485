import type { Host } from "@sallyport/contract";
import { expect, it } from "vitest";
import { newConnection } from "../network/connection.ts";
import { isAuthority, isDecidedStream, listAsWritten } from "./stream-list.ts";

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

it("of a character beyond one byte, what is written counts: it may be a letter of another name, or the end of a value", () => {
  const connection = newConnection({ host: "a.example" as Host, port: 443, isTls: true });
  const decided = { method: "GET", path: "/open", isEnded: true };
  const own = ":method\0GET\0\0:path\0/open\0\0";
  const passes = (more: string): boolean => {
    const list = listAsWritten([own + more, 3]);
    return list !== undefined && isDecidedStream(connection, decided, list[0], 1);
  };
  expect(passes("x\0a\0\0")).toBe(true);
  expect(passes("\u013apath\0/closed\0\0")).toBe(false);
  expect(passes("x\0a\u0100\u0100:path\u0100/closed\0\0")).toBe(false);
  expect(passes("hos\u0174\0b.example\0\0")).toBe(false);
});

it("a stream that was decided on without a body ends with its headers, and has one method and one path", () => {
  const connection = newConnection({ host: "a.example" as Host, port: 443, isTls: true });
  const decided = { method: "GET", path: "/open", isEnded: true };
  const own = ":method\0GET\0\0:path\0/open\0\0";
  const rows: [list: string, flags: unknown, isDecided: boolean][] = [
    [own, 1, true],
    [own, 0, false],
    [own, "1", false],
    [own, undefined, false],
    [`${own}:path\0/open\0\0`, 1, false],
    [":path\0/open\0\0", 1, false],
    [`${own}:protocol\0websocket\0\0`, 1, false],
    [`${own}:authority\0b.example\0\0`, 1, false],
    [`${own}x\0cut`, 1, false],
  ];
  for (const [list, flags, isDecided] of rows)
    expect(isDecidedStream(connection, decided, list, flags), JSON.stringify([list, flags])).toBe(isDecided);
});
