/** Single keys for the page. Silent while something is typed, while a dialog is open, and where they are turned off. */
import { useEffect, useMemo } from "react";
import { usePreferences } from "./preferences.ts";

function isTyping(event: KeyboardEvent): boolean {
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return true;
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("[role=dialog],[role=alertdialog]") !== null) return true;
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

/** INVARIANT: a held key decides once: repeats are not heard. */
export function useShortcuts(keys: Readonly<Record<string, (event: KeyboardEvent) => void>>): void {
  const { shortcuts } = usePreferences();
  useEffect(() => {
    if (!shortcuts) return;
    const heard = (event: KeyboardEvent): void => {
      if (isTyping(event) || document.querySelector("[role=dialog]") !== null) return;
      const isMove = event.key === "j" || event.key === "k";
      if (event.repeat && !isMove) return;
      if (!Object.hasOwn(keys, event.key)) return;
      event.preventDefault();
      keys[event.key]?.(event);
    };
    document.addEventListener("keydown", heard);
    return () => document.removeEventListener("keydown", heard);
  }, [shortcuts, keys]);
}

/** The question mark, on every page. */
export function useHelpKey(onHelp: () => void): void {
  const keys = useMemo(() => ({ "?": onHelp }), [onHelp]);
  useShortcuts(keys);
}
