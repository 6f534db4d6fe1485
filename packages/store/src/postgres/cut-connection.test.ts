/** A connection that the server ends in the moment in which it is handed out. */
import { once } from "node:events";
import { type AddressInfo, type Server, createServer } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Engine } from "../sql/engine.ts";
import { openPostgresEngine } from "./postgres-engine.ts";

/** One message of the server: its letter, its length, its body. */
function message(letter: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(letter, 0, "latin1");
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

const WELCOME = [message("R", Buffer.alloc(4)), message("Z", Buffer.from("I"))];
const TERMINATED = message("E", Buffer.from("SFATAL\0C57P01\0Mterminating connection\0\0"));

let server: Server;
let engine: Engine;
beforeAll(async () => {
  server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(Buffer.concat([...WELCOME, TERMINATED])));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  engine = openPostgresEngine({
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    connectionsMax: 2,
    connectTimeoutMs: 5000,
    statementTimeoutMs: 5000,
  });
});
afterAll(async () => {
  await engine.close();
  server.close();
});

it("is unavailable to whoever asked, and no fault that nobody hears", async () => {
  for (let round = 0; round < 3; round++)
    await expect(engine.begin("write")).rejects.toMatchObject({ code: "unavailable" });
});
