/** Host policy: the mode, the freeze, and the rules that deny, ask or allow. */
import type { RuleView } from "@sallyport/contract/admin";
import { useQuery } from "@tanstack/react-query";
import { Plus, Scale } from "lucide-react";
import { type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { change } from "../data/change.tsx";
import { Age } from "../display/clock.tsx";
import { Hostile, Target } from "../display/hostile.tsx";
import { Id, PairBadge, SubjectName } from "../display/identity.tsx";
import { MATCH_WORDS } from "../display/words.ts";
import { Badge, type Tone } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { ConfirmDialog } from "../parts/confirm-dialog.tsx";
import { Page } from "../parts/page.tsx";
import { Fact, Row, RowList } from "../parts/row-list.tsx";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { FreezeSheet, ModeSheet } from "./mode-sheet.tsx";
import { RuleDialog } from "./rule-dialog.tsx";

export function RulesPage(): ReactNode {
  const [isAdding, setAdding] = useState(false);
  return (
    <Page
      title="Rules and mode"
      about="Deny beats ask, ask beats allow. Rules stand around declarations and approvals; built-in denies stand around the rules."
      actions={
        <Button look="primary" onClick={() => setAdding(true)}>
          <Plus size={15} aria-hidden />
          Add a rule
        </Button>
      }
    >
      <div className="mb-4 grid gap-4 lg:grid-cols-2">
        <ModeSheet />
        <FreezeSheet />
      </div>
      <Rules />
      {isAdding ? <RuleDialog onClose={() => setAdding(false)} /> : null}
    </Page>
  );
}

function Rules(): ReactNode {
  const [removing, setRemoving] = useState<RuleView | null>(null);
  const query = useQuery({ queryKey: ["rules"], queryFn: () => admin.rules() });
  if (query.isPending) return <Loading label="Loading rules" />;
  if (query.data === undefined)
    return (
      <Failed
        error={query.error}
        onRetry={() => {
          query.refetch().catch(() => undefined);
        }}
      />
    );
  if (query.data.rows.length === 0)
    return (
      <Empty icon={Scale} title="No rules">
        Without rules the declarations, the approvals and the mode decide. “Block” in the inbox writes a deny
        rule.
      </Empty>
    );
  return (
    <>
      <RowList label="Rules">
        {query.data.rows.map((view) => (
          <RuleRow key={view.rule.id} view={view} onRemove={() => setRemoving(view)} />
        ))}
      </RowList>
      {removing === null ? null : (
        <ConfirmDialog
          title="Remove this rule"
          confirm="Remove"
          onClose={() => setRemoving(null)}
          onConfirm={(reason) => {
            setRemoving(null);
            change(() => admin.removeRule(removing.rule.id, reason), {
              done: "The rule is removed.",
              topics: ["rules"],
            }).catch(() => undefined);
          }}
        >
          <p>
            {removing.rule.effect} {removing.rule.operation} of{" "}
            <Target type={removing.rule.resourceType} target={removing.rule.target} /> no longer holds. What
            it stood before decides again.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

const EFFECT_TONES: Readonly<Record<RuleView["rule"]["effect"], Tone>> = {
  deny: "danger",
  ask: "accent",
  allow: "good",
};

function RuleRow({ view, onRemove }: { readonly view: RuleView; readonly onRemove: () => void }): ReactNode {
  const { rule, createdAt, createdBy } = view;
  return (
    <Row
      title={
        <span className="flex flex-wrap items-baseline gap-1.5">
          <Badge tone={EFFECT_TONES[rule.effect]}>{rule.effect}</Badge>
          {rule.subject === undefined ? (
            <span className="text-ink-2">every subject</span>
          ) : (
            <SubjectName subject={rule.subject} />
          )}
          <span className="text-ink-2">{rule.operation}</span>
          <span className="min-w-0">
            <Target type={rule.resourceType} target={rule.target} />
          </span>
        </span>
      }
      facts={
        <>
          <PairBadge type={rule.resourceType} operation={rule.operation} />
          <Fact name="source">{rule.source}</Fact>
          {rule.match === undefined || rule.match === "exact" ? null : (
            <Badge tone="warn">{MATCH_WORDS[rule.match]}</Badge>
          )}
          {rule.organizationId === undefined ? null : (
            <Fact name="organization">
              <Id value={rule.organizationId} />
            </Fact>
          )}
          {rule.userId === undefined ? null : (
            <Fact name="user">
              <Id value={rule.userId} />
            </Fact>
          )}
          {rule.sessionKey === undefined ? null : (
            <Fact name="session">
              <Hostile mono text={rule.sessionKey} fold="line" />
            </Fact>
          )}
          <Fact name="by">
            <Id value={createdBy} />
          </Fact>
          <Age at={createdAt} />
        </>
      }
      actions={
        <Button look="danger" onClick={onRemove}>
          Remove…
        </Button>
      }
    />
  );
}
