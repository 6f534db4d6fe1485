/**
 * Attacks on the gateway from inside, by name. The program may receive from one origin in clear text and one under TLS;
 * every server around counts what reaches it, and names that nobody allowed are counted where they are looked up.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EgressWorkshop, TestDecider, openEgressWorkshop } from "../testing/egress-fixture.ts";

const LONG = 180_000;
const SCRIPT = readFileSync(fileURLToPath(new URL("../testing/network-attack.py", import.meta.url)), "utf8");

/** By the gateway itself: a server that was reached may refuse as well. */
const REFUSED = /^HTTP\/1\.1 40[03] .*\(sallyport\)$/;
const CUT =
  /^(?:closed|ConnectionResetError|BrokenPipeError|SSLEOFError|SSLZeroReturnError|SSLError|TimeoutError)$/;
const NO_SUCH_SOCKET = /^(?:OSError|PermissionError)$/;

let workshop: EgressWorkshop;
let decider: TestDecider;
const outcomes = new Map<string, unknown>();
const lookedUp: string[] = [];

beforeAll(async () => {
  workshop = await openEgressWorkshop();
  decider = new TestDecider()
    .allow(`http://web.test:${workshop.web.port}`, "receive")
    .allow(`https://secure.test:${workshop.secureWeb.port}`, "receive");
  const resolve = (name: string): Promise<readonly string[]> => {
    lookedUp.push(name);
    return Promise.resolve(["127.0.0.1"]);
  };
  const { web, secureWeb, echo } = workshop;
  const { stdout, stderr } = await workshop.net(
    `/usr/bin/python3 -I - ${web.port} ${secureWeb.port} ${echo.port} <<'END'\n${SCRIPT}\nEND`,
    decider,
    { gateway: { resolve }, ruling: "allow" },
  );
  expect(stderr).toBe("");
  for (const line of stdout.trim().split("\n")) {
    const { attack, outcome } = JSON.parse(line) as { readonly attack: string; readonly outcome: unknown };
    outcomes.set(attack, outcome);
  }
}, LONG);
afterAll(() => workshop.close());

describe("attack:", () => {
  test.each([
    "a post where only receiving is allowed",
    "a get with a body",
    "a get with a chunked body",
    "clear text in a CONNECT tunnel",
    "clear text over SOCKS",
    "a pipelined second request",
    "content length and transfer encoding",
    "two content lengths",
    "a folded header",
    "bare line feeds",
    "two hosts",
    "no host",
    "the host of another",
    "the host with a user",
    "an absolute target of another host",
    "a proxy request whose host is another",
    "a tunnel in a tunnel",
    "an upgrade to h2c",
    "the host of another under TLS",
    "a post under TLS",
    "clear text where TLS was allowed",
    "a suffix of an allowed name",
    "an allowed name as a prefix",
    "another port of an allowed host",
    "a raw address",
    "a raw address of IPv6",
    "cloud metadata",
    "TCP Fast Open",
  ])("%s is answered with a denial", (attack) => expect(outcomes.get(attack)).toMatch(REFUSED));

  test.each([
    "http 2 in clear text",
    "a method in small letters",
    "the TLS name of another",
    "no TLS name",
    "an address of the range that no name has",
    "bytes that are no protocol",
    "DNS over TLS",
  ])("%s ends the connection", (attack) => expect(outcomes.get(attack)).toMatch(CUT));

  test.each(["MPTCP", "vsock", "packet", "netlink", "a raw IP socket", "a unix socket"])(
    "%s: there is no such socket",
    (attack) => expect(outcomes.get(attack)).toMatch(NO_SUCH_SOCKET),
  );

  test("a second request on an allowed connection is judged by itself", () => {
    const [first, second] = outcomes.get("a second request on an allowed connection") as [string, string];
    expect(first).toBe("HTTP/1.1 200 OK");
    expect(second).toMatch(REFUSED);
  });

  test("a NUL in the host of SOCKS is malformed, recorded and not dialled", () => {
    expect(outcomes.get("a NUL in the host of SOCKS")).toBe("PermissionError");
    expect(decider.violations).toContainEqual(
      expect.objectContaining({ operation: "connect", target: "evil\0.web.test", refusal: "invalid_target" }),
    );
  });

  test("the address behind an allowed name is the program's own loopback", () =>
    expect(outcomes.get("the address behind an allowed name")).toBe("ConnectionRefusedError"));

  test("QUIC and a DNS server of one's own lead nowhere", () => {
    expect(outcomes.get("QUIC")).toMatch(/^(?:TimeoutError|ConnectionRefusedError)$/);
    expect(outcomes.get("a DNS server of one's own")).toBe("TimeoutError");
  });

  test("datagrams are on record, once for each destination, and refused aloud from the second on", () => {
    expect(outcomes.get("datagrams to many places")).toEqual([
      "ConnectionRefusedError",
      "ConnectionRefusedError",
    ]);
    const targets = decider.violations.flatMap(({ operation, target, refusal }) =>
      refusal === "datagram" ? [`${operation} ${target}`] : [],
    );
    expect(targets.toSorted()).toEqual([
      "connect 9.9.9.9:443",
      "connect 9.9.9.9:444",
      "connect [2620:fe::fe]:443",
      "connect quic.evil.test:443",
    ]);
  });

  test("a DNS tunnel ends in the sandbox: the name gets an address and is looked up by nobody", () => {
    expect(outcomes.get("a DNS tunnel")).toMatch(/^198\.18\./);
    expect(lookedUp.filter((name) => name.includes("evil"))).toEqual([]);
  });

  test("a hidden TLS name is not passed on: the open name counts, and TLS is taken here", () =>
    expect(decider.spent.some(({ operation }) => operation === "connect")).toBe(false));

  test("none of them reached a server", () => {
    const reached = [...workshop.web.seen, ...workshop.secureWeb.seen, ...workshop.echo.seen];
    expect(reached.filter((line) => line.includes("evil"))).toEqual([]);
    expect(workshop.echo.seen).toEqual([]);
    expect(reached.every((line) => line.startsWith("GET "))).toBe(true);
  });

  test("only allowed names were looked up", () =>
    expect([...new Set(lookedUp)].toSorted()).toEqual(
      ["secure.test", "web.test"].filter((name) => lookedUp.includes(name)),
    ));

  test("every refusal that is no matter of rules is on record", () => {
    const reasons = new Set(decider.violations.flatMap(({ refusal }) => refusal ?? []));
    expect([...reasons].toSorted()).toEqual([
      "ambiguous_request",
      "datagram",
      "host_mismatch",
      "invalid_target",
      "name_mismatch",
      "tunnel_refused",
      "unknown_name",
      "upgrade_refused",
    ]);
  });
});
