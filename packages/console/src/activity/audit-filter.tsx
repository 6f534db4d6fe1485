/** Narrowing the audit log by every field it can be searched by; those that are needed less are folded away. */
import { DECISION_SOURCES, OUTCOMES } from "@sallyport/contract";
import { type ReactNode, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Choice, IdentityFilter, Text } from "../parts/identity-filter.tsx";
import type { AuditSearch } from "./audit-search.ts";

const EVENT_TYPES = [
  "permission.evaluated",
  "permission.requested",
  "permission.resolved",
  "sandbox.applied",
  "sandbox.violation",
  "policy.changed",
  "policy.refused",
] as const;

const FOLDED = [
  "decisionSource",
  "code",
  "userId",
  "organizationId",
  "sessionKey",
  "taskId",
  "requestId",
] as const;

export function AuditFilter({
  search,
  onNarrow,
}: {
  readonly search: AuditSearch;
  readonly onNarrow: (search: AuditSearch) => void;
}): ReactNode {
  const [isOpen, setOpen] = useState(() => FOLDED.some((field) => search[field] !== undefined));
  const set = (change: Partial<AuditSearch>): void => onNarrow({ ...search, ...change });
  return (
    <IdentityFilter filter={search} onFilter={onNarrow}>
      <Choice
        label="Decision"
        value={search.decision}
        values={OUTCOMES}
        onValue={(decision) => set({ decision: decision as AuditSearch["decision"] })}
      />
      <Choice label="Event" value={search.type} values={EVENT_TYPES} onValue={(type) => set({ type })} />
      {isOpen ? (
        <FoldedFields search={search} onSet={set} />
      ) : (
        <Button look="quiet" onClick={() => setOpen(true)}>
          More filters
        </Button>
      )}
    </IdentityFilter>
  );
}

function FoldedFields({
  search,
  onSet,
}: {
  readonly search: AuditSearch;
  readonly onSet: (change: Partial<AuditSearch>) => void;
}): ReactNode {
  return (
    <>
      <Choice
        label="Decided by"
        value={search.decisionSource}
        values={DECISION_SOURCES}
        onValue={(source) => onSet({ decisionSource: source as AuditSearch["decisionSource"] })}
      />
      <Text label="Code" value={search.code} onValue={(code) => onSet({ code })} />
      <Text label="User" value={idText(search.userId)} onValue={(user) => onSet({ userId: idValue(user) })} />
      <Text
        label="Organization"
        value={idText(search.organizationId)}
        onValue={(id) => onSet({ organizationId: idValue(id) })}
      />
      <Text
        label="Session key"
        value={search.sessionKey ?? undefined}
        onValue={(sessionKey) => onSet({ sessionKey })}
      />
      <Text label="Task" value={search.taskId ?? undefined} onValue={(taskId) => onSet({ taskId })} />
      <Text label="Request" value={search.requestId} onValue={(requestId) => onSet({ requestId })} />
    </>
  );
}

/** A number and a text that looks like one are two users: the text stands in quotation marks. */
const idText = (value: number | string | null | undefined): string | undefined =>
  value === null || value === undefined
    ? undefined
    : typeof value === "string" && /^-?\d+$/.test(value)
      ? `"${value}"`
      : String(value);

function idValue(text: string): number | string | undefined {
  if (text === "") return undefined;
  const quoted = /^"(.*)"$/.exec(text);
  if (quoted !== null) return quoted[1];
  return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}
