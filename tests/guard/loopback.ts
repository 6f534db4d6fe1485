/** Servers of tests: on loopback, at a port that is free. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, type Server, createServer } from "node:net";

/** WHY these: a port above them is given to whoever asks for any, also between the look at it and its use. */
const KEPT_PORTS = { from: 20_000, to: 32_000 } as const;

/** The port, once the server listens. */
export async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** A port on which nobody listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(KEPT_PORTS.from, KEPT_PORTS.to);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
