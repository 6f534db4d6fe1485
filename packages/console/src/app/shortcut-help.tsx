/** The keys, and the switch that turns them off. */
import type { ReactNode } from "react";
import { Key } from "../parts/button.tsx";
import { Modal } from "../parts/modal.tsx";
import { prefer, usePreferences } from "./preferences.ts";

const KEYS: readonly (readonly [string, string])[] = [
  ["j", "next request"],
  ["k", "previous request"],
  ["a", "approve for the session; asks first where it destroys, or has no session"],
  ["d", "deny, with a reason"],
  ["x", "tick for a decision on several"],
  ["e", "all approval choices: limits, permanent, wider"],
  ["u", "undo the last decision"],
  ["/", "search"],
  ["?", "this help"],
];

export function ShortcutHelp({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { shortcuts } = usePreferences();
  return (
    <Modal open onClose={onClose} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2 text-sm">
        {KEYS.map(([key, what]) => (
          <div key={key} className="contents">
            <dt>
              <Key>{key}</Key>
            </dt>
            <dd className="text-ink-2">{what}</dd>
          </div>
        ))}
      </dl>
      <label className="mt-5 flex items-center gap-2 border-t border-line pt-4 text-sm">
        <input
          type="checkbox"
          checked={shortcuts}
          onChange={(event) => prefer({ shortcuts: event.target.checked })}
          className="size-4 accent-accent-fill"
        />
        Single-key shortcuts are on
      </label>
    </Modal>
  );
}
