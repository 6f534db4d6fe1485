/** A new rule. The server normalizes the target and says what is wrong with it. */
import {
  OPERATIONS,
  RESOURCE_TYPES,
  RULE_EFFECTS,
  RULE_SOURCES,
  type ResourceType,
  type RuleEffect,
  type RuleSource,
  SUBJECT_TYPES,
  parseSubject,
} from "@sallyport/contract";
import type { RuleWordsView } from "@sallyport/contract/admin";
import { type FormEvent, type ReactNode, useState } from "react";
import { admin } from "../data/admin.ts";
import { change } from "../data/change.tsx";
import { Button } from "../parts/button.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { Modal, ModalActions } from "../parts/modal.tsx";

const plain = <Value extends string>(values: readonly Value[]) =>
  values.map((value) => ({ value, label: value.replaceAll("_", " ") }));

const HINTS: Readonly<Record<ResourceType, string>> = {
  network:
    "A URL, an origin such as https://api.example.com, or host:port. A URL that ends in / covers all below it.",
  filesystem: "An absolute path. A path that ends in / covers the folder and all below it.",
  system_dependency: "The name of a program, such as ffmpeg.",
};

export function RuleDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [effect, setEffect] = useState<RuleEffect>("deny");
  const [source, setSource] = useState<RuleSource>("host");
  const [resourceType, setResourceType] = useState<ResourceType>("network");
  const [operation, setOperation] = useState<string>("send");
  const [target, setTarget] = useState("");
  const [subjectType, setSubjectType] = useState("any");
  const [subjectName, setSubjectName] = useState("");
  const operations: readonly string[] = OPERATIONS[resourceType];
  const shown = operations.includes(operation) ? operation : (operations[0] ?? "");
  const subject = subjectType === "any" ? undefined : parseSubject(subjectType, subjectName.trim());
  const fault = subject === undefined || subject.ok || subjectName === "" ? undefined : subject.message;

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (subject !== undefined && !subject.ok) return;
    const words = {
      effect,
      source,
      resourceType,
      operation: shown,
      target: target.trim(),
      ...(subject === undefined ? {} : { subject: subject.value }),
    } as unknown as RuleWordsView;
    change(() => admin.setRule(words), { done: "The rule holds.", topics: ["rules"] })
      .then((isSet) => (isSet ? onClose() : undefined))
      .catch(() => undefined);
  };

  return (
    <Modal open onClose={onClose} title="Add a rule">
      <form onSubmit={submit} className="flex flex-col gap-3">
        <div className="grid gap-3 sm:grid-cols-2">
          <SelectField label="Effect" value={effect} onValue={setEffect} options={plain(RULE_EFFECTS)} />
          <SelectField
            label="Source"
            value={source}
            onValue={setSource}
            options={plain(
              effect === "allow" ? (["host"] as const) : RULE_SOURCES.filter((name) => name === "host"),
            )}
            hint="Rules of organizations, users and sessions are set by the host."
          />
          <SelectField
            label="Resource"
            value={resourceType}
            onValue={setResourceType}
            options={plain(RESOURCE_TYPES)}
          />
          <SelectField label="Operation" value={shown} onValue={setOperation} options={plain(operations)} />
        </div>
        <TextField
          label="Target"
          required
          value={target}
          hint={HINTS[resourceType]}
          onChange={(event) => setTarget(event.target.value)}
        />
        <div className="grid gap-3 sm:grid-cols-2">
          <SelectField
            label="Subject"
            value={subjectType}
            onValue={setSubjectType}
            options={plain(["any", ...SUBJECT_TYPES])}
          />
          <TextField
            label="Subject name"
            disabled={subjectType === "any"}
            required={subjectType !== "any"}
            value={subjectName}
            fault={fault}
            onChange={(event) => setSubjectName(event.target.value)}
          />
        </div>
        <ModalActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary">
            Add the rule
          </Button>
        </ModalActions>
      </form>
    </Modal>
  );
}
