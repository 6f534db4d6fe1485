/** The permission mode, and the freeze that stands over everything. */
import { PERMISSION_MODES, type PermissionMode } from "@sallyport/contract";
import { useQuery } from "@tanstack/react-query";
import { Snowflake } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { change } from "../data/change.tsx";
import { Age, Countdown } from "../display/clock.tsx";
import { Hostile } from "../display/hostile.tsx";
import { Id } from "../display/identity.tsx";
import { MODE_WORDS } from "../display/words.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { Sheet, SheetTitle } from "../parts/page.tsx";

const MINUTE_MS = 60_000;
const BYPASS_MINUTES = 15;

export function ModeSheet(): ReactNode {
  const { data } = useQuery({ queryKey: ["mode"], queryFn: () => admin.mode() });
  const [mode, setMode] = useState<PermissionMode | null>(null);
  const [minutes, setMinutes] = useState("");
  const wanted = mode ?? data?.mode ?? "default";
  const needsEnd = wanted === "bypass";
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const span = minutes.trim() === "" ? (needsEnd ? BYPASS_MINUTES : null) : Number(minutes);
    change(
      () =>
        admin.setMode({ mode: wanted, expiresAtMs: span === null ? null : Date.now() + span * MINUTE_MS }),
      { done: `Mode is now “${MODE_WORDS[wanted].label}”.`, topics: ["mode", "session", "permission-state"] },
    ).catch(() => undefined);
    setMode(null);
  };
  return (
    <Sheet>
      <SheetTitle
        actions={
          data?.expiresAt === null || data === undefined ? undefined : (
            <span className="text-xs text-ink-2">
              ends <Countdown at={data.expiresAt} past="now" />
            </span>
          )
        }
      >
        Permission mode
      </SheetTitle>
      <form onSubmit={submit} className="flex flex-col gap-3 p-4">
        <SelectField
          label="Mode"
          value={wanted}
          onValue={setMode}
          hint={MODE_WORDS[wanted].about}
          options={PERMISSION_MODES.map((name) => ({ value: name, label: MODE_WORDS[name].label }))}
        />
        <TextField
          label="For how many minutes"
          inputMode="numeric"
          pattern="[1-9][0-9]{0,5}"
          placeholder={needsEnd ? String(BYPASS_MINUTES) : "no end"}
          value={minutes}
          onChange={(event) => setMinutes(event.target.value)}
        />
        <div>
          <Button
            type="submit"
            look={needsEnd ? "danger" : "plain"}
            disabled={mode === null || mode === data?.mode}
          >
            Change the mode
          </Button>
        </div>
      </form>
    </Sheet>
  );
}

export function FreezeSheet(): ReactNode {
  const { data } = useQuery({ queryKey: ["freeze"], queryFn: () => admin.freezeState() });
  const [isAsking, setAsking] = useState(false);
  const frozen = data?.frozen ?? false;
  const apply = (reason: string | undefined): void => {
    setAsking(false);
    change(() => admin.freeze({ frozen: !frozen, ...(reason === undefined ? {} : { reason }) }), {
      done: frozen ? "No longer frozen." : "Frozen. Nothing outside the allowlist is allowed.",
      topics: ["freeze", "session", "permission-state"],
    }).catch(() => undefined);
  };
  return (
    <Sheet>
      <SheetTitle
        actions={frozen ? <Badge tone="danger">frozen</Badge> : <Badge tone="good">not frozen</Badge>}
      >
        Freeze
      </SheetTitle>
      <div className="flex flex-col items-start gap-3 p-4 text-sm">
        <p className="text-ink-2">
          Refuses everything outside the declared allowlist at once, whatever was approved. For the moment
          when something goes wrong and there is no time to look for it.
        </p>
        {data?.changedAt === null || data === undefined ? null : (
          <p className="text-xs text-ink-3">
            Changed by <Id value={data.changedBy} /> <Age at={data.changedAt} />
            {data.reason === null ? null : (
              <>
                : <Hostile text={data.reason} />
              </>
            )}
          </p>
        )}
        <Button look={frozen ? "plain" : "danger"} onClick={() => setAsking(true)}>
          <Snowflake size={15} aria-hidden />
          {frozen ? "Lift the freeze…" : "Freeze…"}
        </Button>
      </div>
      {isAsking ? (
        <ConfirmDialog
          title={frozen ? "Lift the freeze" : "Freeze everything"}
          confirm={frozen ? "Lift" : "Freeze"}
          onClose={() => setAsking(false)}
          onConfirm={apply}
        >
          {frozen
            ? "Approvals and rules hold again as they did before."
            : "Running work outside its allowlist stops being allowed at once. Approvals are kept and hold again when the freeze is lifted."}
        </ConfirmDialog>
      ) : null}
    </Sheet>
  );
}
