/** What is asked about a request that was judged. Pure. */
import { endpointText } from "@sallyport/contract";
import type { Judged, Passage } from "./judge-request.ts";
import type { NetworkQuestion } from "./network-question.ts";

/** What the request does, for the record. */
export function questionOf(passage: Passage, judged: Judged): NetworkQuestion {
  if (judged.ok) return { operation: judged.operation, target: judged.target.text };
  return { operation: "send", target: whereTo(passage) };
}

/** What must be allowed: the request itself, or the endpoint where `connect` was allowed for it. */
export function askedFor(passage: Passage, judged: Extract<Judged, { readonly ok: true }>): NetworkQuestion {
  const { host, port } = judged.target;
  const isOpen = passage.kind === "origin" && passage.isOpen;
  return isOpen ? { operation: "connect", target: endpointText(host, port) } : questionOf(passage, judged);
}

export function whereTo(passage: Passage): string {
  return passage.kind === "origin" ? endpointText(passage.host, passage.port) : "localhost";
}
