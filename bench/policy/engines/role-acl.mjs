// @ts-check
/** Purpose: role-acl, one role per subject; the folder is a glob, and every grant of the role is tried. */
import { onAllQueries, requirePeer } from "./engine.mjs";

/** @typedef {{ can(role: string): { execute(action: string): { sync(): { on(target: string): { granted: boolean } } } } }} Control */

/** @type {import("./engine.mjs").Engine} */
export const roleAcl = {
  id: "role-acl",
  label: "role-acl 4.5.4",
  load(workload) {
    const { AccessControl } = requirePeer("role-acl");
    const grants = workload.rules.map(({ subject, resourceType, operation, folder }) => ({
      role: `subject-${subject}`,
      action: `${resourceType}.${operation}`,
      resource: `${folder}*`,
      attributes: ["*"],
    }));
    /** @type {Control} */
    const control = new AccessControl(grants);
    const known = new Set(grants.map(({ role }) => role));
    const roles = workload.queries.map(({ subject }) => `subject-${subject}`);
    const actions = workload.queries.map(({ resourceType, operation }) => `${resourceType}.${operation}`);
    const targets = workload.queries.map(({ target }) => target);
    return {
      ...onAllQueries(workload),
      ask(from, to) {
        let allowed = 0;
        for (let at = from; at < to; at++) {
          const role = /** @type {string} */ (roles[at]);
          // WHY: it throws on a role without grants.
          if (!known.has(role)) continue;
          const granting = control.can(role).execute(/** @type {string} */ (actions[at]));
          if (granting.sync().on(/** @type {string} */ (targets[at])).granted) allowed++;
        }
        return allowed;
      },
    };
  },
};
