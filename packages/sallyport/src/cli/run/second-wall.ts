/**
 * Node's own permission model around a guarded program, made from what the program declares. A second wall: it knows less
 * than the guard, and holds where the guard would not.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { nodePermissionFlags } from "@sallyport/guard";
import { HeldRules } from "@sallyport/sandbox";
import { CliFault } from "../cli-fault.ts";
import type { EnteredDoor } from "./enter-door.ts";
import type { RunTerms } from "./run-terms.ts";

/** Flags in front of everything else; none where it was not asked for. */
export async function secondWall(
  { hasNodePermission, isGuarded, program }: RunTerms,
  { changes, mode, imports }: EnteredDoor["admitted"],
): Promise<readonly string[]> {
  if (hasNodePermission !== true) return [];
  if (!program.isNode || !isGuarded)
    throw new CliFault({
      exit: "usage",
      message: "`--node-permission` is for programs that Node runs, with the guard",
    });
  const { stdout } = await promisify(execFile)(program.command, ["--version"], { env: {} });
  const nodeMajor = Number(/^v(\d+)\./.exec(stdout)?.[1] ?? 0);
  const { allow } = new HeldRules(changes, mode).policy();
  const permission = nodePermissionFlags({ nodeMajor, allow, imports });
  if (permission.ok) return permission.flags;
  throw new CliFault({ exit: "not_enforced", code: "sandbox_unavailable", message: permission.message });
}
