/**
 * The gateway around its connections: waiting, approving, revoking, dying; names, certificates, websockets, forwarded
 * ports and the proxy of the host. Real programs in real sandboxes.
 */
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type EgressWorkshop,
  NO_PROXIES,
  READS,
  TestDecider,
  openEgressWorkshop,
} from "../testing/egress-fixture.ts";
import { frame, serveWebsocket } from "../testing/websocket-server.ts";

const LONG = 300_000;
let workshop: EgressWorkshop;

beforeAll(async () => {
  workshop = await openEgressWorkshop();
}, LONG);
afterAll(() => workshop.close());

const python = (script: string): string => `/usr/bin/python3 -I - <<'END'\n${script}\nEND`;

/** Starts a program and gives what it prints, line by line. */
function start(script: string, decider: TestDecider) {
  const confined = workshop.start("/bin/sh", ["-c", script], {
    egress: workshop.egress(decider),
    env: NO_PROXIES,
    allow: READS,
    rules: { network: "gateway" },
    ruling: "allow",
  });
  let text = "";
  const output = confined.child.stdout;
  output?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const ended = once(confined.child, "close");
  const printed = async (words: string): Promise<void> => {
    while (!text.includes(words)) {
      if (output === null) throw new Error("no output");
      await Promise.race([once(output, "data"), ended]);
      if (!text.includes(words) && confined.child.exitCode !== null) throw new Error(`ended: ${text}`);
    }
  };
  return { ...confined, printed, ended, text: () => text };
}

const ECHO_PROGRAM = (): string =>
  python(`
import socket
s = socket.create_connection(("echo.test", ${workshop.echo.port}), 60)
print("heard", s.recv(100).decode().strip(), flush=True)
try:
    print("then", s.recv(100) or "end", flush=True)
except ConnectionError:
    print("then end", flush=True)`);

describe("while a person decides", () => {
  test(
    "the connection is held and nothing is dialled; the approval opens the door at once",
    async () => {
      const decider = new TestDecider();
      let decide: (allowed: boolean) => void = () => undefined;
      const asked = new Promise<void>((resolve) => {
        decider.answer = () => {
          resolve();
          return new Promise((settle) => (decide = settle));
        };
      });
      const before = workshop.web.seen.length;
      const run = start(`curl -sS -m 100 http://web.test:${workshop.web.port}/held`, decider);
      await asked;
      expect(workshop.web.seen.length).toBe(before);
      decide(true);
      await run.ended;
      expect(run.text()).toBe("hello GET /held 0\n");
    },
    LONG,
  );

  test(
    "a denial says what was refused, to whom, by what, and how to ask",
    async () => {
      const { stdout } = await workshop.net(
        `curl -sS -m 60 -d x 'http://web.test:${workshop.web.port}/a"<b>?q=%0a'`,
        new TestDecider(),
      );
      expect(JSON.parse(stdout)).toEqual({
        reason: "approval_required",
        decision: "asked",
        source: "mode",
        subject: { type: "tool", name: "demo.net" },
        resource_type: "network",
        operation: "send",
        target: `http://web.test:${workshop.web.port}/a%22%3Cb%3E?q=%0a`,
        request_id: "request-1",
        message: "tool:demo.net may not do this: ask",
        how_to_ask: "have request `request-1` approved, then try again",
      });
    },
    LONG,
  );
});

describe("a revocation closes what is open", () => {
  test(
    "a raw connection",
    async () => {
      const decider = new TestDecider().allow(`echo.test:${workshop.echo.port}`, "connect");
      const run = start(ECHO_PROGRAM(), decider);
      await run.printed("heard first word");
      expect(run.gateway?.openCount).toBe(1);
      decider.revoke();
      await run.ended;
      expect(run.text()).toContain("then end");
    },
    LONG,
  );

  test(
    "a download under way, and not one that is still allowed",
    async () => {
      const server = createHttpServer((_, res) => res.write("begun\n"));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const decider = new TestDecider().allow(`http://slow.test:${port}`, "receive");
      const run = start(`curl -sS -N -m 100 http://slow.test:${port}/; echo "ended $?"`, decider);
      await run.printed("begun");
      await run.gateway?.recheck();
      expect(run.gateway?.openCount).toBe(1);
      decider.revoke();
      await run.ended;
      expect(run.text()).toMatch(/ended (?:18|52|56)\n/);
      server.close();
      server.closeAllConnections();
    },
    LONG,
  );
});

