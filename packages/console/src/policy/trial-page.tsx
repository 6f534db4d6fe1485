/** "What would happen if …": asks the service as a subject would, and shows what decided. Registers and spends nothing. */
import { PHASES, SUBJECT_TYPES, parseSubject } from "@sallyport/contract";
import type { Trial, TrialAnswer } from "@sallyport/contract/admin";
import { FlaskConical } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { Button } from "../parts/button.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { Page, Sheet } from "../parts/page.tsx";
import { principalOf } from "../parts/principal-text.ts";
import { ResourceFields, type ResourceText, plainOptions } from "../parts/resource-fields.tsx";
import { Empty, Failed } from "../parts/states.tsx";
import { TrialOutcome } from "./trial-outcome.tsx";

type Tried =
  | { readonly kind: "answer"; readonly trial: Trial; readonly answer: TrialAnswer }
  | { readonly kind: "fault"; readonly error: unknown };

export function TrialPage(): ReactNode {
  const [tried, setTried] = useState<Tried | null>(null);
  const [busy, setBusy] = useState(false);
  const attempt = (trial: Trial): void => {
    setBusy(true);
    admin
      .check(trial)
      .then(
        (answer) => setTried({ kind: "answer", trial, answer }),
        (error: unknown) => setTried({ kind: "fault", error }),
      )
      .finally(() => setBusy(false));
  };
  return (
    <Page
      title="What if"
      about="What would happen if a subject asked for something now, and why. Nothing is registered, spent or recorded as an attempt."
    >
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,26rem)_minmax(0,1fr)]">
        <Sheet className="p-4">
          <TrialForm busy={busy} onTry={attempt} />
        </Sheet>
        <div aria-live="polite">
          {tried === null ? (
            <Empty icon={FlaskConical} title="Nothing tried yet">
              Say who would ask, and for what. A subject that is not registered can be tried too: it has
              declared nothing, and the rules decide.
            </Empty>
          ) : tried.kind === "fault" ? (
            <Failed error={tried.error} />
          ) : (
            <TrialOutcome trial={tried.trial} answer={tried.answer} />
          )}
        </div>
      </div>
    </Page>
  );
}

function TrialForm({
  busy,
  onTry,
}: {
  readonly busy: boolean;
  readonly onTry: (trial: Trial) => void;
}): ReactNode {
  const [type, setType] = useState<string>("tool");
  const [name, setName] = useState("");
  const [phase, setPhase] = useState<(typeof PHASES)[number]>("runtime");
  const [resource, setResource] = useState<ResourceText>({
    resourceType: "filesystem",
    operation: "read",
    target: "",
  });
  const [whose, setWhose] = useState({ organization: "", user: "", session: "" });
  const subject = parseSubject(type, name.trim());
  const fault = subject.ok || name.trim() === "" ? undefined : subject.message;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!subject.ok) return;
    const { resourceType, operation, target } = resource;
    onTry({
      subject: subject.value,
      phase,
      resource: { type: resourceType, operation, target: target.trim() },
      session: {
        organizationId: principalOf(whose.organization) ?? null,
        userId: principalOf(whose.user) ?? null,
        sessionKey: whose.session.trim() === "" ? null : whose.session.trim(),
      },
      explain: true,
    } as unknown as Trial);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <div className="grid gap-3 sm:grid-cols-2">
        <SelectField
          label="Subject"
          value={type}
          onValue={setType}
          options={plainOptions(SUBJECT_TYPES as readonly string[])}
        />
        <TextField
          label="Subject name"
          required
          autoComplete="off"
          value={name}
          fault={fault}
          onChange={(event) => setName(event.target.value)}
        />
      </div>
      <ResourceFields text={resource} onText={setResource} />
      <details className="text-sm">
        <summary className="text-ink-2">In a session, or while it is installed</summary>
        <div className="mt-2 grid gap-3 sm:grid-cols-2">
          {(["organization", "user", "session"] as const).map((field) => (
            <TextField
              key={field}
              label={{ organization: "Organization", user: "User", session: "Session key" }[field]}
              placeholder="none"
              autoComplete="off"
              value={whose[field]}
              onChange={(event) => setWhose({ ...whose, [field]: event.target.value })}
            />
          ))}
          <SelectField label="Phase" value={phase} onValue={setPhase} options={plainOptions(PHASES)} />
        </div>
      </details>
      <Button type="submit" look="primary" disabled={busy} className="self-start">
        <FlaskConical size={15} aria-hidden />
        {busy ? "Asking…" : "Try it"}
      </Button>
    </form>
  );
}
