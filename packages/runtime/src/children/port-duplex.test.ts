/** A message port as a stream: whole, in order, bounded, and closed by whatever is no chunk. */
import { once } from "node:events";
import { MessageChannel } from "node:worker_threads";
import { expect, it } from "vitest";
import { PortDuplex } from "./port-duplex.ts";

function pair() {
  const { port1, port2 } = new MessageChannel();
  return { near: new PortDuplex(port1), far: new PortDuplex(port2), port1, port2 };
}

it("carries bytes whole and in order, both ways, and its end", async () => {
  const { near, far } = pair();
  const sent = Array.from({ length: 200 }, (_, index) => Buffer.alloc(1000, index));
  for (const chunk of sent) near.write(chunk);
  near.end();
  const received: Buffer[] = [];
  for await (const chunk of far) received.push(chunk as Buffer);
  expect(Buffer.concat(received).equals(Buffer.concat(sent))).toBe(true);
});

it("keeps what is not taken on the side of whoever sends", async () => {
  const { near, far, port1 } = pair();
  let posted = 0;
  const post = port1.postMessage.bind(port1);
  port1.postMessage = ((message: unknown) => {
    if (message instanceof Uint8Array) posted += 1;
    post(message);
  }) as typeof port1.postMessage;
  far.pause();
  for (let index = 0; index < 100; index++) near.write(Buffer.alloc(16_384));
  for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve));
  expect(posted).toBeLessThan(10);
  expect(near.writableLength).toBeGreaterThan(80 * 16_384);
  far.resume();
  await once(near, "drain");
  near.destroy();
  await once(far, "close");
});

it.each([["a text"], [{ allowed: true }], [null], [2]])(
  "ends the connection at %j, which is no chunk",
  async (message) => {
    const { near, far, port2 } = pair();
    near.on("error", () => undefined);
    port2.postMessage(message);
    await once(far, "close");
    expect(near.destroyed).toBe(true);
  },
);

it("ends the connection of whoever sends a second chunk before the first was taken", async () => {
  const { near, far, port2 } = pair();
  near.on("error", () => undefined);
  for (let index = 0; index < 8; index++) port2.postMessage(Buffer.alloc(65_536));
  await once(far, "close");
  expect(near.destroyed).toBe(true);
});
