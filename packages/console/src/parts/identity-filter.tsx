/** Narrowing a list by the fields of an identity, each on its own; compared exactly, by the server. */
import { OPERATIONS, RESOURCE_TYPES, SUBJECT_TYPES } from "@sallyport/contract";
import type { AdminIdentityFilter } from "@sallyport/contract/admin";
import type { ReactNode } from "react";

const OPERATION_NAMES = [...new Set(Object.values(OPERATIONS).flat())];
const BOX =
  "min-h-8 rounded-md border border-line-strong bg-surface px-2 py-1 text-sm text-ink placeholder:text-ink-3";

export function IdentityFilter<Filter extends AdminIdentityFilter>({
  filter,
  onFilter,
  children,
}: {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly children?: ReactNode;
}): ReactNode {
  const set = (field: keyof AdminIdentityFilter, value: string): void => {
    const { [field]: _old, ...rest } = filter;
    onFilter((value === "" ? rest : { ...rest, [field]: value }) as Filter);
  };
  return (
    <div role="search" aria-label="Filter" className="mb-3 grid grid-cols-2 gap-2 sm:flex sm:flex-wrap">
      <Choice
        label="Subject type"
        value={filter.subjectType}
        values={SUBJECT_TYPES}
        onValue={(value) => set("subjectType", value)}
      />
      <Text label="Subject name" value={filter.subjectName} onValue={(value) => set("subjectName", value)} />
      <Choice
        label="Resource"
        value={filter.resourceType}
        values={RESOURCE_TYPES}
        onValue={(value) => set("resourceType", value)}
      />
      <Choice
        label="Operation"
        value={filter.operation}
        values={OPERATION_NAMES}
        onValue={(value) => set("operation", value)}
      />
      <Text label="Target" value={filter.target} onValue={(value) => set("target", value)} />
      {children}
    </div>
  );
}

export function Choice({
  label,
  value,
  values,
  onValue,
}: {
  readonly label: string;
  readonly value: string | undefined;
  readonly values: readonly string[];
  readonly onValue: (value: string) => void;
}): ReactNode {
  return (
    <select
      aria-label={label}
      value={value ?? ""}
      onChange={(event) => onValue(event.target.value)}
      className={`${BOX} min-w-0`}
    >
      <option value="">{label}: any</option>
      {values.map((one) => (
        <option key={one} value={one}>
          {one.replaceAll("_", " ")}
        </option>
      ))}
    </select>
  );
}

/** Applies when it is left or Enter is pressed: half a name matches nothing. */
export function Text({
  label,
  value,
  onValue,
}: {
  readonly label: string;
  readonly value: string | undefined;
  readonly onValue: (value: string) => void;
}): ReactNode {
  return (
    <input
      key={value ?? ""}
      aria-label={label}
      placeholder={label}
      defaultValue={value ?? ""}
      autoComplete="off"
      onBlur={(event) => onValue(event.target.value.trim())}
      onKeyDown={(event) => {
        if (event.key === "Enter") onValue(event.currentTarget.value.trim());
      }}
      className={`${BOX} min-w-0 sm:w-40`}
    />
  );
}
