/**
 * Two sandboxes at once, and the credentials of one in the hands of the other: bypasses 11 and 16 of the list. One subject may
 * receive from a server and runs a relay inside; the other may reach nothing and tries to act as the first.
 */
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type EgressWorkshop,
  type Talking,
  TestDecider,
  openEgressWorkshop,
  python,
} from "../testing/egress-fixture.ts";

const RELAY_PORT = 16_001;
const LONG = 180_000;
/** Made up, guessed, or the name of the other: as programs send them to proxies. */
const CREDENTIALS = [
  "Basic dG9vbDpkZW1vLm5ldA==",
  "Bearer demo.net",
  "Negotiate AAAA",
  "sallyport tool:demo.net",
];

let workshop: EgressWorkshop;
let [owner, thief] = [new TestDecider(), new TestDecider()];
let relay: Talking;
const heads: (readonly string[])[] = [];
const outcomes = new Map<string, string>();

/** Forwards whatever reaches it to the server that its sandbox may receive from, and says so. */
const RELAY = `
import socket, threading
def serve(client):
    print("relayed", flush=True)
    server = socket.create_connection(("web.test", WEB), 60)
    server.sendall(client.recv(65536))
    while True:
        data = server.recv(65536)
        if not data: break
        client.sendall(data)
    client.close()
listener = socket.create_server(("", ${RELAY_PORT}), family=socket.AF_INET6, dualstack_ipv6=True)
def accept():
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client,), daemon=True).start()
threading.Thread(target=accept, daemon=True).start()
def ask(request):
    s = socket.create_connection(("127.0.0.1", ${RELAY_PORT}), 60)
    s.sendall(request)
    text = b""
    while True:
        data = s.recv(65536)
        if not data: break
        text += data
    return text.decode().split("\\r\\n")[0] + (" (sallyport)" if b"x-sallyport: denied" in text.lower() else "")
HEAD = b"Host: web.test:%d\\r\\nProxy-Authorization: Bearer other\\r\\nConnection: close\\r\\n" % WEB
print("own get:", ask(b"GET /own HTTP/1.1\\r\\n" + HEAD + b"\\r\\n"), flush=True)
print("own post:", ask(b"POST /own HTTP/1.1\\r\\nContent-Length: 0\\r\\n" + HEAD + b"\\r\\n"), flush=True)
print("stands for:", socket.gethostbyname("web.test"), flush=True)
threading.Event().wait()
`;

/** Each way that could lead to the other's gateway, relay or server. */
const THEFT = `
import json, socket
def heard(s):
    text = s.recv(65536).decode("latin1")
    while text and '\\r\\n\\r\\n' not in text: text += s.recv(65536).decode("latin1")
    line = text.split("\\r\\n")[0]
    return (line + (" (sallyport)" if "x-sallyport: denied" in text.lower() else "")) or "closed"
def attempt(name, address, request, inside=None):
    try:
        s = socket.create_connection(address, 5)
        s.settimeout(20)
        s.sendall(request)
        outcome = heard(s)
        if inside and outcome.startswith("HTTP/1.1 200"):
            s.sendall(inside)
            outcome = heard(s)
    except OSError as error:
        outcome = type(error).__name__
    print(json.dumps([name, outcome]), flush=True)
URL = "http://web.test:%d/stolen" % WEB
plain = ("GET /stolen HTTP/1.1\\r\\nHost: web.test:%d\\r\\n\\r\\n" % WEB).encode()
for credential in CREDENTIALS:
    head = "Host: web.test:%d\\r\\nProxy-Authorization: %s\\r\\nAuthorization: %s\\r\\n\\r\\n" % (WEB, credential, credential)
    attempt("proxy request with " + credential, ("127.0.0.1", 15001), ("GET %s HTTP/1.1\\r\\n%s" % (URL, head)).encode())
    attempt("tunnel with " + credential, ("127.0.0.1", 15001), ("CONNECT web.test:%d HTTP/1.1\\r\\n%s" % (WEB, head)).encode(), plain)
attempt("proxy request without any", ("127.0.0.1", 15001), ("GET %s HTTP/1.1\\r\\nHost: web.test:%d\\r\\n\\r\\n" % (URL, WEB)).encode())
attempt("user in the URL", ("127.0.0.1", 15001), ("GET http://tool:demo.net@web.test:%d/stolen HTTP/1.1\\r\\nHost: web.test:%d\\r\\n\\r\\n" % (WEB, WEB)).encode())
for host in ["127.0.0.1", "::1"] + HOSTS:
    for port in (RELAY, 15001):
        if (host, port) != ("127.0.0.1", 15001): attempt("%s port %d" % (host, port), (host, port), plain)
attempt("tunnel to the relay", ("127.0.0.1", 15001), b"CONNECT 127.0.0.1:%d HTTP/1.1\\r\\nHost: 127.0.0.1:%d\\r\\n\\r\\n" % (RELAY, RELAY), plain)
attempt("the address that stands for its server", (STANDS_FOR, WEB), plain)
`;

