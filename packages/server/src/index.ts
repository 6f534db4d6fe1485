/**
 * The server of Sallyport: the HTTP API over an access-policy service. Trusts the host that composes it for the service,
 * the registry, the sign-in and the signing key; must never answer a call as anybody but whom its credential names.
 */
export type { AdminSocket } from "./admin-socket.ts";
export type { AdminOptions } from "./admin/admin-options.ts";
export type { Authenticate } from "./decision-routes.ts";
export type { CallHead, HeadFields } from "./incoming-call.ts";
export { PEER_SOURCES, type Peer, type PeerCheck, peerFault, readPeer } from "./peer-credentials.ts";
export type { FrameOf } from "./runtime-api/remote-caller.ts";
export { ReplayCache, type Admittance, type ReplayMemory } from "./runtime-api/replay-cache.ts";
export type { RevocationList, Revocable } from "./runtime-api/revocation-list.ts";
export type {
  HeldCredential,
  RuntimeCredentials,
  SigningKey,
  VerifyingKey,
} from "./runtime-api/runtime-credentials.ts";
export { type WebhookOptions, signatureOf } from "./notify/webhook.ts";
export {
  type ConnectionLimits,
  type ListenOptions,
  type Listening,
  type SallyportServer,
  type ServerOptions,
  type TlsFiles,
  createServer,
} from "./server.ts";
export type { OidcOptions } from "./sign-in/oidc.ts";
