/** Credentials of remote hosts: what each may ask as, until when, and taking it back. None of them can decide. */
import { CREDENTIAL_STATES, type CredentialView } from "@sallyport/contract/admin";
import type { IssuedCredential } from "@sallyport/contract/remote";
import { KeySquare, Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { attempt } from "../data/change.tsx";
import { usePaged } from "../data/paged.ts";
import { useSession } from "../data/session.ts";
import { Age, Countdown } from "../display/clock.tsx";
import { Hostile } from "../display/hostile.tsx";
import { Id, SubjectName } from "../display/identity.tsx";
import { Badge, type Tone } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Page } from "../parts/page.tsx";
import { PagedRows } from "../parts/paged-rows.tsx";
import { Fact, Row } from "../parts/row-list.tsx";
import { CredentialDialog } from "./credential-dialog.tsx";
import { ToldOnce } from "./told-once.tsx";

const STATES: Readonly<Record<(typeof CREDENTIAL_STATES)[number], Tone>> = {
  live: "good",
  revoked: "danger",
  ended: "neutral",
};

export function CredentialsPage(): ReactNode {
  const [isIssuing, setIssuing] = useState(false);
  const [issued, setIssued] = useState<IssuedCredential | null>(null);
  const [revoking, setRevoking] = useState<CredentialView | null>(null);
  const list = usePaged(["credentials"], (page) => admin.credentials(page));
  return (
    <Page
      title="Runtime credentials"
      about="For hosts on other machines: each asks as the subjects it names, is bound to the key of its holder and to this server, and can never decide. Those that a host of this machine made for itself are not listed."
      actions={
        <Button look="primary" onClick={() => setIssuing(true)}>
          <Plus size={15} aria-hidden />
          Issue…
        </Button>
      }
    >
      <PagedRows
        list={list}
        label="Runtime credentials"
        empty={{
          icon: KeySquare,
          title: "No credentials were issued",
          text: "A remote host shows the thumbprint of its key; a credential for that key lets it ask this server.",
        }}
      >
        {(credential) => (
          <CredentialRow
            key={credential.credentialId}
            credential={credential}
            onRevoke={() => setRevoking(credential)}
          />
        )}
      </PagedRows>
      {isIssuing ? (
        <CredentialDialog
          onClose={() => setIssuing(false)}
          onIssued={(made) => {
            setIssuing(false);
            setIssued(made);
          }}
        />
      ) : null}
      {issued === null ? null : <ToldCredential issued={issued} onClose={() => setIssued(null)} />}
      {revoking === null ? null : (
        <ConfirmDialog
          title="Revoke this credential"
          confirm="Revoke"
          onClose={() => setRevoking(null)}
          onConfirm={(reason) => {
            setRevoking(null);
            attempt(() => admin.revokeCredential(revoking.credentialId, reason), {
              done: "Revoked, with everything it was renewed into.",
              topics: ["credentials"],
            }).catch(() => undefined);
          }}
        >
          <p>The host that holds it can ask nothing any more, also where it renewed it.</p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

function CredentialRow({
  credential,
  onRevoke,
}: {
  readonly credential: CredentialView;
  readonly onRevoke: () => void;
}): ReactNode {
  const { subjects, state } = credential;
  return (
    <Row
      title={
        <span className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
          <Badge tone={STATES[state]}>{state}</Badge>
          {subjects.map(({ subject, phase }, index) => (
            <span key={index}>
              <SubjectName subject={subject} /> {phase === "install" ? <Badge>install</Badge> : null}
            </span>
          ))}
        </span>
      }
      facts={
        <>
          <Fact name="user">
            <Id value={credential.userId} />
          </Fact>
          <Fact name="organization">
            <Id value={credential.organizationId} />
          </Fact>
          <Fact name="session">
            <Id value={credential.sessionKey} />
          </Fact>
          <Fact name="ends">
            <Countdown at={credential.endsAt} past="over" />
          </Fact>
          <Fact name="by">
            <Id value={credential.issuedBy} />
          </Fact>
          <Age at={credential.issuedAt} />
          <Fact name="key">
            <Hostile mono text={credential.keyThumbprint} fold="line" />
          </Fact>
          <Fact name="id">
            <Hostile mono text={credential.credentialId} fold="line" />
          </Fact>
        </>
      }
      actions={
        state === "live" ? (
          <Button look="danger" onClick={onRevoke}>
            Revoke…
          </Button>
        ) : undefined
      }
    />
  );
}

function ToldCredential({
  issued,
  onClose,
}: {
  readonly issued: IssuedCredential;
  readonly onClose: () => void;
}): ReactNode {
  const origin = useSession().data?.server.origin ?? "";
  const expiresAt = new Date(issued.expiresAtMs).toISOString();
  const endsAt = new Date(issued.endsAtMs).toISOString();
  return (
    <ToldOnce title="The credential" secret={issued.token} onClose={onClose}>
      <p>
        For <Hostile mono text={origin} /> only, with the key that it names. It has to be renewed by its
        holder before it expires <Countdown at={expiresAt} past="now" />, and ends for good{" "}
        <Countdown at={endsAt} past="now" />.
      </p>
    </ToldOnce>
  );
}
