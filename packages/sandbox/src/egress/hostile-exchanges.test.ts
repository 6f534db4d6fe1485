/** Bytes of hostile programs and servers: each ends its own exchange, and never the process that the gateway lives in. */
import { connect as connectHttp2 } from "node:http2";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Host } from "@sallyport/contract";
import { TestDecider } from "../testing/egress-fixture.ts";
import { Admissions } from "./admission.ts";
import { Dialer } from "./dial.ts";
import { HttpExchanges } from "./http-exchanges.ts";
import { LiveConnections } from "./live-connections.ts";
import { greetSocks } from "./socks-greeting.ts";

const FATAL = ["uncaughtException", "unhandledRejection"] as const;
const closing: (() => void)[] = [];
const faults: unknown[] = [];

// WHY: what nobody catches would end the process; the test has to see it before its runner does.
beforeEach(() => {
  for (const event of FATAL) {
    const others = process.listeners(event as "uncaughtException");
    process.removeAllListeners(event);
    process.on(event, (fault: unknown) => faults.push(fault));
    closing.push(() => {
      process.removeAllListeners(event);
      for (const other of others) process.on(event, other);
    });
  }
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
  faults.length = 0;
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A server that answers what it hears with these bytes. */
function serving(answer: string): Promise<number> {
  return listen(
    createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.once("data", () => socket.write(answer, "latin1"));
      closing.push(() => socket.destroy());
    }),
  );
}

/** Dials the gateway as a program that reaches `web.test` at that port, and may do everything there. */
async function gateway(port: number, version: 1 | 2): Promise<() => Socket> {
  const decider = new TestDecider().allow(`web.test:${port}`, "receive", "send");
  const live = new LiveConnections(decider);
  const resolve = (): Promise<string[]> => Promise.resolve(["127.0.0.1"]);
  const admissions = new Admissions({ decider, resolve, isProxied: () => false, now: Date.now });
  const onTunnel = (): void => undefined;
  const exchanges = new HttpExchanges({ decider, admissions, live, dialer: new Dialer({}), onTunnel });
  const passage = { kind: "origin", host: "web.test" as Host, port, isSecure: false, isOpen: false } as const;
  const inside = await listen(
    createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => socket.destroy());
      exchanges.serve(socket, passage, version);
    }),
  );
  closing.push(() => {
    exchanges.close();
    live.close();
  });
  return () => connect({ host: "127.0.0.1", port: inside });
}

/** All that a program hears to these bytes until its connection ends. */
async function told(port: number, bytes: string): Promise<string> {
  const program = (await gateway(port, 1))();
  let heard = "";
  program.on("data", (chunk: Buffer) => (heard += chunk.toString("latin1")));
  program.on("error", () => program.destroy());
  program.write(bytes, "latin1");
  await expect.poll(() => program.closed || faults.length > 0).toBe(true);
  return heard;
}

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n";
const ANSWERS = [
  ["a reason of controls", "HTTP/1.1 200 \x01\x7f\r\nContent-Length: 2\r\n\r\nok"],
  ["a status below all", "HTTP/1.1 099 Low\r\nContent-Length: 2\r\n\r\nok"],
  ["a status above all", "HTTP/1.1 999 High\r\nContent-Length: 2\r\n\r\nok"],
  ["two dates", `${OK}Date: a\r\nDate: b\r\n\r\nok`],
  [
    "a header that is said twice",
    `${OK}X-Content-Type-Options: nosniff\r\nX-Content-Type-Options: nosniff\r\n\r\nok`,
  ],
  ["a switch that nobody asked for", "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"],
  [
    "trailers about the connection",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nConnection: close\r\nTE: x\r\n\r\n",
  ],
] as const;

test.each(ANSWERS)("attack: %s in an answer ends one exchange", async (_, answer) => {
  const port = await serving(answer);
  await told(
    port,
    `POST / HTTP/1.1\r\nHost: web.test:${port}\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx`,
  );
  expect(faults).toEqual([]);
});

test.each(ANSWERS)("attack: %s in an answer ends one exchange of HTTP/2", async (name, answer) => {
  const port = await serving(answer);
  const session = connectHttp2("http://web.test", { createConnection: await gateway(port, 2) });
  session.on("error", () => undefined);
  closing.push(() => session.destroy());
  const stream = session.request({ ":authority": `web.test:${port}`, ":path": "/" });
  let heard = "";
  stream.on("error", () => undefined).on("data", (chunk: Buffer) => (heard += chunk.toString()));
  stream.end();
  await expect.poll(() => stream.closed || faults.length > 0).toBe(true);
  expect(faults).toEqual([]);
  // What is harmless goes through.
  if (/twice|reason|trailers/.test(name)) expect(heard).toBe("ok");
});

test.each(["websocket", "h2c"])(
  "attack: an upgrade to %s behind a request without an answer ends its connection",
  async (protocol) => {
    const port = await serving(`${OK}\r\nok`);
    const host = `Host: web.test:${port}\r\n`;
    const first = `POST / HTTP/1.1\r\n${host}Content-Length: 1\r\n\r\nx`;
    await told(port, `${first}GET / HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`);
    expect(faults).toEqual([]);
  },
);

test("attack: half a greeting of SOCKS, and nothing more, is waited for without a look at it again and again", async () => {
  const stream = new PassThrough();
  let looks = 0;
  const read = stream.read.bind(stream);
  stream.read = (size?: number): unknown => {
    // WHY: without this the process would never come back to say so.
    if (++looks > 100) throw new Error("it looks without end");
    return read(size);
  };
  const greeted = greetSocks(stream).catch((error: unknown) => String(error));
  stream.write(Buffer.from([5]));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(looks).toBeLessThan(10);
  stream.destroy();
  expect(await greeted).toBe("Error: the greeting ended early");
});
