/** Sessions that hold something. Ending one takes its approvals with it; its key is never used again. */
import type { SessionView } from "@sallyport/contract/admin";
import { Users } from "lucide-react";
import { type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { change } from "../data/change.tsx";
import { usePaged } from "../data/paged.ts";
import { Age } from "../display/clock.tsx";
import { Hostile } from "../display/hostile.tsx";
import { Id } from "../display/identity.tsx";
import { plural } from "../display/words.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Page } from "../parts/page.tsx";
import { PagedRows } from "../parts/paged-rows.tsx";
import { Fact, Row } from "../parts/row-list.tsx";

export function SessionsPage(): ReactNode {
  const [ending, setEnding] = useState<SessionView | null>(null);
  const list = usePaged(["sessions"], (page) => admin.sessions(page));
  return (
    <Page
      title="Sessions"
      about="A session approval holds for one organization, one user and one key, until that session ends."
    >
      <PagedRows
        list={list}
        label="Sessions"
        empty={{
          icon: Users,
          title: "No sessions",
          text: "A session is listed while it holds an approval, or a request that waits.",
        }}
      >
        {(session, index) => (
          <Row
            key={index}
            title={<Hostile mono text={session.sessionKey} />}
            facts={
              <>
                <Fact name="user">
                  <Id value={session.userId} />
                </Fact>
                <Fact name="organization">
                  <Id value={session.organizationId} />
                </Fact>
                <span>{plural(session.approvals, "approval")}</span>
                <span>{plural(session.pending, "pending request")}</span>
                <Fact name="last seen">
                  <Age at={session.lastSeen} />
                </Fact>
              </>
            }
            actions={
              <Button look="danger" onClick={() => setEnding(session)}>
                End…
              </Button>
            }
          />
        )}
      </PagedRows>
      {ending === null ? null : (
        <ConfirmDialog
          title="End this session"
          confirm="End the session"
          onClose={() => setEnding(null)}
          onConfirm={() => {
            setEnding(null);
            const { organizationId, userId, sessionKey } = ending;
            change(() => admin.endSession({ organizationId, userId, sessionKey }), {
              done: "The session is ended.",
              topics: ["sessions", "approvals", "requests"],
            }).catch(() => undefined);
          }}
        >
          <p>
            <Hostile mono text={ending.sessionKey} /> loses {plural(ending.approvals, "approval")}; what it
            still asks for is refused.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  );
}
