/**
 * The runtime context: who is acting, host-owned, sealed, and carried along wherever the work goes.
 * Trusts the host that enters it; gives guarded code nothing by which it could forge, shed or widen one.
 */
export type { HostFacts } from "./caller-copy.ts";
export { type ContextFacts, type FrameFacts, contextFacts } from "./context-facts.ts";
export { ContextKeeper, type ContextKeeperOptions } from "./context-keeper.ts";
export { type Following, followListeners } from "./follow-listeners.ts";
export type { RuntimeContext } from "./runtime-context.ts";
