/** The short way of simple requests, on real sockets: a program's end, the exchanges, and servers that count. */
import { once } from "node:events";
import { type Server, type Socket, connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { Host } from "@sallyport/contract";
import { TestDecider } from "../testing/egress-fixture.ts";
import { Admissions } from "./admission.ts";
import { Dialer } from "./dial.ts";
import { HttpExchanges } from "./http-exchanges.ts";
import { LiveConnections } from "./live-connections.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A server that answers each head it sees with what `respond` says, and counts connections. */
async function serving(respond: (head: string, socket: Socket) => string | undefined) {
  const heads: string[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => socket.destroy());
    let text = "";
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString("latin1");
      for (let end; (end = text.indexOf("\r\n\r\n")) >= 0; text = text.slice(end + 4)) {
        heads.push(text.slice(0, end));
        const answer = respond(text.slice(0, end), socket);
        if (answer !== undefined) socket.write(answer);
      }
    });
  });
  const port = await listen(server);
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { port, heads, sockets };
}

/** Exchanges whose program dialled `web.test` at that port. */
async function gateway(port: number, decider: TestDecider, addresses = ["127.0.0.1"]) {
  const live = new LiveConnections(decider);
  let at = 0;
  let nowMs = 0;
  const resolve = (): Promise<string[]> => Promise.resolve([addresses[at] ?? ""]);
  const admissions = new Admissions({ decider, resolve, isProxied: () => false, now: () => nowMs });
  const onTunnel = (): void => undefined;
  const exchanges = new HttpExchanges({ decider, admissions, live, dialer: new Dialer({}), onTunnel });
  const passage = { kind: "origin", host: "web.test" as Host, port, isSecure: false, isOpen: false } as const;
  const inside = await listen(
    createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => socket.destroy());
      exchanges.serve(socket, passage);
    }),
  );
  closing.push(() => {
    exchanges.close();
    live.close();
  });
  const move = (): void => {
    at++;
    nowMs += 60_000;
  };
  return {
    exchanges,
    live,
    move,
    dial: () => connect({ host: "127.0.0.1", port: inside, allowHalfOpen: true }),
  };
}

/** What a program hears until `isEnough`, or the end. */
async function hear(socket: Socket, isEnough: (text: string) => boolean): Promise<string> {
  let text = "";
  const take = (bytes: Buffer): void => void (text += bytes.toString("latin1"));
  socket.on("data", take);
  while (!isEnough(text) && !socket.readableEnded && !socket.destroyed)
    await Promise.race([once(socket, "data"), once(socket, "close"), once(socket, "end")]);
  socket.off("data", take);
  return text;
}

const ask = (port: number, path: string, method = "GET", more = ""): string =>
  `${method} ${path} HTTP/1.1\r\nHost: web.test:${port}\r\n${more}\r\n`;
const ok = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const bodyOf = (head: string): string => `<${head.split(" ")[1]}>`;
const allowing = (port: number): TestDecider => new TestDecider().allow(`http://web.test:${port}`, "receive");

test("requests that come together are answered in turn, each by itself, over one connection", async () => {
  const { port, heads, sockets } = await serving((head) =>
    head.startsWith("HEAD") ? "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" : ok(bodyOf(head)),
  );
  const decider = allowing(port);
  const { dial } = await gateway(port, decider);
  const program = dial();
  program.write(`${ask(port, "/1")}${ask(port, "/2")}${ask(port, "/3", "HEAD")}${ask(port, "/4")}`);
  const text = await hear(program, (seen) => seen.includes("</4>"));
  expect(text.match(/<\/\d>/g)).toEqual(["</1>", "</2>", "</4>"]);
  expect(heads.map((head) => head.split("\r\n")[0])).toEqual(
    ["GET /1", "GET /2", "HEAD /3", "GET /4"].map((line) => `${line} HTTP/1.1`),
  );
  expect(sockets).toHaveLength(1);
  expect(decider.spent.map(({ target }) => target)).toHaveLength(4);
});

test("a request that is not simple is left to the long way, with all that follow it", async () => {
  const { port, heads } = await serving((head) => ok(bodyOf(head)));
  const { dial } = await gateway(port, allowing(port));
  const program = dial();
  program.write(
    `${ask(port, "/1")}${ask(port, "/2", "POST", "Content-Length: 4\r\n")}body${ask(port, "/3")}`,
  );
  const text = await hear(program, (seen) => seen.includes("</3>"));
  expect(text).toContain("</1>");
  expect(text).toContain('"operation":"send"');
  expect(heads.some((head) => head.startsWith("POST"))).toBe(false);
});

test("another connection of the program takes the one to the server that is open already", async () => {
  const { port, sockets } = await serving((head) => ok(bodyOf(head)));
  const { dial } = await gateway(port, allowing(port));
  for (const path of ["/1", "/2", "/3"]) {
    const program = dial();
    program.write(ask(port, path, "GET", "Connection: close\r\n"));
    expect(await hear(program, (seen) => seen.includes(`<${path}>`))).toContain("Connection: close");
    if (!program.readableEnded) await once(program, "end");
    program.destroy();
  }
  expect(sockets).toHaveLength(1);
});

test("a connection that the server closed meanwhile is dialled anew, and the request is asked about once", async () => {
  const { port, sockets, heads } = await serving((head, socket) => {
    if (heads.length !== 2) return ok(bodyOf(head));
    socket.destroy();
    return undefined;
  });
  const decider = allowing(port);
  const { dial } = await gateway(port, decider);
  const program = dial();
  program.write(ask(port, "/1"));
  await hear(program, (seen) => seen.includes("</1>"));
  program.write(ask(port, "/2"));
  expect(await hear(program, (seen) => seen.includes("</2>"))).toContain("200 OK");
  expect(sockets).toHaveLength(2);
  expect(decider.spent).toHaveLength(2);
});

