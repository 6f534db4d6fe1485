/**
 * The client of a Sallyport server, for remote hosts, consoles and command lines: `AccessPolicy` over HTTP.
 * Trusts the server at the configured origin; must never allow what that server did not.
 */
export { type Client, type ClientOptions, createClient } from "./client.ts";
export {
  type Credential,
  type PersonCredential,
  type RuntimeCredential,
  runtimeCredential,
} from "./credential.ts";
export type { JobClient, JobOutcome } from "./lent-jobs.ts";
export { type HolderKey, type ProofWords, generateHolderKey } from "./holder-key.ts";
export type { Fetch } from "./transport.ts";
