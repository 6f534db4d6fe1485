/** Issuing a credential for a remote host: as whom it may ask, for whom, and with which key. */
import { PHASES, SUBJECT_TYPES, parseSubject } from "@sallyport/contract";
import type { CredentialWords } from "@sallyport/contract/admin";
import type { IssuedCredential } from "@sallyport/contract/remote";
import { Plus, X } from "lucide-react";
import { type ReactNode, type RefObject, useRef, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { attempt } from "../data/change.tsx";
import { Button } from "../parts/button.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { FormDialog, ReasonField, reasonWords } from "../parts/form-dialog.tsx";
import { principalOf } from "../parts/principal-text.ts";

interface Acting {
  readonly type: string;
  readonly name: string;
  readonly phase: (typeof PHASES)[number];
}

const TYPES = SUBJECT_TYPES.filter((type) => type !== "core");
const SUBJECTS_MAX = 16;
const NOBODY: Acting = { type: "tool", name: "", phase: "runtime" };
const THUMBPRINT = "[A-Za-z0-9_\\-]{43}";

export function CredentialDialog({
  onClose,
  onIssued,
}: {
  readonly onClose: () => void;
  readonly onIssued: (issued: IssuedCredential) => void;
}): ReactNode {
  const [acting, setActing] = useState<readonly Acting[]>([NOBODY]);
  const [words, setWords] = useState({ user: "", organization: "", session: "", thumbprint: "", reason: "" });
  const first = useRef<HTMLInputElement>(null);
  const set = (field: keyof typeof words) => (event: { readonly target: { readonly value: string } }) =>
    setWords({ ...words, [field]: event.target.value });
  return (
    <FormDialog
      title="Issue a runtime credential"
      confirm="Issue"
      wide
      first={first}
      onClose={onClose}
      onSend={() => attempt(() => admin.issueCredential(wordsOf(acting, words)), { topics: ["credentials"] })}
      onAnswer={onIssued}
    >
      {acting.map((one, index) => (
        <ActingFields
          key={index}
          acting={one}
          number={index + 1}
          first={index === 0 ? first : undefined}
          onActing={(next) => setActing(acting.map((held, at) => (at === index ? next : held)))}
          onDrop={acting.length === 1 ? undefined : () => setActing(acting.filter((_, at) => at !== index))}
        />
      ))}
      <div>
        <Button
          look="quiet"
          disabled={acting.length >= SUBJECTS_MAX}
          onClick={() => setActing([...acting, NOBODY])}
        >
          <Plus size={14} aria-hidden />
          Another subject
        </Button>
      </div>
      <TextField
        label="Thumbprint of the holder's key"
        required
        pattern={THUMBPRINT}
        title="43 characters of base64url"
        autoComplete="off"
        className="font-mono"
        value={words.thumbprint}
        hint="RFC 7638. The remote host shows it; the key itself never leaves that machine."
        onChange={set("thumbprint")}
      />
      <div className="grid gap-3 sm:grid-cols-3">
        <TextField label="User" placeholder="none" value={words.user} onChange={set("user")} />
        <TextField
          label="Organization"
          placeholder="none"
          value={words.organization}
          onChange={set("organization")}
        />
        <TextField label="Session key" placeholder="none" value={words.session} onChange={set("session")} />
      </div>
      <ReasonField reason={words.reason} onReason={(reason) => setWords({ ...words, reason })} />
    </FormDialog>
  );
}

function ActingFields({
  acting,
  number,
  first,
  onActing,
  onDrop,
}: {
  readonly acting: Acting;
  readonly number: number;
  readonly first: RefObject<HTMLInputElement | null> | undefined;
  readonly onActing: (acting: Acting) => void;
  readonly onDrop: (() => void) | undefined;
}): ReactNode {
  const parsed = parseSubject(acting.type, acting.name.trim());
  const fault = parsed.ok || acting.name.trim() === "" ? undefined : parsed.message;
  return (
    <div className="flex items-start gap-2" role="group" aria-label={`Subject ${number}`}>
      <div className="grid flex-1 gap-3 sm:grid-cols-3">
        <SelectField
          label="May ask as"
          value={acting.type}
          onValue={(type) => onActing({ ...acting, type })}
          options={TYPES.map((type) => ({ value: type as string, label: type }))}
        />
        <TextField
          ref={first}
          label="Subject name"
          required
          autoComplete="off"
          value={acting.name}
          fault={fault}
          onChange={(event) => onActing({ ...acting, name: event.target.value })}
        />
        <SelectField
          label="Phase"
          value={acting.phase}
          onValue={(phase) => onActing({ ...acting, phase })}
          options={PHASES.map((phase) => ({ value: phase, label: phase }))}
        />
      </div>
      {onDrop === undefined ? null : (
        <Button look="quiet" aria-label={`Drop subject ${number}`} className="mt-5" onClick={onDrop}>
          <X size={14} aria-hidden />
        </Button>
      )}
    </div>
  );
}

function wordsOf(
  acting: readonly Acting[],
  words: Readonly<Record<"user" | "organization" | "session" | "thumbprint" | "reason", string>>,
): CredentialWords {
  return {
    grant: {
      subjects: acting.map(({ type, name, phase }) => ({ subject: { type, name: name.trim() }, phase })),
      userId: principalOf(words.user) ?? null,
      organizationId: principalOf(words.organization) ?? null,
      sessionKey: words.session.trim() === "" ? null : words.session.trim(),
      taskId: null,
      interactive: true,
    },
    keyThumbprint: words.thumbprint.trim(),
    ...reasonWords(words.reason),
  } as unknown as CredentialWords;
}
