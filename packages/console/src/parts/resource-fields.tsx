/** What is touched, as a person writes it: resource, operation, target. The server normalizes it and says what is wrong. */
import { OPERATIONS, RESOURCE_TYPES, type ResourceType } from "@sallyport/contract";
import type { ReactNode } from "react";
import { SelectField, TextField } from "./field.tsx";

export interface ResourceText {
  readonly resourceType: ResourceType;
  readonly operation: string;
  readonly target: string;
}

const HINTS: Readonly<Record<ResourceType, string>> = {
  network: "A URL such as https://api.example.com/v1, or host:port.",
  filesystem: "An absolute path.",
  system_dependency: "The name of a program, such as ffmpeg.",
};

/** For a pattern: what a spelling covers. */
export const PATTERN_HINTS: Readonly<Record<ResourceType, string>> = {
  network:
    "A URL, an origin such as https://api.example.com, or host:port. A URL that ends in / covers all below it.",
  filesystem: "An absolute path. A path that ends in / covers the folder and all below it.",
  system_dependency: "The name of a program, such as ffmpeg.",
};

export const plainOptions = <Value extends string>(values: readonly Value[]) =>
  values.map((value) => ({ value, label: value.replaceAll("_", " ") }));

export function ResourceFields({
  text,
  onText,
  hints = HINTS,
}: {
  readonly text: ResourceText;
  readonly onText: (text: ResourceText) => void;
  readonly hints?: Readonly<Record<ResourceType, string>>;
}): ReactNode {
  const operations: readonly string[] = OPERATIONS[text.resourceType];
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label="Resource"
          value={text.resourceType}
          onValue={(resourceType) => onText(withOperation({ ...text, resourceType }))}
          options={plainOptions(RESOURCE_TYPES)}
        />
        <SelectField
          label="Operation"
          value={text.operation}
          onValue={(operation) => onText({ ...text, operation })}
          options={plainOptions(operations)}
        />
      </div>
      <TextField
        label="Target"
        required
        autoComplete="off"
        value={text.target}
        hint={hints[text.resourceType]}
        onChange={(event) => onText({ ...text, target: event.target.value })}
      />
    </>
  );
}

/** INVARIANT: the operation is always one of the resource type that is shown. */
function withOperation(text: ResourceText): ResourceText {
  const operations: readonly string[] = OPERATIONS[text.resourceType];
  return operations.includes(text.operation) ? text : { ...text, operation: operations[0] ?? "" };
}
