/** A new rule: what it does, whose it is, whom and what it holds for. The server says what is wrong with it. */
import {
  RULE_EFFECTS,
  RULE_SOURCES,
  type RuleEffect,
  type RuleSource,
  SUBJECT_TYPES,
  parseSubject,
} from "@sallyport/contract";
import type { RuleWordsView } from "@sallyport/contract/admin";
import { type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { change } from "../data/change.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { principalOf } from "../parts/principal-text.ts";
import { PATTERN_HINTS, ResourceFields, type ResourceText, plainOptions } from "../parts/resource-fields.tsx";

const SOURCE_HINTS: Readonly<Record<RuleSource, string>> = {
  host: "Holds for everybody, unless it is narrowed below.",
  organization: "Holds in one organization. It may deny or ask, never allow.",
  user: "Holds for one user. It may deny or ask, never allow.",
  session: "Holds in one session, until that session ends. It may deny or ask, never allow.",
};

interface HolderText {
  readonly organization: string;
  readonly user: string;
  readonly session: string;
}

export function RuleDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [effect, setEffect] = useState<RuleEffect>("deny");
  const [wish, setSource] = useState<RuleSource>("host");
  const [resource, setResource] = useState<ResourceText>({
    resourceType: "network",
    operation: "send",
    target: "",
  });
  const [holder, setHolder] = useState<HolderText>({ organization: "", user: "", session: "" });
  const [subjectType, setSubjectType] = useState("any");
  const [subjectName, setSubjectName] = useState("");
  // INVARIANT: only the host allows.
  const source = effect === "allow" ? "host" : wish;
  const subject = subjectType === "any" ? undefined : parseSubject(subjectType, subjectName.trim());
  const fault = subject === undefined || subject.ok || subjectName === "" ? undefined : subject.message;

  const send = async (): Promise<true | null> => {
    if (subject !== undefined && !subject.ok) return null;
    const words = {
      effect,
      source,
      ...resource,
      target: resource.target.trim(),
      ...(subject === undefined ? {} : { subject: subject.value }),
      ...holderWords(holder),
    } as unknown as RuleWordsView;
    const isSet = await change(() => admin.setRule(words), { done: "The rule holds.", topics: ["rules"] });
    return isSet ? true : null;
  };

  return (
    <FormDialog title="Add a rule" confirm="Add the rule" onClose={onClose} onSend={send} onAnswer={onClose}>
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField label="Effect" value={effect} onValue={setEffect} options={plainOptions(RULE_EFFECTS)} />
        <SelectField
          label="Source"
          value={source}
          disabled={effect === "allow"}
          onValue={setSource}
          options={plainOptions(RULE_SOURCES)}
          hint={effect === "allow" ? "Only the host allows." : SOURCE_HINTS[source]}
        />
      </div>
      <ResourceFields text={resource} onText={setResource} hints={PATTERN_HINTS} />
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label="Subject"
          value={subjectType}
          onValue={setSubjectType}
          options={plainOptions(["any", ...SUBJECT_TYPES])}
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
      <HolderFields source={source} text={holder} onText={setHolder} />
    </FormDialog>
  );
}

function HolderFields({
  source,
  text,
  onText,
}: {
  readonly source: RuleSource;
  readonly text: HolderText;
  readonly onText: (text: HolderText) => void;
}): ReactNode {
  return (
    <fieldset>
      <legend className="mb-1 text-xs font-medium text-ink-2">Whom it holds for</legend>
      <div className="grid gap-3 sm:grid-cols-3">
        <TextField
          label="Organization"
          placeholder="any"
          required={source === "organization"}
          value={text.organization}
          onChange={(event) => onText({ ...text, organization: event.target.value })}
        />
        <TextField
          label="User"
          placeholder="any"
          required={source === "user"}
          value={text.user}
          onChange={(event) => onText({ ...text, user: event.target.value })}
        />
        <TextField
          label="Session key"
          placeholder="any"
          required={source === "session"}
          value={text.session}
          onChange={(event) => onText({ ...text, session: event.target.value })}
        />
      </div>
      <p className="mt-1 text-xs text-ink-3">
        7 and “7” are two users: write a text that looks like a number in quotation marks.
      </p>
    </fieldset>
  );
}

function holderWords({ organization, user, session }: HolderText): object {
  const [organizationId, userId] = [principalOf(organization), principalOf(user)];
  return {
    ...(organizationId === undefined ? {} : { organizationId }),
    ...(userId === undefined ? {} : { userId }),
    ...(session.trim() === "" ? {} : { sessionKey: session.trim() }),
  };
}