test("a server that closes before it answers for the first time is unreachable", async () => {
  const { port } = await serving((_, socket) => void socket.destroy());
  const { dial } = await gateway(port, allowing(port));
  const program = dial();
  program.write(ask(port, "/1"));
  const text = await hear(program, (seen) => seen.includes("}\n"));
  expect(text).toMatch(/^HTTP\/1\.1 502 /);
  expect(text).toContain('"reason":"unreachable"');
});

test("attack: a name that comes to lead elsewhere is not served by a connection to where it led", async () => {
  const { port, heads } = await serving((head) => ok(bodyOf(head)));
  const { dial, move } = await gateway(port, allowing(port), ["127.0.0.1", "127.0.0.3"]);
  const program = dial();
  program.write(ask(port, "/1"));
  await hear(program, (seen) => seen.includes("</1>"));
  move();
  program.write(ask(port, "/2"));
  expect(await hear(program, (seen) => seen.includes("}\n"))).toContain('"reason":"unreachable"');
  expect(heads).toHaveLength(1);
});

test("a denied request is answered and the next one is judged by itself", async () => {
  const { port, heads } = await serving((head) => ok(bodyOf(head)));
  const decider = new TestDecider().allow(`http://web.test:${port}/open`, "receive");
  const { dial } = await gateway(port, decider);
  const program = dial();
  program.write(`${ask(port, "/shut", "HEAD")}${ask(port, "/shut")}${ask(port, "/open")}`);
  const text = await hear(program, (seen) => seen.includes("</open>"));
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 403", "HTTP/1.1 403", "HTTP/1.1 200"]);
  expect(text.match(/how_to_ask/g)).toHaveLength(1);
  expect(heads).toHaveLength(1);
});

test("attack: bytes that a server sends before it is asked reach no later request", async () => {
  const { port, sockets } = await serving((head) => `${ok(bodyOf(head))}${ok("<smuggled>")}`);
  const { dial } = await gateway(port, allowing(port));
  const program = dial();
  program.write(ask(port, "/1"));
  await hear(program, (seen) => seen.includes("</1>"));
  program.write(ask(port, "/2"));
  const text = await hear(program, (seen) => seen.includes("</2>"));
  expect(text).not.toContain("smuggled");
  expect(sockets).toHaveLength(2);
});

test("a body that ends with the connection, and one in pieces, arrive whole", async () => {
  const { port } = await serving((head, socket) => {
    if (head.includes("/pieces"))
      return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
    socket.end("HTTP/1.0 200 OK\r\n\r\nto the end");
    return undefined;
  });
  const { dial } = await gateway(port, allowing(port));
  const program = dial();
  program.write(ask(port, "/pieces"));
  expect(await hear(program, (seen) => seen.endsWith("0\r\n\r\n"))).toContain("3\r\nabc\r\n");
  program.write(ask(port, "/end"));
  expect(await hear(program, () => false)).toMatch(/Connection: close\r\n\r\nto the end$/);
});

test("a program that goes away while its request waits takes the connection to the server with it", async () => {
  const { port, sockets, heads } = await serving(() => undefined);
  const { dial, live } = await gateway(port, allowing(port));
  const program = dial();
  program.write(ask(port, "/1"));
  while (heads.length === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(live.size).toBe(1);
  const [socket] = sockets;
  program.destroy();
  if (socket !== undefined && !socket.destroyed) await once(socket, "close");
  expect(live.size).toBe(0);
});

test.each([true, false])(
  "attack: a request that is the same as the last one is decided anew (known from memory: %s)",
  async (hasMemory) => {
    const { port, heads } = await serving((head) => ok(bodyOf(head)));
    const decider = Object.assign(allowing(port), { hasMemory });
    const { dial } = await gateway(port, decider);
    const program = dial();
    program.write(ask(port, "/1").repeat(3));
    await hear(program, (seen) => seen.split("</1>").length === 4);
    expect(decider.spent).toHaveLength(3);
    decider.revoke();
    program.write(ask(port, "/1"));
    expect(await hear(program, (seen) => seen.endsWith("}\n"))).toMatch(/^HTTP\/1\.1 403 /);
    expect(heads).toHaveLength(3);
  },
);

test("attack: the length in an answer to HEAD hides no later answer, and a body follows one to GET", async () => {
  const { port, heads } = await serving((head) =>
    head.startsWith("HEAD") ? ok("").replace(": 0", ": 4") : ok(bodyOf(head)),
  );
  const { dial } = await gateway(port, allowing(port));
  const program = dial();
  const [head, get] = [ask(port, "/1", "HEAD"), ask(port, "/1")];
  program.write(`${head}${get}${head}${get}${get}`);
  const text = await hear(program, (seen) => seen.split("</1>").length === 4);
  const answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: keep-alive\r\n\r\n";
  expect(text).toBe(`${answer}${answer}</1>${answer}${answer}</1>${answer}</1>`);
  expect(heads).toHaveLength(5);
});

test("an answer like the last one is told that the connection ends where the program wants that", async () => {
  const { port } = await serving((head) => ok(bodyOf(head)));
  const { dial } = await gateway(port, allowing(port));
  const program = dial();
  program.write(`${ask(port, "/1")}${ask(port, "/1")}${ask(port, "/1", "GET", "Connection: close\r\n")}`);
  const text = await hear(program, () => false);
  expect(text.match(/Connection: .*/g)).toEqual(
    ["keep-alive", "keep-alive", "close"].map((word) => `Connection: ${word}`),
  );
});
