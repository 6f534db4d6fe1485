/** What a person prefers on this browser: colours and shortcuts. Nothing about access is ever kept here. */
import { useSyncExternalStore } from "react";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

interface Preferences {
  readonly theme: Theme;
  readonly shortcuts: boolean;
}

const PLACE = "sallyport.preferences";
const listeners = new Set<() => void>();
let held: Preferences = read();

function read(): Preferences {
  const usual: Preferences = { theme: "system", shortcuts: true };
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(PLACE) ?? "{}");
    if (typeof kept !== "object" || kept === null) return usual;
    const { theme, shortcuts } = kept as Record<string, unknown>;
    return {
      theme: THEMES.find((known) => known === theme) ?? usual.theme,
      shortcuts: typeof shortcuts === "boolean" ? shortcuts : usual.shortcuts,
    };
  } catch {
    return usual;
  }
}

export function prefer(change: Partial<Preferences>): void {
  held = { ...held, ...change };
  applyTheme();
  try {
    localStorage.setItem(PLACE, JSON.stringify(held));
  } catch {
    // Kept for this page only.
  }
  for (const listener of listeners) listener();
}

export function applyTheme(): void {
  if (held.theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = held.theme;
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const usePreferences = (): Preferences => useSyncExternalStore(subscribe, () => held);
