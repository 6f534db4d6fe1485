/** Narrowing the inbox by every identity field, each on its own. */
import { REQUEST_STATUSES, RESOURCE_TYPES, SUBJECT_TYPES } from "@sallyport/contract";
import { type FormEvent, type ReactNode, useId } from "react";
import { STATUS_WORDS } from "../display/words.ts";
import { Button } from "../parts/button.tsx";
import { textOf } from "../parts/form-text.ts";
import { Modal, ModalActions } from "../parts/modal.tsx";
import { FIELD_LABELS, fieldText } from "./filter-chips.tsx";
import { FILTER_FIELDS, type FilterField, type InboxSearch, OPERATION_NAMES } from "./inbox-search.ts";

const LISTS: Readonly<Partial<Record<FilterField, readonly string[]>>> = {
  subjectType: SUBJECT_TYPES,
  resourceType: RESOURCE_TYPES,
  operation: OPERATION_NAMES,
};

const LABEL = "text-xs font-medium text-ink-2";
const BOX = "w-full min-h-8 rounded-md border border-line-strong bg-surface px-2.5 py-1.5 text-sm";

export function FilterDialog({
  search,
  onClose,
  onApply,
}: {
  readonly search: InboxSearch;
  readonly onClose: () => void;
  readonly onApply: (search: InboxSearch) => void;
}): ReactNode {
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const given = [...FILTER_FIELDS, "status" as const].map((field) => [
      field,
      valueOf(field, textOf(form, field)),
    ]);
    onApply({ text: search.text, ...Object.fromEntries(given) } as InboxSearch);
  };
  return (
    <Modal open onClose={onClose} title="Filter requests">
      <form onSubmit={submit}>
        <div className="grid gap-3 sm:grid-cols-2">
          <Choice
            name="status"
            label="Status"
            value={search.status ?? "pending"}
            values={REQUEST_STATUSES}
            required
          />
          {FILTER_FIELDS.map((field) => {
            const values = LISTS[field];
            return values === undefined ? (
              <Written key={field} field={field} value={fieldText(search[field])} />
            ) : (
              <Choice
                key={field}
                name={field}
                label={FIELD_LABELS[field]}
                value={String(search[field] ?? "")}
                values={values}
              />
            );
          })}
        </div>
        <p className="mt-2 text-xs text-ink-3">
          Values are compared exactly. Write “21” in quotation marks for a user whose id is a text.
        </p>
        <ModalActions>
          <Button className="mr-auto" look="quiet" onClick={() => onApply({})}>
            Clear all
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary">
            Apply
          </Button>
        </ModalActions>
      </form>
    </Modal>
  );
}

function Written({ field, value }: { readonly field: FilterField; readonly value: string }): ReactNode {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className={LABEL}>
        {FIELD_LABELS[field]}
      </label>
      <input id={id} name={field} defaultValue={value} className={BOX} autoComplete="off" />
    </div>
  );
}

function Choice({
  name,
  label,
  value,
  values,
  required = false,
}: {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly values: readonly string[];
  readonly required?: boolean;
}): ReactNode {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className={LABEL}>
        {label}
      </label>
      <select id={id} name={name} defaultValue={value} className={BOX}>
        {required ? null : <option value="">any</option>}
        {values.map((one) => (
          <option key={one} value={one}>
            {name === "status"
              ? STATUS_WORDS[one as keyof typeof STATUS_WORDS].label
              : one.replaceAll("_", " ")}
          </option>
        ))}
      </select>
    </div>
  );
}

/** INVARIANT: the number 21 and the text 21 are two users, here as everywhere. */
function valueOf(field: FilterField | "status", text: string): number | string | undefined {
  if (text === "") return undefined;
  if (field !== "userId" && field !== "organizationId") return text;
  const quoted = /^["“](.*)["”]$/.exec(text);
  if (quoted !== null) return quoted[1];
  return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}
