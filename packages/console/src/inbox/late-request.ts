/** The opened request comes right after the first load: the list is there first. */
import { lazy } from "react";

const part = () => import("./open-request.tsx");

export const OpenRequest = lazy(async () => ({ default: (await part()).OpenRequest }));

/** Fetches it ahead, so that the first request opens without a wait. */
export function fetchLateRequest(): void {
  part().catch(() => undefined);
}
