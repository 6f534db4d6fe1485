/**
 * Connections that are kept for the next call to the same address, port and, over TLS, name. A connection carries no
 * rights: every call is checked for itself, and one that was kept is found by the address that this call was checked for.
 * Must never hand a connection that was verified for one name to a call for another.
 */
import * as http from "node:http";
import * as https from "node:https";
import { rootCertificates } from "node:tls";

export interface ConnectionPool {
  readonly http: http.Agent;
  readonly https: https.Agent;
}

const FREE_MAX = 32;
const FREE_MS = 15_000;
const SOCKETS_MAX = 512;

/** @param ca certificates of authorities that the host trusts beside those of Node, as PEM */
export function connectionPool(ca: readonly string[] | undefined): ConnectionPool {
  const options = {
    keepAlive: true,
    maxFreeSockets: FREE_MAX,
    maxTotalSockets: SOCKETS_MAX,
    timeout: FREE_MS,
  };
  const trusted = ca === undefined || ca.length === 0 ? {} : { ca: [...rootCertificates, ...ca] };
  return Object.freeze({
    http: new http.Agent(options),
    https: new https.Agent({ ...options, ...trusted }),
  });
}
