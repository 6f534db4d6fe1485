/**
 * The server of Sallyport: the HTTP API over an access-policy service. Trusts the host that composes it for the service,
 * the registry, the sign-in and the signing key; must never answer a call as anybody but whom its credential names.
 */
export type { Authenticate, CallHead } from "./decision-routes.ts";
export type { FrameOf } from "./runtime-api/remote-caller.ts";
export type { RevocationList, Revocable } from "./runtime-api/revocation-list.ts";
export type {
  HeldCredential,
  RuntimeCredentials,
  SigningKey,
  VerifyingKey,
} from "./runtime-api/runtime-credentials.ts";
export {
  type ConnectionLimits,
  type ListenOptions,
  type Listening,
  type SallyportServer,
  type ServerOptions,
  createServer,
} from "./server.ts";
