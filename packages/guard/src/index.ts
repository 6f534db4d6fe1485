/**
 * The guard, as a host sees it: how a program is started under it. The guard itself is the preload, which nobody imports.
 */
export { type GuardLaunch, type GuardLaunchOptions, guardLaunch } from "./launch.ts";
export { type NodePermission, type NodePermissionFacts, nodePermissionFlags } from "./node-permission.ts";
