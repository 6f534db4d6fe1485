/** Requests that belong together: one subject, one operation, one place. Fields are compared one by one. */
import type { RequestView } from "@sallyport/contract/admin";
import { networkParts } from "../display/network-parts.ts";

export interface RequestGroup {
  readonly subject: RequestView["subject"];
  readonly type: RequestView["resource"]["type"];
  readonly operation: RequestView["resource"]["operation"];
  /** The folder or the host that their targets lie in. */
  readonly place: string;
  readonly requests: readonly RequestView[];
}

export type ListItem =
  | { readonly kind: "group"; readonly group: RequestGroup }
  | { readonly kind: "request"; readonly request: RequestView };

export function placeOf({ type, target }: RequestView["resource"]): string {
  if (type === "filesystem") return target.slice(0, Math.max(1, target.lastIndexOf("/")));
  if (type === "network") {
    const parts = networkParts(target);
    return parts === null ? target : parts.scheme + parts.host;
  }
  return target;
}

type Nest<Value> = Map<string, Value>;

/** In the order in which the first of each came. */
export function groupRequests(requests: readonly RequestView[]): readonly RequestGroup[] {
  const groups: { head: RequestView; place: string; requests: RequestView[] }[] = [];
  const held: Nest<Nest<Nest<Nest<Nest<RequestView[]>>>>> = new Map();
  for (const request of requests) {
    const { subject, resource } = request;
    const place = placeOf(resource);
    const byName = nested(held, subject.type);
    const byType = nested(byName, subject.name);
    const byOperation = nested(byType, resource.type);
    const byPlace = nested(byOperation, resource.operation);
    let members = byPlace.get(place);
    if (members === undefined) {
      members = [];
      byPlace.set(place, members);
      groups.push({ head: request, place, requests: members });
    }
    members.push(request);
  }
  return groups.map(({ head, place, requests: members }) => ({
    subject: head.subject,
    type: head.resource.type,
    operation: head.resource.operation,
    place,
    requests: members,
  }));
}

function nested<Value>(map: Nest<Nest<Value>>, key: string): Nest<Value> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made: Nest<Value> = new Map();
  map.set(key, made);
  return made;
}

export function listItems(requests: readonly RequestView[], grouped: boolean): readonly ListItem[] {
  if (!grouped) return requests.map((request) => ({ kind: "request", request }));
  return groupRequests(requests).flatMap((group): ListItem[] => [
    ...(group.requests.length > 1 ? [{ kind: "group", group } as const] : []),
    ...group.requests.map((request) => ({ kind: "request", request }) as const),
  ]);
}

/** Free text over what is loaded: every word must be somewhere in it. */
export function matchesText(
  { subject, resource, origin, subjectChain, id }: RequestView,
  text: string,
): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const fields = [
    id,
    subject.type,
    subject.name,
    resource.type,
    resource.operation,
    resource.target,
    origin.userId,
    origin.organizationId,
    origin.sessionKey,
    origin.taskId,
    ...subjectChain.map((frame) => frame.subject.name),
  ].map((field) => String(field ?? "").toLowerCase());
  return words.every((word) => fields.some((field) => field.includes(word)));
}
