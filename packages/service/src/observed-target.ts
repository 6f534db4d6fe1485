/** What an allowed network access was observed to go to. */
import type { NetworkTarget } from "@sallyport/contract";
import { type Ask, isAccess } from "./caller-context.ts";

/** The endpoint that is dialled, with its address where that is known; `null` where it is no network access. */
export function observedTarget({ access, address }: Pick<Ask, "access" | "address">): string | null {
  if (!isAccess(access) || access.resourceType !== "network") return null;
  const target: NetworkTarget = access.target;
  if (target.form === "unix") return target.text;
  const host = address ?? target.host;
  return target.port === undefined ? host : `${host}:${target.port}`;
}
