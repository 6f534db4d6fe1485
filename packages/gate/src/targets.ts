/**
 * What reads targets and speaks of questions, without a thread, a realm or a socket: for code that runs where those may not
 * be imported.
 */
export { type GateHatch, isGuarded, takeHatch } from "./client/gate-hatch.ts";
export { type ResolvedName, type Resolver, NameCache, resolveNames } from "./name-cache.ts";
export { type RawQuestion, normalizeAccess } from "./normalize-access.ts";
export * as gateBounds from "./protocol/bounds.ts";
export type { AskWords } from "./protocol/message.ts";
export { realPath } from "./real-path.ts";
