/**
 * Node's own permission model as a second wall around a guarded program: from what is declared to flags. Pure.
 * Narrower than the guard in what it knows (no hosts, no methods, no approvals that come later) and wider in reading: the
 * guard looks where links lead, and for that Node must let it look everywhere. What it holds is writing, programs, native
 * code, and on newer Nodes the network.
 * INVARIANT: no right to start threads is left once foreign code runs: the guard takes it back when it has its own.
 */
import type { ExpandedRule } from "@sallyport/contract";

export interface NodePermissionFacts {
  /** The first number of the version of the Node that will run. */
  readonly nodeMajor: number;
  readonly allow: readonly Pick<ExpandedRule, "resourceType" | "operation" | "target" | "match">[];
  /** Sensitive imports that the manifest lists. */
  readonly imports: readonly string[];
}

export type NodePermission =
  | { readonly ok: true; readonly flags: readonly string[] }
  | { readonly ok: false; readonly message: string };

/** From here on a right can be taken back while the process runs. */
const DROP_MAJOR = 24;
/** From here on there is a right for the network. */
const NETWORK_MAJOR = 26;
const WRITES: readonly string[] = Object.freeze(["create", "modify", "delete"]);

export function nodePermissionFlags({ nodeMajor, allow, imports }: NodePermissionFacts): NodePermission {
  if (nodeMajor < DROP_MAJOR)
    return refused(
      `Node ${nodeMajor} cannot take back the right to start threads, which the guard needs for itself: use Node ${DROP_MAJOR} or newer`,
    );
  if (imports.includes("worker_threads"))
    return refused(
      "a right to start threads is a way out of Node's permission model: leave `worker_threads` out of the manifest",
    );
  const files = allow.filter(({ resourceType }) => resourceType === "filesystem");
  const writes = files.filter(({ operation }) => WRITES.includes(operation)).map(place);
  const comma = writes.find((path) => path.includes(","));
  if (comma !== undefined) return refused(`\`${comma}\` cannot be named to Node: it has a comma`);
  const executes = allow.some(({ operation }) => operation === "execute");
  const flags = [
    "--permission",
    "--disable-warning=SecurityWarning",
    "--allow-fs-read=*",
    ...[...new Set(writes)].map((path) => `--allow-fs-write=${path}`),
    "--allow-worker",
    ...(imports.includes("child_process") && executes ? ["--allow-child-process"] : []),
    ...(imports.includes("native_addons") && executes ? ["--allow-addons"] : []),
    ...(imports.includes("wasi") ? ["--allow-wasi"] : []),
    ...(nodeMajor >= NETWORK_MAJOR && allow.some(({ resourceType }) => resourceType === "network")
      ? ["--allow-net"]
      : []),
  ];
  return Object.freeze({ ok: true, flags: Object.freeze(flags) });
}

/** A folder with all below it, or one path. */
function place({ target, match }: NodePermissionFacts["allow"][number]): string {
  return target.endsWith("/") && match !== "exact" ? `${target}*` : target;
}

function refused(message: string): NodePermission {
  return Object.freeze({ ok: false, message });
}
