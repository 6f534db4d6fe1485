/** Labelled inputs. The label is always there; hints and faults are tied to the input for those who cannot see them. */
import { type ComponentProps, type ReactNode, useId } from "react";
import { Message } from "../display/hostile.tsx";

const BOX =
  "w-full rounded-md border border-line-strong bg-surface px-2.5 py-1.5 text-sm text-ink placeholder:text-ink-3 disabled:opacity-60";

interface Labelled {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly fault?: string | undefined;
}

function Frame({
  id,
  label,
  hint,
  fault,
  children,
}: Labelled & {
  readonly id: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-xs font-medium text-ink-2">
        {label}
      </label>
      {children}
      {hint === undefined ? null : (
        <p id={`${id}-hint`} className="text-xs text-ink-3">
          {hint}
        </p>
      )}
      {fault === undefined ? null : (
        <p id={`${id}-fault`} role="alert" className="text-xs text-danger">
          <Message text={fault} />
        </p>
      )}
    </div>
  );
}

const described = (id: string, { hint, fault }: Pick<Labelled, "hint" | "fault">): string | undefined =>
  [hint === undefined ? [] : [`${id}-hint`], fault === undefined ? [] : [`${id}-fault`]].flat().join(" ") ||
  undefined;

export function TextField({
  label,
  hint,
  fault,
  className = "",
  ...rest
}: Labelled & ComponentProps<"input">): ReactNode {
  const id = useId();
  return (
    <Frame id={id} label={label} hint={hint} fault={fault}>
      <input
        id={id}
        aria-describedby={described(id, { hint, fault })}
        aria-invalid={fault === undefined ? undefined : true}
        className={`${BOX} ${className}`}
        {...rest}
      />
    </Frame>
  );
}

export function TextArea({ label, hint, fault, ...rest }: Labelled & ComponentProps<"textarea">): ReactNode {
  const id = useId();
  return (
    <Frame id={id} label={label} hint={hint} fault={fault}>
      <textarea
        id={id}
        rows={2}
        aria-describedby={described(id, { hint, fault })}
        className={BOX}
        {...rest}
      />
    </Frame>
  );
}

export interface Option<Value extends string> {
  readonly value: Value;
  readonly label: string;
}

export function SelectField<Value extends string>({
  label,
  hint,
  options,
  value,
  onValue,
  disabled = false,
}: Labelled & {
  readonly options: readonly Option<Value>[];
  readonly value: Value;
  readonly onValue: (value: Value) => void;
  readonly disabled?: boolean;
}): ReactNode {
  const id = useId();
  return (
    <Frame id={id} label={label} hint={hint}>
      <select
        id={id}
        value={value}
        disabled={disabled}
        onChange={(event) => onValue(event.target.value as Value)}
        className={`${BOX} min-h-8`}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </Frame>
  );
}
