/**
 * For programs and workers that a runtime started: the SDK over the gate that they inherited.
 */
export type { ChildRuntime, ConnectRuntimeOptions } from "./child-runtime.ts";
export { connectRuntime } from "./connect-runtime.ts";
