/** Tokens of persons for scripts: each reads a part of what its person may see, for a while. None of them decides. */
import { TOKEN_SCOPES, type MadeToken, type TokenScope, type TokenView } from "@sallyport/contract/admin";
import { Plus, Ticket } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { attempt } from "../data/change.tsx";
import { usePaged } from "../data/paged.ts";
import { Age, Countdown } from "../display/clock.tsx";
import { Hostile } from "../display/hostile.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { Page } from "../parts/page.tsx";
import { PagedRows } from "../parts/paged-rows.tsx";
import { Fact, Row } from "../parts/row-list.tsx";
import { ToldOnce } from "./told-once.tsx";

const DAY_MS = 86_400_000;
const DAYS = ["1", "7", "30", "90"] as const;

const SCOPE_WORDS: Readonly<Record<TokenScope, string>> = {
  requests: "Requests and their details",
  policy: "Grants, denials, rules, mode",
  runs: "Jobs, sessions, manifests, sandboxes, notifications",
  events: "The audit log and its streams",
  check: "Asking what would happen",
};

export function TokensPage(): ReactNode {
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<MadeToken | null>(null);
  const [revoking, setRevoking] = useState<TokenView | null>(null);
  const list = usePaged(["tokens"], (page) => admin.tokens(page));
  return (
    <Page
      title="Tokens"
      about="For scripts of people. A token reads what it was made for, as long as its person may; it never decides and changes nothing."
      actions={
        <Button look="primary" onClick={() => setMaking(true)}>
          <Plus size={15} aria-hidden />
          Make a token…
        </Button>
      }
    >
      <PagedRows
        list={list}
        label="Tokens"
        empty={{
          icon: Ticket,
          title: "No tokens",
          text: "A script that watches requests or the log needs one.",
        }}
      >
        {(token) => (
          <Row
            key={token.id}
            title={
              <span className="font-semibold">
                <Hostile text={token.name} />
              </span>
            }
            facts={
              <>
                {token.scopes.map((scope) => (
                  <Badge key={scope} title={SCOPE_WORDS[scope]}>
                    {scope}
                  </Badge>
                ))}
                <Fact name="of">
                  <Hostile text={token.userName} />
                </Fact>
                <Fact name="ends">
                  <Countdown at={token.expiresAt} past="over" />
                </Fact>
                <Fact name="last use">
                  {token.lastUsedAt === null ? "never" : <Age at={token.lastUsedAt} />}
                </Fact>
                <Fact name="made">
                  <Age at={token.createdAt} />
                </Fact>
              </>
            }
            actions={
              <Button look="danger" onClick={() => setRevoking(token)}>
                Revoke…
              </Button>
            }
          />
        )}
      </PagedRows>
      {isMaking ? (
        <TokenDialog
          onClose={() => setMaking(false)}
          onMade={(token) => {
            setMaking(false);
            setMade(token);
          }}
        />
      ) : null}
      {made === null ? null : (
        <ToldOnce title="The token" secret={made.token} onClose={() => setMade(null)}>
          <p>
            Send it as <code className="font-mono">Authorization: Bearer …</code>. It ends{" "}
            <Countdown at={made.view.expiresAt} past="now" />.
          </p>
        </ToldOnce>
      )}
      {revoking === null ? null : (
        <ConfirmDialog
          title="Revoke this token"
          confirm="Revoke"
          onClose={() => setRevoking(null)}
          onConfirm={(reason) => {
            setRevoking(null);
            attempt(() => admin.revokeToken(revoking.id, reason), {
              done: "Revoked.",
              topics: ["tokens"],
            }).catch(() => undefined);
          }}
        >
          <p>
            Whatever uses <Hostile text={revoking.name} /> reads nothing any more.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

function TokenDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (made: MadeToken) => void;
}): ReactNode {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly TokenScope[]>(["requests"]);
  const [days, setDays] = useState<(typeof DAYS)[number]>("30");
  const first = useRef<HTMLInputElement>(null);
  const words = { name: name.trim(), scopes: [...scopes], ttlMs: Number(days) * DAY_MS };
  return (
    <FormDialog
      title="Make a token of your own"
      confirm="Make the token"
      first={first}
      isReady={scopes.length > 0}
      onClose={onClose}
      onSend={() => attempt(() => admin.createToken(words), { topics: ["tokens"] })}
      onAnswer={onMade}
    >
      <TextField
        ref={first}
        label="What it is for"
        required
        maxLength={200}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <fieldset>
        <legend className="mb-1 text-xs font-medium text-ink-2">What it may read</legend>
        {TOKEN_SCOPES.map((scope) => (
          <label key={scope} className="flex items-center gap-2 py-0.5 text-sm">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={(event) =>
                setScopes(event.target.checked ? [...scopes, scope] : scopes.filter((held) => held !== scope))
              }
              className="size-4 accent-accent-fill"
            />
            {SCOPE_WORDS[scope]}
          </label>
        ))}
      </fieldset>
      <SelectField
        label="For how long"
        value={days}
        onValue={setDays}
        options={DAYS.map((value) => ({ value, label: value === "1" ? "1 day" : `${value} days` }))}
      />
    </FormDialog>
  );
}
