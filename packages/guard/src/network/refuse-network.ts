/**
 * What of the network has no guarded form is refused: sockets that were bound elsewhere.
 */
import net from "node:net";
import { refusing } from "../refused/refused-exports.ts";
import { replaceExport } from "../replace-export.ts";

const WHY = "name a port and let the server listen";

export function refuseNetwork(): void {
  for (const name of ["BoundSocket", "_TransferredBoundSocket", "_createServerHandle"])
    replaceExport(net, name, () => refusing(`net.${name}`, WHY));
}
