/** What can be done with everything that is ticked. */
import type { ReactNode } from "react";
import { plural } from "../display/words.ts";
import { Button } from "../parts/button.tsx";
import type { Choice } from "./batch-dialog.tsx";

export function BatchBar({
  count,
  onWish,
  onClear,
}: {
  readonly count: number;
  readonly onWish: (wish: Choice) => void;
  readonly onClear: () => void;
}): ReactNode {
  return (
    <div
      role="group"
      aria-label="Decide what is ticked"
      className="flex flex-wrap items-center gap-2 border-y border-line bg-accent-soft px-3 py-2"
    >
      <span className="text-sm font-medium text-accent">{plural(count, "request")} ticked</span>
      <span className="flex-1" />
      <Button onClick={() => onWish("approve_for_session")}>Approve…</Button>
      <Button look="danger" onClick={() => onWish("deny")}>
        Deny…
      </Button>
      <Button look="quiet" onClick={onClear}>
        Clear
      </Button>
    </div>
  );
}
