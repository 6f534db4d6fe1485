/** The filters in force above the list. */
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Hostile } from "../display/hostile.tsx";
import { STATUS_WORDS } from "../display/words.ts";
import { FILTER_FIELDS, type FilterField, type InboxSearch } from "./inbox-search.ts";

export const FIELD_LABELS: Readonly<Record<FilterField, string>> = {
  subjectType: "Subject type",
  subjectName: "Subject name",
  resourceType: "Resource type",
  operation: "Operation",
  target: "Target",
  organizationId: "Organization",
  userId: "User",
  sessionKey: "Session key",
  taskId: "Task",
};

export const fieldText = (value: number | string | undefined): string =>
  typeof value === "string" && /^-?\d+$/.test(value) ? `"${value}"` : String(value ?? "");

/** What is narrowed by now, each with a way to drop it. */
export function FilterChips({
  search,
  onApply,
}: {
  readonly search: InboxSearch;
  readonly onApply: (search: InboxSearch) => void;
}): ReactNode {
  const fields = FILTER_FIELDS.filter((field) => search[field] !== undefined);
  const status = search.status ?? "pending";
  if (fields.length === 0 && status === "pending") return null;
  return (
    <div className="flex flex-wrap gap-1.5 px-3 pb-2" aria-label="Filters in force">
      {status === "pending" ? null : (
        <Chip label="Status" onDrop={() => onApply({ ...search, status: undefined })}>
          {STATUS_WORDS[status].label}
        </Chip>
      )}
      {fields.map((field) => (
        <Chip
          key={field}
          label={FIELD_LABELS[field]}
          onDrop={() => onApply({ ...search, [field]: undefined })}
        >
          <Hostile text={fieldText(search[field])} fold="line" />
        </Chip>
      ))}
    </div>
  );
}

function Chip({
  label,
  children,
  onDrop,
}: {
  readonly label: string;
  readonly children: ReactNode;
  readonly onDrop: () => void;
}): ReactNode {
  return (
    <span className="inline-flex max-w-full items-center gap-1 rounded-full bg-accent-soft py-0.5 pr-1 pl-2.5 text-xs text-accent">
      {label}: {children}
      <button
        type="button"
        aria-label={`Drop the filter ${label}`}
        onClick={onDrop}
        className="rounded-full p-0.5 hover:bg-surface"
      >
        <X size={12} aria-hidden />
      </button>
    </span>
  );
}
