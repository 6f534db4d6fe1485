/** Servers of tests: on loopback, at a port that is free. */
import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** The port, once the server listens. */
export async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
