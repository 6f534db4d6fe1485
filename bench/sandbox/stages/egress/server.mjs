// @ts-check
/** Purpose: the servers that are asked, in a process of their own: one port for each thing that is allowed. */
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createPlainServer } from "node:net";
import { openAuthority } from "../../../../packages/sandbox/dist/egress/certificate-authority.js";

/** @typedef {Record<"receive" | "connect" | "tlsConnect" | "tlsReceive" | "echo", number>} Ports */

const BODY = "x".repeat(1024);
const authority = openAuthority(Date.now());
const { certificates: cert, key } = authority.certify(/** @type {never} */ ("127.0.0.1"));

/** @type {import("node:http").RequestListener} */
const respond = (_, response) => response.end(BODY);

/** @param {import("node:net").Server} server @returns {Promise<number>} */
const listening = (server) =>
  new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () =>
      resolve(/** @type {import("node:net").AddressInfo} */ (server.address()).port),
    ),
  );

/** Answers each message, which is as short as a request, with as many bytes as a response has. */
const echo = createPlainServer({ noDelay: true }, (socket) => {
  socket.on("error", () => socket.destroy());
  socket.on("data", () => socket.write(BODY));
});

/** @type {Ports} */
const ports = {
  receive: await listening(createServer(respond)),
  connect: await listening(createServer(respond)),
  tlsConnect: await listening(createTlsServer({ cert, key }, respond)),
  tlsReceive: await listening(createTlsServer({ cert, key }, respond)),
  echo: await listening(echo),
};
process.send?.({ ports, authority: authority.certificate });
process.once("disconnect", () => process.exit());
