/** Everything that was approved: how far it reaches, until when, when it was used last; and taking it back. */
import type { Approval } from "@sallyport/contract";
import type { AdminApprovalFilter, Grant } from "@sallyport/contract/admin";
import { KeyRound } from "lucide-react";
import { type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { change } from "../data/change.tsx";
import { usePaged } from "../data/paged.ts";
import { Age, Countdown } from "../display/clock.tsx";
import { Hostile, Target } from "../display/hostile.tsx";
import { Id, PairBadge, SubjectName } from "../display/identity.tsx";
import { MATCH_WORDS, pairLabel } from "../display/words.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Choice, IdentityFilter } from "../parts/identity-filter.tsx";
import { Page } from "../parts/page.tsx";
import { PagedRows } from "../parts/paged-rows.tsx";
import { Fact, Row } from "../parts/row-list.tsx";

export function GrantsPage(): ReactNode {
  const [filter, setFilter] = useState<AdminApprovalFilter>({});
  const [revoking, setRevoking] = useState<Approval | null>(null);
  const list = usePaged(["approvals", filter], (page) => admin.approvals(filter, page));
  return (
    <Page
      title="Grants"
      about="What people have approved. A grant that is revoked stops holding at once, on every node."
    >
      <IdentityFilter filter={filter} onFilter={setFilter}>
        <Choice
          label="Scope"
          value={filter.scope}
          values={["session", "permanent"]}
          onValue={(scope) =>
            setFilter({ ...filter, scope: scope === "" ? undefined : (scope as "session" | "permanent") })
          }
        />
      </IdentityFilter>
      <PagedRows
        list={list}
        label="Grants"
        empty={{ icon: KeyRound, title: "No grants", text: "What is approved in the inbox is listed here." }}
      >
        {(grant) => (
          <GrantRow key={grant.approval.id} grant={grant} onRevoke={() => setRevoking(grant.approval)} />
        )}
      </PagedRows>
      {revoking === null ? null : <RevokeDialog approval={revoking} onClose={() => setRevoking(null)} />}
    </Page>
  );
}

function GrantRow({ grant, onRevoke }: { readonly grant: Grant; readonly onRevoke: () => void }): ReactNode {
  const { approval, lastUsedAt, alive } = grant;
  const { resource, match, scope, expiresAt, maxUses, uses } = approval;
  return (
    <Row
      title={
        <>
          <SubjectName subject={approval.subject} />{" "}
          <span className="text-ink-2">may {resource.operation}</span>{" "}
          <Target type={resource.type} target={resource.target} />
        </>
      }
      facts={
        <>
          <PairBadge type={resource.type} operation={resource.operation} />
          <Badge tone={scope === "permanent" ? "accent" : "neutral"}>{scope}</Badge>
          {match === "exact" ? null : <Badge tone="warn">{MATCH_WORDS[match]}</Badge>}
          {alive ? null : <Badge tone="danger">{expiredWord(grant)}</Badge>}
          {scope === "session" ? (
            <Fact name="session">
              <Hostile mono text={approval.sessionKey} fold="line" />
            </Fact>
          ) : null}
          {expiresAt === null ? null : (
            <Fact name="ends">
              <Countdown at={expiresAt} past="expired" />
            </Fact>
          )}
          {maxUses === null ? null : (
            <Fact name="used">
              {uses} of {maxUses}
            </Fact>
          )}
          <Fact name="last use">{lastUsedAt === null ? "never" : <Age at={lastUsedAt} />}</Fact>
          <Fact name="by">
            <Id value={approval.decidedBy} />
          </Fact>
          <Age at={approval.decidedAt} />
          {approval.reason === null ? null : (
            <Fact name="because">
              <Hostile text={approval.reason} />
            </Fact>
          )}
        </>
      }
      actions={
        <Button look="danger" onClick={onRevoke}>
          Revoke…
        </Button>
      }
    />
  );
}

const expiredWord = ({ approval }: Grant): string =>
  approval.maxUses !== null && approval.uses >= approval.maxUses ? "used up" : "expired";

function RevokeDialog({
  approval,
  onClose,
}: {
  readonly approval: Approval;
  readonly onClose: () => void;
}): ReactNode {
  const { subject, resource, match, scope } = approval;
  return (
    <ConfirmDialog
      title="Revoke this grant"
      confirm="Revoke"
      onClose={onClose}
      onConfirm={(reason) => {
        onClose();
        change(() => admin.revokeApproval(approval.id, reason), {
          done: "Revoked. It will be asked for again.",
          topics: ["approvals", "request"],
        }).catch(() => undefined);
      }}
    >
      <p>What will ask again:</p>
      <p className="my-2 rounded-md bg-canvas px-3 py-2" data-asks-again>
        <SubjectName subject={subject} />, {pairLabel(resource.type, resource.operation)} of{" "}
        <Target type={resource.type} target={resource.target} /> ({MATCH_WORDS[match]}
        {scope === "session" ? ", in its session" : ", in every session"})
      </p>
      <p className="text-ink-2">What already ran stays done. Connections that it opened are closed.</p>
    </ConfirmDialog>
  );
}