describe("the gateway is killed, and nothing gets out:", () => {
  test(
    "before the first connection",
    async () => {
      const decider = new TestDecider().allow(`http://web.test:${workshop.web.port}`, "receive");
      const before = workshop.web.seen.length;
      const run = start(
        `read go; curl -sS -m 5 http://web.test:${workshop.web.port}/killed; echo "ended $?"`,
        decider,
      );
      await run.started;
      run.gateway?.close();
      run.child.stdin?.end("go\n");
      await run.ended;
      expect(run.text()).toMatch(/ended [1-9]/);
      expect(workshop.web.seen.length).toBe(before);
    },
    LONG,
  );

  test(
    "while a question waits, and an answer comes later",
    async () => {
      const decider = new TestDecider();
      let decide: (allowed: boolean) => void = () => undefined;
      const asked = new Promise<void>((resolve) => {
        decider.answer = () => {
          resolve();
          return new Promise((settle) => (decide = settle));
        };
      });
      const before = workshop.web.seen.length;
      const run = start(
        `curl -sS -m 60 http://web.test:${workshop.web.port}/killed; echo "ended $?"`,
        decider,
      );
      await asked;
      run.gateway?.close();
      decide(true);
      await run.ended;
      expect(run.text()).toMatch(/ended [1-9]/);
      expect(workshop.web.seen.length).toBe(before);
    },
    LONG,
  );

  test(
    "while bytes flow",
    async () => {
      const run = start(
        ECHO_PROGRAM(),
        new TestDecider().allow(`echo.test:${workshop.echo.port}`, "connect"),
      );
      await run.printed("heard first word");
      run.gateway?.close();
      await run.ended;
      expect(run.text()).toContain("then end");
      expect(run.gateway?.openCount).toBe(0);
    },
    LONG,
  );
});

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
    "the authority of each request of HTTP/2 is checked",
    async () => {
      const { port } = workshop.secureWeb;
      const decider = new TestDecider()
        .allow(`https://secure.test:${port}`, "receive")
        .allow("evil.test", "receive");
      const { stdout } = await workshop.net(
        `curl -sS -m 60 --http2 https://secure.test:${port}/two -w '%{http_version}\\n'
       curl -sS -m 60 --http2 -H 'Host: evil.test' https://secure.test:${port}/evil`,
        decider,
      );
      expect(stdout).toContain("hello GET /two 0\n2\n");
      expect(JSON.parse(stdout.split("\n")[2] ?? "")).toMatchObject({ reason: "host_mismatch" });
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
  "what is approved for a while is cut off when it ends",
  async () => {
    const decider = new TestDecider().allow(`echo.test:${workshop.echo.port}`, "connect");
    decider.expiresAtMs = Date.now() + 3000;
    const { stdout } = await workshop.net(ECHO_PROGRAM(), decider, { ruling: "allow" });
    expect(stdout.split("\n").at(-2)).toBe("then end");
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
    const { stdout } = await workshop.net(
      `curl -sS -m 60 http://localhost:${port}/a; curl -sS -m 60 http://127.0.0.1:${port}/b
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

test("a program that is not there leaves no file of the gateway behind", () => {
  const { TMPDIR: usual } = process.env;
  const places = workshop.make("places");
  process.env["TMPDIR"] = places;
  try {
    const options = { egress: workshop.egress(new TestDecider()), rules: { network: "gateway" } } as const;
    expect(() => workshop.start("no-such-program", [], options)).toThrow("is no program");
    expect(readdirSync(places)).toEqual([]);
  } finally {
    if (usual === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = usual;
  }
});

test(
  "nothing is left behind: no file, no socket",
  async () => {
    const run = start("echo done", new TestDecider());
    await run.ended;
    expect(run.gateway?.openCount).toBe(0);
    const { stdout } = await workshop.net("ls /proc/self/fd | wc -l; cat /etc/hosts", new TestDecider());
    expect(stdout).toBe("4\n127.0.0.1 localhost\n::1 localhost\n");
  },
  LONG,
);
