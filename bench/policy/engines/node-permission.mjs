// @ts-check
/**
 * Purpose: Node's own permission model, which can say one thing of our workload: which folders may be read. It knows no
 * subjects and no hosts, and its rules are arguments of the process, so it is asked inside one that was started with them.
 */
import { fileURLToPath } from "node:url";
import { onAllQueries } from "./engine.mjs";

/** WHY: rules are arguments, and with more of them the kernel refuses to start the process. */
export const PERMISSION_SIZE_MAX = 20_000;

const [major = 0] = process.versions.node.split(".").map(Number);

/** The flags of a process that may read the workload's folders and the code that it runs. @param {import("../workload.mjs").Workload} workload */
export function permissionFlags({ rules }) {
  const repository = fileURLToPath(new URL("../../../", import.meta.url));
  return [
    major < 24 ? "--experimental-permission" : "--permission",
    `--allow-fs-read=${repository}*`,
    "--no-warnings",
    ...rules.map(({ folder }) => `--allow-fs-read=${folder}*`),
  ];
}

/** @type {import("./engine.mjs").Engine} */
export const nodePermission = {
  id: "node-permission",
  label: `Node ${process.versions.node} --permission, path rules`,
  sizeMax: PERMISSION_SIZE_MAX,
  load(workload) {
    const { permission } = /** @type {{ permission?: { has(scope: string, path: string): boolean } }} */ (
      /** @type {unknown} */ (process)
    );
    if (permission === undefined) throw new Error("this process was not started with the permission model");
    const targets = workload.queries.map(({ target }) => target);
    return {
      ...onAllQueries(workload),
      ask(from, to) {
        let allowed = 0;
        for (let at = from; at < to; at++) {
          if (permission.has("fs.read", /** @type {string} */ (targets[at]))) allowed++;
        }
        return allowed;
      },
    };
  },
};
