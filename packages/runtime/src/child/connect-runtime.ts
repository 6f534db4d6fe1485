/**
 * The child's side of the runtime: the same SDK over the gate that the child inherited. Runs as whom the host bound the
 * socket to; nothing said here changes that. Not a wall: what does not ask is stopped by the OS sandbox.
 * Must import nothing by itself that is refused to guarded code.
 */
import { takeHatch } from "@sallyport/gate/targets";
import type { ChildRuntime, ConnectRuntimeOptions } from "./child-runtime.ts";

/** Rejects where this program was not started by a runtime, or somebody in it has connected before. */
export async function connectRuntime(options: ConnectRuntimeOptions = {}): Promise<ChildRuntime> {
  const hatch = takeHatch();
  if (hatch !== undefined) {
    const { guardedRuntime } = await import("./guarded-runtime.ts");
    return guardedRuntime(hatch, options);
  }
  const { inheritedRuntime } = await import("./inherited-runtime.ts");
  return inheritedRuntime(options);
}
