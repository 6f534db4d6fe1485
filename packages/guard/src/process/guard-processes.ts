/**
 * Everything that starts code outside of this thread: programs, threads, native code. Guarded whether the subject's
 * manifest lists the modules or not; that they are refused where it does not is said in `imports/`.
 */
import type { Worker } from "node:worker_threads";
import { quietly } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { guardSpawnSync } from "./guard-spawn-sync.ts";
import { guardSpawn } from "./guard-spawn.ts";
import { guardWorkers } from "./guard-workers.ts";
import { guardNativeSpawnSync } from "./native-spawn-sync.ts";
import { guardAddons, guardWasi } from "./native-code.ts";

/** @param shown a thread of the guard's own */
export function guardProcesses(ground: Ground, shown: Worker): void {
  guardSpawn(ground);
  guardNativeSpawnSync(ground);
  guardSpawnSync(ground);
  guardWorkers(ground, shown);
  if (ground.imports.allows("native_addons")) guardAddons(ground);
  if (ground.imports.allows("wasi"))
    guardWasi(
      ground,
      quietly(() => process.getBuiltinModule("wasi")),
    );
}
