/** Dialogs and the guide come right after the first load: the list is there first. */
import { type ReactNode, Suspense, lazy } from "react";

const parts = {
  approve: () => import("./approve-dialog.tsx"),
  deny: () => import("./deny-dialog.tsx"),
  batch: () => import("./batch-dialog.tsx"),
  filter: () => import("./filter-dialog.tsx"),
  guide: () => import("./guide.tsx"),
} as const;

export const ApproveDialog = lazy(async () => ({ default: (await parts.approve()).ApproveDialog }));
export const DenyDialog = lazy(async () => ({ default: (await parts.deny()).DenyDialog }));
export const BatchDialog = lazy(async () => ({ default: (await parts.batch()).BatchDialog }));
export const FilterDialog = lazy(async () => ({ default: (await parts.filter()).FilterDialog }));
export const Guide = lazy(async () => ({ default: (await parts.guide()).Guide }));

export function LatePart({ children }: { readonly children: ReactNode }): ReactNode {
  return <Suspense fallback={null}>{children}</Suspense>;
}

/** Fetches them ahead, so that the first one opens without a wait. */
export function fetchLateParts(): void {
  for (const part of Object.values(parts)) part().catch(() => undefined);
}
