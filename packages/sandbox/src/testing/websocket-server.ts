/** A websocket server for tests, of the few frames they need: greets, answers pings, echoes text. */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const MASK = [1, 2, 3, 4] as const;
const SECRET_OF_THE_STANDARD = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** A short masked frame, as a program sends it. */
export function frame(opcode: number, text: string): Buffer {
  const body = Buffer.from(text).map((byte, index) => byte ^ (MASK[index % 4] as number));
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | body.length, ...MASK]), body]);
}

export interface WebsocketServer {
  readonly port: number;
  readonly seen: string[];
  close(): void;
}

export async function serveWebsocket(): Promise<WebsocketServer> {
  const seen: string[] = [];
  const server = createServer();
  server.on("upgrade", (req, socket) => {
    const accept = createHash("sha1")
      .update(`${req.headers["sec-websocket-key"]}${SECRET_OF_THE_STANDARD}`)
      .digest("base64");
    socket.on("error", () => socket.destroy());
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const send = (opcode: number, text: string): void =>
      void socket.write(Buffer.concat([Buffer.from([0x80 | opcode, text.length]), Buffer.from(text)]));
    send(0x1, "welcome");
    socket.on("data", (bytes: Buffer) => {
      const opcode = (bytes[0] ?? 0) & 0x0f;
      const text = bytes.subarray(6).map((byte, index) => byte ^ (MASK[index % 4] as number));
      if (opcode === 0x9) seen.push("ping");
      else if (opcode === 0x1) seen.push(Buffer.from(text).toString());
      send(opcode === 0x9 ? 0xa : 0x1, Buffer.from(text).toString());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
