/**
 * The gateway of one confined program, from before its start until after its end: what the launcher is told, the files
 * and variables of the program, and the sockets that come back.
 */
import type { Server } from "node:net";
import { SandboxError } from "../errors.ts";
import type { Capture } from "../launch-description.ts";
import type { Confinement } from "../profile/confinement.ts";
import { CATCH_PORT, EgressGateway, type EgressOptions } from "./egress-gateway.ts";
import { captureWords } from "./netlink-message.ts";
import { writeSandboxFiles } from "./sandbox-files.ts";

export interface Egress {
  readonly gateway: EgressGateway | undefined;
  readonly capture: Capture | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly confinement: Confinement;
  /** Whether the message brought a socket for the gateway. */
  take(message: unknown, handle: unknown): boolean;
  close(): void;
}

export function openEgress(confinement: Confinement, options: EgressOptions | undefined): Egress {
  if (confinement.network === "none") return withoutNetwork(confinement);
  if (options === undefined) {
    const message =
      "the profile has a gateway and nobody to ask: give `egress` to `spawn`, or compile it without `network`";
    throw new SandboxError("sandbox_profile", message);
  }
  const gateway = new EgressGateway(options);
  const files = writeSandboxFiles(gateway.authority.certificate);
  const { forwardedPorts } = confinement;
  return Object.freeze({
    gateway,
    capture: {
      catchPort: CATCH_PORT,
      words: captureWords({ catchPort: CATCH_PORT, forwardedPorts }),
      covers: files.covers,
    },
    environment: files.environment,
    confinement: files.widen(confinement),
    take: (message: unknown, handle: unknown) => takeSocket(gateway, message, handle),
    close: () => {
      gateway.close();
      files.remove();
    },
  });
}

function withoutNetwork(confinement: Confinement): Egress {
  return Object.freeze({
    gateway: undefined,
    capture: undefined,
    environment: Object.freeze({}),
    confinement,
    take: () => false,
    close: () => undefined,
  });
}

function takeSocket(gateway: EgressGateway, message: unknown, handle: unknown): boolean {
  if (typeof message !== "object" || message === null || handle === undefined || handle === null)
    return false;
  switch ((message as { readonly kind?: unknown }).kind) {
    case "streams":
      gateway.catchStreams(handle as Server);
      return true;
    case "names":
      gateway.catchNames(handle);
      return true;
    case "datagrams":
      gateway.catchDatagrams(handle);
      return true;
    default:
      return false;
  }
}
