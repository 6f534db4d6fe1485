/**
 * What passes the gateway and where it leads: certificates, names, websockets, forwarded ports and the proxy of the host.
 * Real programs in real sandboxes.
 */
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EgressWorkshop, TestDecider, openEgressWorkshop, python } from "../testing/egress-fixture.ts";
import { frame, serveWebsocket } from "../testing/websocket-server.ts";

const LONG = 300_000;
let workshop: EgressWorkshop;

beforeAll(async () => {
  workshop = await openEgressWorkshop();
}, LONG);
afterAll(() => workshop.close());

describe("TLS", () => {
  test(
    "passes untouched where connect is allowed: the program sees the server's own certificate",
    async () => {
      const authority = join(workshop.make("authority"), "server.pem");
      writeFileSync(authority, workshop.authority.certificate);
      const { port } = workshop.secureWeb;
      const allow = [
        { resourceType: "filesystem", operation: "read", target: `${workshop.folder}/` },
      ] as const;
      const script = `curl -sS -m 60 --cacert ${authority} https://secure.test:${port}/own`;
      const open = new TestDecider().allow(`secure.test:${port}`, "connect");
      expect((await workshop.net(script, open, { allow })).stdout).toBe("hello GET /own 0\n");
      const pinned = new TestDecider().allow(`https://secure.test:${port}`, "receive");
      const refused = await workshop.net(script, pinned, { allow });
      expect(refused.code).toBe(60);
      expect(pinned.violations).toEqual([
        { operation: "connect", target: `secure.test:${port}`, refusal: "pinned" },
      ]);
      expect(pinned.asked).toEqual([{ operation: "connect", target: `secure.test:${port}` }]);
    },
    LONG,
  );

  test(
    "a server that cannot be verified is not spoken to",
    async () => {
      const { port, seen } = workshop.secureWeb;
      const before = seen.length;
      const decider = new TestDecider().allow(`https://wrong.test:${port}`, "receive");
      const { stdout } = await workshop.net(`curl -sS -m 60 https://wrong.test:${port}/`, decider);
      expect(JSON.parse(stdout)).toMatchObject({
        reason: "unverified",
        decision: "denied",
        source: "gateway",
      });
      expect(seen.length).toBe(before);
    },
    LONG,
  );

  test(
    "the authority of each request of HTTP/2 is checked, of several on one connection too",
    async () => {
      const { port } = workshop.secureWeb;
      const decider = new TestDecider()
        .allow(`https://secure.test:${port}`, "receive")
        .allow("evil.test", "receive");
      const { stdout } = await workshop.net(
        `curl -sS -m 60 --http2 https://secure.test:${port}/two -w '%{http_version}\\n'
       curl -sS -m 60 --http2 -H 'Host: evil.test' https://secure.test:${port}/evil
       curl -sS -m 60 --http2 https://secure.test:${port}/first --next -sS -H 'Host: evil.test' https://secure.test:${port}/evil -w 'connects %{num_connects}\\n' --next -sS https://secure.test:${port}/last`,
        decider,
      );
      expect(stdout).toContain("hello GET /two 0\n2\n");
      const lines = stdout.split("\n");
      expect(JSON.parse(lines[2] ?? "")).toMatchObject({ reason: "host_mismatch" });
      expect(lines.slice(3)).toEqual([
        "hello GET /first 0",
        expect.stringContaining('"reason":"host_mismatch"'),
        "connects 0",
        "hello GET /last 0",
        "",
      ]);
      expect(workshop.secureWeb.seen.some((line) => line.includes("/evil"))).toBe(false);
    },
    LONG,
  );

  test(
    "attack: the name of another in a greeting that comes late, where connect is allowed",
    async () => {
      const decider = new TestDecider().allow(`echo.test:${workshop.echo.port}`, "connect");
      const before = workshop.echo.seen.filter((line) => line !== "connection").length;
      const script = python(`
import socket, ssl
s = socket.create_connection(("echo.test", ${workshop.echo.port}), 60)
print(s.recv(100))
try:
    ssl._create_unverified_context().wrap_socket(s, server_hostname="evil.test")
except (ssl.SSLError, ConnectionError) as error:
    print("cut")`);
      expect((await workshop.net(script, decider, { ruling: "allow" })).stdout).toContain("cut");
      expect(workshop.echo.seen.filter((line) => line !== "connection").length).toBe(before);
      expect(decider.violations.at(-1)).toMatchObject({ refusal: "name_mismatch" });
    },
    LONG,
  );
});

test(
  "attack: a hidden name where connect is allowed does not pass untouched",
  async () => {
    const decider = new TestDecider().allow(`echo.test:${workshop.echo.port}`, "connect");
    const before = workshop.echo.seen.filter((line) => line !== "connection").length;
    const script = python(`
import socket, struct
name = b"echo.test"
extensions = struct.pack(">HHHBH", 0, len(name) + 5, len(name) + 3, 0, len(name)) + name + b"\\xfe\\x0d\\x00\\x01\\x00"
body = b"\\x03\\x03" + bytes(32) + b"\\x00\\x00\\x02\\x13\\x01\\x01\\x00" + struct.pack(">H", len(extensions)) + extensions
message = b"\\x01" + struct.pack(">I", len(body))[1:] + body
s = socket.create_connection(("echo.test", ${workshop.echo.port}), 60)
s.sendall(b"\\x16\\x03\\x01" + struct.pack(">H", len(message)) + message)
data = b""
try:
    while b"\\x16\\x03\\x01" not in data:
        data += s.recv(1000) or exit("held")
except ConnectionError:
    exit("held")
print("passed")`);
    expect((await workshop.net(script, decider, { ruling: "allow" })).stderr).toBe("held\n");
    expect(workshop.echo.seen.filter((line) => line !== "connection").length).toBe(before);
  },
  LONG,
);

