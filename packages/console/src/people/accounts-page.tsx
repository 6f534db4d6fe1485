/** Who can sign in with a local account: inviting, what each may do, and shutting out. */
import type { Account, Invited } from "@sallyport/contract/admin";
import { UserPlus, UsersRound } from "lucide-react";
import { type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { attempt } from "../data/change.tsx";
import { usePaged } from "../data/paged.ts";
import { Age, Countdown } from "../display/clock.tsx";
import { Hostile } from "../display/hostile.tsx";
import { Id } from "../display/identity.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Page } from "../parts/page.tsx";
import { PagedRows } from "../parts/paged-rows.tsx";
import { Fact, Row } from "../parts/row-list.tsx";
import { AccessDialog, InviteDialog } from "./account-dialogs.tsx";
import { ToldOnce } from "./told-once.tsx";

type Doing =
  | { readonly kind: "invite" }
  | { readonly kind: "told"; readonly invited: Invited }
  | { readonly kind: "access" | "end" | "disable"; readonly account: Account };

const TOPICS = ["accounts"] as const;

const enable = (account: Account): void => {
  attempt(() => admin.disableAccount(account.id, { disabled: false }), {
    done: "The account is enabled. It has to sign in again.",
    topics: TOPICS,
  }).catch(() => undefined);
};

export function AccountsPage(): ReactNode {
  const [doing, setDoing] = useState<Doing | null>(null);
  const list = usePaged(["accounts"], (page) => admin.accounts(page));
  const link = (account: Account): void => {
    attempt(() => admin.createAccountLink(account.id), { topics: TOPICS })
      .then((invited) => setDoing(invited === null ? null : { kind: "told", invited }))
      .catch(() => undefined);
  };
  return (
    <Page
      title="Accounts"
      about="Local accounts. People of an identity provider are not listed: what they may do is decided there."
      actions={
        <Button look="primary" onClick={() => setDoing({ kind: "invite" })}>
          <UserPlus size={15} aria-hidden />
          Invite…
        </Button>
      }
    >
      <PagedRows
        list={list}
        label="Accounts"
        empty={{
          icon: UsersRound,
          title: "No local accounts",
          text: "Whoever came in by the link of the server is an administrator without an account. Invite people, so that each decision has a name.",
        }}
      >
        {(account) => (
          <AccountRow
            key={account.id}
            account={account}
            onLink={() => link(account)}
            onEnable={() => enable(account)}
            onDo={(kind) => setDoing({ kind, account })}
          />
        )}
      </PagedRows>
      <Doings doing={doing} onDoing={setDoing} />
    </Page>
  );
}

function AccountRow({
  account,
  onLink,
  onEnable,
  onDo,
}: {
  readonly account: Account;
  readonly onLink: () => void;
  readonly onEnable: () => void;
  readonly onDo: (kind: "access" | "end" | "disable") => void;
}): ReactNode {
  const { name, roles, organizationId, disabled } = account;
  return (
    <Row
      title={
        <span className="flex flex-wrap items-baseline gap-2">
          <span className="font-semibold">
            <Hostile text={name} />
          </span>
          {disabled ? <Badge tone="danger">disabled</Badge> : null}
          {account.passwordChangedAt === null ? <Badge tone="warn">no password yet</Badge> : null}
          {organizationId === null ? null : <Badge>decides nothing: of an organization</Badge>}
        </span>
      }
      facts={
        <>
          <Fact name="roles">{roles.length === 0 ? "none" : <Hostile text={roles.join(", ")} />}</Fact>
          <Fact name="organization">
            <Id value={organizationId} />
          </Fact>
          <Fact name="last sign-in">
            {account.lastSignInAt === null ? "never" : <Age at={account.lastSignInAt} />}
          </Fact>
          <Fact name="made">
            <Age at={account.createdAt} />
          </Fact>
        </>
      }
      actions={
        <>
          <Button onClick={() => onDo("access")}>Roles…</Button>
          {disabled ? (
            <Button onClick={onEnable}>Enable</Button>
          ) : (
            <>
              <Button onClick={onLink}>New link</Button>
              <Button onClick={() => onDo("end")}>End sign-ins…</Button>
              <Button look="danger" onClick={() => onDo("disable")}>
                Disable…
              </Button>
            </>
          )}
        </>
      }
    />
  );
}

function Doings({
  doing,
  onDoing,
}: {
  readonly doing: Doing | null;
  readonly onDoing: (doing: Doing | null) => void;
}): ReactNode {
  const close = (): void => onDoing(null);
  switch (doing?.kind) {
    case undefined:
      return null;
    case "invite":
      return <InviteDialog onClose={close} onInvited={(invited) => onDoing({ kind: "told", invited })} />;
    case "told":
      return <ToldLink invited={doing.invited} onClose={close} />;
    case "access":
      return <AccessDialog account={doing.account} onClose={close} />;
    case "end":
      return (
        <ConfirmDialog
          title="End every sign-in"
          confirm="End sign-ins"
          onClose={close}
          onConfirm={(reason) => {
            close();
            attempt(() => admin.endSignIns(doing.account.id, reason), {
              done: "Every sign-in of the account is over.",
              topics: TOPICS,
            }).catch(() => undefined);
          }}
        >
          <p>
            <Hostile text={doing.account.name} /> has to sign in again, in every browser. Links that were not
            used are worth nothing any more.
          </p>
        </ConfirmDialog>
      );
    case "disable":
      return (
        <ConfirmDialog
          title="Disable this account"
          confirm="Disable"
          onClose={close}
          onConfirm={(reason) => {
            close();
            const words = { disabled: true, ...(reason === undefined ? {} : { reason }) };
            attempt(() => admin.disableAccount(doing.account.id, words), {
              done: "The account is disabled, and out.",
              topics: TOPICS,
            }).catch(() => undefined);
          }}
        >
          <p>
            <Hostile text={doing.account.name} /> is signed out at once and cannot come in. What they decided
            stays decided.
          </p>
        </ConfirmDialog>
      );
  }
}

function ToldLink({
  invited,
  onClose,
}: {
  readonly invited: Invited;
  readonly onClose: () => void;
}): ReactNode {
  const { account, link } = invited;
  return (
    <ToldOnce title="A link to sign in" secret={link.url} onClose={onClose}>
      <p>
        Give this to <Hostile text={account.name} /> on a way that nobody else reads. It signs one person in,
        once, and ends <Countdown at={link.expiresAt} past="now" />. Then they set a password of their own.
      </p>
    </ToldOnce>
  );
}
