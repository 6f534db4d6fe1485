/**
 * For programs and workers that a runtime started: the SDK over the gate that they inherited.
 */
export { type ChildRuntime, type ConnectRuntimeOptions, connectRuntime } from "./connect-runtime.ts";
