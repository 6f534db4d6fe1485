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
export { SubjectRefusedError } from "@sallyport/runtime";
export type { AccessResult, RunOptions, Runtime, Sdk } from "@sallyport/runtime";
export { type RemoteSallyport, type RemoteSallyportOptions, connectSallyport } from "./connect-sallyport.ts";
export { type Sallyport, type SallyportOptions, createSallyport } from "./create-sallyport.ts";
