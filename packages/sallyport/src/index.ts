/**
 * Sallyport: run code that nobody fully trusts inside a declared boundary. `createSallyport` embeds all of it;
 * `connectSallyport` is the same API against a server.
 */
export {
  AccessPendingError,
  ExternalAccessError,
  PermissionError,
  filesystem,
  network,
  systemDependency,
} from "@sallyport/contract";
export {
  type HolderKey,
  type RuntimeCredential,
  generateHolderKey,
  runtimeCredential,
} from "@sallyport/client";
export type { IssuedCredential } from "@sallyport/contract/remote";
export { SubjectRefusedError } from "@sallyport/runtime";
export type { AccessResult, RunOptions, Runtime, Sdk } from "@sallyport/runtime";
export { type RemoteSallyport, type RemoteSallyportOptions, connectSallyport } from "./connect-sallyport.ts";
export { type Sallyport, type SallyportOptions, createSallyport } from "./create-sallyport.ts";
export type { ServerParts } from "./server-parts.ts";
