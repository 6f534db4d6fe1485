/** What people said no to, so that it is not asked again; and taking that back. */
import type { Denial } from "@sallyport/contract";
import type { AdminIdentityFilter } from "@sallyport/contract/admin";
import { Ban } from "lucide-react";
import { type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { change } from "../data/change.tsx";
import { usePaged } from "../data/paged.ts";
import { Age } from "../display/clock.tsx";
import { Hostile, Target } from "../display/hostile.tsx";
import { Id, PairBadge, SubjectName } from "../display/identity.tsx";
import { MATCH_WORDS } from "../display/words.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { IdentityFilter } from "../parts/identity-filter.tsx";
import { Page } from "../parts/page.tsx";
import { PagedRows } from "../parts/paged-rows.tsx";
import { Fact, Row } from "../parts/row-list.tsx";

export function DenialsPage(): ReactNode {
  const [filter, setFilter] = useState<AdminIdentityFilter>({});
  const [revoking, setRevoking] = useState<Denial | null>(null);
  const list = usePaged(["denials", filter], (page) => admin.denials(filter, page));
  return (
    <Page
      title="Denials"
      about="“Do not ask again”: these targets stay unavailable in every session until the denial is taken back."
    >
      <IdentityFilter filter={filter} onFilter={setFilter} />
      <PagedRows
        list={list}
        label="Denials"
        empty={{ icon: Ban, title: "No denials", text: "What is denied in the inbox is listed here." }}
      >
        {(denial) => (
          <Row
            key={denial.id}
            title={
              <>
                <SubjectName subject={denial.subject} />{" "}
                <span className="text-ink-2">may not {denial.resource.operation}</span>{" "}
                <Target type={denial.resource.type} target={denial.resource.target} />
              </>
            }
            facts={
              <>
                <PairBadge type={denial.resource.type} operation={denial.resource.operation} />
                {denial.match === "exact" ? null : <Badge tone="warn">{MATCH_WORDS[denial.match]}</Badge>}
                <Fact name="by">
                  <Id value={denial.decidedBy} />
                </Fact>
                <Age at={denial.decidedAt} />
                {denial.reason === null ? null : (
                  <Fact name="because">
                    <Hostile text={denial.reason} />
                  </Fact>
                )}
              </>
            }
            actions={<Button onClick={() => setRevoking(denial)}>Take back…</Button>}
          />
        )}
      </PagedRows>
      {revoking === null ? null : (
        <ConfirmDialog
          title="Take back this denial"
          confirm="Take back"
          onClose={() => setRevoking(null)}
          onConfirm={(reason) => {
            setRevoking(null);
            change(() => admin.revokeDenial(revoking.id, reason), {
              done: "Taken back. It will be asked for the next time.",
              topics: ["denials", "request"],
            }).catch(() => undefined);
          }}
        >
          <p>
            <SubjectName subject={revoking.subject} /> will ask again for{" "}
            <Target type={revoking.resource.type} target={revoking.resource.target} />. Nothing is allowed by
            this alone.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  );
}