test(
  "attack: an allowed name that leads to loopback is asked about with its address, and not dialled",
  async () => {
    const decider = new TestDecider().allow(`http://web.test:${workshop.web.port}`, "receive");
    decider.mayRebind = false;
    const before = workshop.web.seen.length;
    const { stdout } = await workshop.net(`curl -sS -m 60 http://web.test:${workshop.web.port}/`, decider);
    expect(JSON.parse(stdout)).toMatchObject({ reason: "approval_required" });
    expect(decider.violations.at(-1)).toMatchObject({ address: "127.0.0.1" });
    expect(workshop.web.seen.length).toBe(before);
  },
  LONG,
);

test(
  "a websocket that only receives hears the server and may not send data",
  async () => {
    const served = await serveWebsocket();
    const script = python(`
import socket
s = socket.create_connection(("chat.test", ${served.port}), 60)
s.sendall(b"GET /chat HTTP/1.1\\r\\nHost: chat.test:${served.port}\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n")
data = b""
while b"welcome" not in data:
    data += s.recv(1000) or exit("ended early: " + str(data))
s.sendall(bytes([${[...frame(0x9, "p")].join(",")}]))
while b"p" != data[-1:]:
    data += s.recv(1000) or exit("ended early: " + str(data))
print("pong", flush=True)
s.sendall(bytes([${[...frame(0x1, "secret")].join(",")}]))
try:
    print(s.recv(1000).decode("latin1")[2:] or "cut")
except ConnectionError:
    print("cut")`);
    const only = new TestDecider().allow(`http://chat.test:${served.port}`, "receive");
    expect((await workshop.net(script, only, { ruling: "allow" })).stdout).toBe("pong\ncut\n");
    expect(served.seen).toEqual(["ping"]);
    expect(only.asked).toEqual([
      { operation: "send", target: `ws://chat.test:${served.port}/chat`, address: "127.0.0.1" },
    ]);
    const both = new TestDecider().allow(`http://chat.test:${served.port}`, "receive", "send");
    expect((await workshop.net(script, both, { ruling: "allow" })).stdout).toBe("pong\nsecret\n");
    served.close();
  },
  LONG,
);

test(
  "a declared loopback port leads to the host's own; others are the program's",
  async () => {
    const { port } = workshop.web;
    const decider = new TestDecider()
      .allow(`localhost:${port}`, "receive")
      .allow(`127.0.0.1:${port}`, "receive");
    const other = workshop.echo.port;
    // WHY -4: newer ones dial `::1` first, where no server of the host listens here.
    const { stdout } = await workshop.net(
      `curl -4 -sS -m 60 http://localhost:${port}/a; curl -sS -m 60 http://127.0.0.1:${port}/b
     curl -sS -m 5 http://127.0.0.1:${other}/ 2>/dev/null; echo "ended $?"`,
      decider,
      { network: [{ resourceType: "network", operation: "receive", target: `http://localhost:${port}` }] },
    );
    expect(stdout).toBe("hello GET /a 0\nhello GET /b 0\nended 7\n");
  },
  LONG,
);

test(
  "names are answered over TCP as well",
  async () => {
    const script = python(`
import socket, struct
q = b"\\x12\\x34\\x01\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x03web\\x04test\\x00\\x00\\x01\\x00\\x01"
s = socket.create_connection(("198.18.0.1", 53), 60)
s.sendall(struct.pack(">H", len(q)) + q)
print(s.recv(500)[-4:-2].hex())`);
    expect((await workshop.net(script, new TestDecider(), { ruling: "allow" })).stdout).toBe("c612\n");
  },
  LONG,
);

test(
  "the proxy that the host itself must use is used, with names that only it can look up",
  async () => {
    const wanted: string[] = [];
    const proxy = createServer((client) => {
      client.on("error", () => client.destroy());
      client.once("data", (head: Buffer) => {
        const [, authority = ""] = /^CONNECT (\S+) /.exec(head.toString("latin1")) ?? [];
        wanted.push(`${authority} ${head.includes("Basic dTpw")}`);
        const server = connect(Number(authority.split(":")[1]), "127.0.0.1", () => {
          client.write("HTTP/1.1 200 OK\r\n\r\n");
          client.pipe(server).pipe(client);
        });
        server.on("error", () => client.destroy());
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const { port } = proxy.address() as AddressInfo;
    const [web, secure] = [`web.test:${workshop.web.port}`, `secure.test:${workshop.secureWeb.port}`];
    const decider = new TestDecider().allow(web, "receive").allow(secure, "receive");
    const { stdout } = await workshop.net(
      `curl -sS -m 60 http://${web}/x; curl -sS -m 60 https://${secure}/y`,
      decider,
      {
        gateway: {
          upstreamProxy: { url: `http://u:p@127.0.0.1:${port}` },
          resolve: () => Promise.resolve([]),
        },
      },
    );
    proxy.close();
    expect(stdout).toBe("hello GET /x 0\nhello GET /y 0\n");
    expect(wanted).toEqual([`${web} true`, `${secure} true`]);
  },
  LONG,
);
