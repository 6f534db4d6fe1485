/** The list of public suffixes is large: it is fetched with the first host that is shown, and hosts are cut when it is there. */
import { useSyncExternalStore } from "react";
import type { RegistrableOf } from "./network-parts.ts";

let known: RegistrableOf | null = null;
const listeners = new Set<() => void>();

let isAsked = false;

async function loadPublicSuffixes(): Promise<void> {
  if (isAsked) return;
  isAsked = true;
  try {
    const { getDomain } = await import("tldts");
    // WHY private suffixes: whoever has a page on a shared host is not the host.
    known = (host) => getDomain(host, { allowPrivateDomains: true });
    for (const listener of listeners) listener();
  } catch {
    // Asked for again with the next host.
    isAsked = false;
  }
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  loadPublicSuffixes().catch(() => undefined);
  return () => listeners.delete(listener);
};

/** `null` until the list is there; hosts are then shown whole. */
export const useRegistrable = (): RegistrableOf | null => useSyncExternalStore(subscribe, () => known);
