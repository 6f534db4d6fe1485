/**
 * Ports of the host's loopback that rules name. A confined program has a loopback of its own, so only these lead out.
 * Pure.
 */
import { type ExpandedRule, foldLocalHost, parseNetworkTarget, whatwgUrl } from "@sallyport/contract";

export interface LoopbackPorts {
  readonly ports: readonly number[];
  /** Targets that name the local host and no port. */
  readonly anyPort: readonly string[];
  readonly faults: readonly string[];
}

export function loopbackPorts(rules: readonly ExpandedRule[]): LoopbackPorts {
  const ports = new Set<number>();
  const anyPort: string[] = [];
  const faults: string[] = [];
  for (const { resourceType, target } of rules) {
    if (resourceType !== "network") continue;
    const parsed = parseNetworkTarget(target, whatwgUrl);
    if (!parsed.ok) faults.push(`\`${target}\`: ${parsed.message}`);
    else if (parsed.value.form !== "unix" && foldLocalHost(parsed.value.host) === "localhost") {
      if (parsed.value.port === undefined) anyPort.push(target);
      else ports.add(parsed.value.port);
    }
  }
  return { ports: [...ports], anyPort, faults };
}
