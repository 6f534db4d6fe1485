/** Whether the window is as narrow as that of a phone, where one thing is shown at a time. */
import { useSyncExternalStore } from "react";

/** As `md` of the style sheet has it. */
const phones = matchMedia("(width < 48rem)");

const subscribe = (listener: () => void): (() => void) => {
  phones.addEventListener("change", listener);
  return () => phones.removeEventListener("change", listener);
};

export const useIsNarrow = (): boolean => useSyncExternalStore(subscribe, () => phones.matches);