beforeAll(async () => {
  workshop = await openEgressWorkshop();
  const { web } = workshop;
  web.server.on("request", (request: { readonly rawHeaders: readonly string[] }) =>
    heads.push(request.rawHeaders),
  );
  owner = new TestDecider().allow(`http://web.test:${web.port}`, "receive");
  thief = new TestDecider();
  relay = workshop.talk(python(`WEB = ${web.port}\n${RELAY}`), owner);
  await relay.printed("stands for: ");
  await relay.printed("own post: ");
  const hosts = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, address }) => !internal && !address.startsWith("fe80"))
    .map(({ address }) => address);
  const values = {
    WEB: web.port,
    RELAY: RELAY_PORT,
    CREDENTIALS,
    HOSTS: hosts,
    STANDS_FOR: /stands for: (\S+)/.exec(relay.text())?.[1],
  };
  const named = Object.entries(values).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  const { stdout, stderr } = await workshop.net(python(`${named.join("\n")}\n${THEFT}`), thief, {
    ruling: "allow",
  });
  expect(stderr).toBe("");
  for (const line of stdout.trim().split("\n")) {
    const [name, outcome] = JSON.parse(line) as [string, string];
    outcomes.set(name, outcome);
  }
}, LONG);
afterAll(async () => {
  relay.child.kill("SIGKILL");
  await relay.ended;
  workshop.close();
});

describe("attack:", () => {
  test("an inside relay forwards what another asks for: it is judged as the sandbox's own subject", () => {
    expect(relay.text()).toContain("own get: HTTP/1.1 200 OK");
    expect(relay.text()).toMatch(/own post: HTTP\/1\.1 40[03] .*\(sallyport\)/);
    expect(owner.asked).toEqual([expect.objectContaining({ operation: "send" })]);
    expect(owner.spent.map(({ operation }) => operation)).toEqual(["receive"]);
  });

  test.each(CREDENTIALS)("the proxy credentials of another subject: %s", (credential) => {
    for (const way of ["proxy request", "tunnel"])
      expect(outcomes.get(`${way} with ${credential}`)).toMatch(
        /^(?:HTTP\/1\.1 40[03] .*\(sallyport\)|closed)$/,
      );
  });

  test("made-up credentials are judged as none are: as the subject of the sandbox", () => {
    expect(outcomes.get("proxy request with Bearer demo.net")).toBe(
      outcomes.get("proxy request without any"),
    );
    expect(outcomes.get("user in the URL")).not.toContain("200");
    const target = `http://web.test:${workshop.web.port}/stolen`;
    expect(thief.asked.filter((question) => question.target === target).length).toBeGreaterThan(
      CREDENTIALS.length,
    );
    expect(thief.spent).toEqual([]);
  });

  test("no way leads to the gateway, the relay or the server of another sandbox", () => {
    const reached = [...outcomes].filter(([, outcome]) => /200|hello/.test(outcome));
    expect(reached).toEqual([]);
    expect(outcomes.get(`127.0.0.1 port ${RELAY_PORT}`)).toBe("ConnectionRefusedError");
    expect(outcomes.get(`::1 port ${RELAY_PORT}`)).toBe("ConnectionRefusedError");
    expect(outcomes.get("the address that stands for its server")).not.toContain("200");
    expect(relay.text().split("relayed").length - 1).toBe(2);
    expect(workshop.web.seen).toEqual([`GET web.test:${workshop.web.port} /own`]);
  });

  test("credentials for a proxy go no further than the gateway", () => {
    expect(heads.flat().map((word) => word.toLowerCase())).not.toContain("proxy-authorization");
    expect(heads.length).toBe(1);
  });
});
