/** What subjects declared, held against what they used and what was approved on top. */
import { CHECK_CODES } from "@sallyport/contract";
import type { DeclaredUseView, ManifestView } from "@sallyport/contract/admin";
import { useQuery } from "@tanstack/react-query";
import { ChevronRight, Copy, FileCheck } from "lucide-react";
import { type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { Age } from "../display/clock.tsx";
import { Hostile, Target } from "../display/hostile.tsx";
import { PairBadge, SubjectName } from "../display/identity.tsx";
import { OUTCOME_WORDS, plural } from "../display/words.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { notify } from "../parts/notices.tsx";
import { Page } from "../parts/page.tsx";
import { Fact, Row, RowList } from "../parts/row-list.tsx";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { declarationPatch } from "./declaration-patch.ts";

export function ManifestsPage(): ReactNode {
  const query = useQuery({ queryKey: ["manifests"], queryFn: () => admin.manifests(), staleTime: 0 });
  const rows = query.data?.rows ?? [];
  return (
    <Page
      title="Manifests"
      about="What each subject declared before it ran. A declaration is a contract; an approval is for what was found at run time."
    >
      {query.isPending ? <Loading label="Loading manifests" /> : null}
      {query.error === null ? null : <Failed error={query.error} />}
      {query.data !== undefined && rows.length === 0 ? (
        <Empty icon={FileCheck} title="No manifests are registered">
          Hosts register what they run; <code className="font-mono">sallyport manifest init</code> writes a
          first one.
        </Empty>
      ) : null}
      {rows.length === 0 ? null : (
        <RowList label="Manifests">
          {rows.map((view, index) => (
            <ManifestRow key={index} view={view} />
          ))}
        </RowList>
      )}
    </Page>
  );
}

function ManifestRow({ view }: { readonly view: ManifestView }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <Row
      title={
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="flex items-center gap-1.5 text-left"
        >
          <ChevronRight
            size={15}
            aria-hidden
            className={`text-ink-3 transition-transform ${isOpen ? "rotate-90" : ""}`}
          />
          <SubjectName subject={view.subject} />
        </button>
      }
      facts={
        <>
          {view.phase === "install" ? <Badge>install</Badge> : null}
          <span>{plural(view.access.length, "declared access", "declared accesses")}</span>
          {view.allowedImports.length === 0 ? null : (
            <Fact name="sensitive imports">
              <Hostile text={view.allowedImports.join(", ")} />
            </Fact>
          )}
          {view.source === null ? null : (
            <Fact name="from">
              <Hostile mono text={view.source} fold="line" />
            </Fact>
          )}
        </>
      }
    >
      {isOpen ? <DeclaredAndUsed view={view} /> : null}
    </Row>
  );
}

function DeclaredAndUsed({ view }: { readonly view: ManifestView }): ReactNode {
  const { subject, phase } = view;
  const identity = { subjectType: subject.type, subjectName: subject.name };
  const use = useQuery({
    queryKey: ["events", "used", identity, phase],
    queryFn: () => admin.declaredUse(subject, phase),
    staleTime: 0,
  });
  const grants = useQuery({
    queryKey: ["approvals", "declared", identity],
    queryFn: () => admin.approvals({ ...identity, scope: "permanent" }, { limit: 500 }),
  });
  if (use.isPending || grants.isPending) return <Loading rows={2} label="Loading what was used" />;
  if (use.data === undefined)
    return (
      <Failed
        error={use.error}
        onRetry={() => {
          use.refetch().catch(() => undefined);
        }}
      />
    );
  const patch = declarationPatch(grants.data?.rows.map(({ approval }) => approval) ?? [], view.access);
  return (
    <div className="mt-3 flex flex-col gap-4">
      <Declared use={use.data} />
      <Undeclared use={use.data} />
      <p className="text-xs text-ink-3" data-checks>
        Counted over {plural(use.data.checks, "recorded check")} of this subject
        {use.data.complete ? "" : "; it met more targets than can be told apart, the rest is left out"}.
      </p>
      {patch === null ? null : <DeclareThis patch={patch} />}
    </div>
  );
}

function Declared({ use }: { readonly use: DeclaredUseView }): ReactNode {
  if (use.declared.length === 0) return <p className="text-sm text-ink-2">It declares nothing.</p>;
  return (
    <ul aria-label="Declared" className="flex flex-col gap-1.5 text-sm">
      {use.declared.map(({ rule, count, lastSeen }, index) => (
        <li key={index} className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
          <PairBadge type={rule.resourceType} operation={rule.operation} />
          <span className="min-w-0">
            <Target type={rule.resourceType} target={rule.target} />
          </span>
          {lastSeen === null ? (
            <Badge tone="warn">never used</Badge>
          ) : (
            <>
              <Badge tone="good">used {plural(count, "time")}</Badge>
              <span className="text-xs text-ink-3">
                last <Age at={lastSeen} />
              </span>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function Undeclared({ use }: { readonly use: DeclaredUseView }): ReactNode {
  if (use.undeclared.length === 0) return null;
  return (
    <section aria-label="Not declared">
      <h2 className="mb-1.5 text-sm font-semibold">Met without a declaration</h2>
      <ul className="flex flex-col gap-1.5 text-sm">
        {use.undeclared.map((met, index) => (
          <li key={index} className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
            <PairBadge type={met.resourceType} operation={met.operation} />
            <span className="min-w-0">
              <Target type={met.resourceType} target={met.target} />
            </span>
            <Badge tone={OUTCOME_WORDS[CHECK_CODES[met.code]].tone}>
              {OUTCOME_WORDS[CHECK_CODES[met.code]].label.toLowerCase()} {plural(met.count, "time")}
            </Badge>
            <span className="text-xs text-ink-3">
              last <Age at={met.lastSeen} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function DeclareThis({ patch }: { readonly patch: string }): ReactNode {
  const copy = (): void => {
    navigator.clipboard.writeText(patch).then(
      () => notify({ tone: "neutral", text: "The patch is copied." }),
      () => notify({ tone: "warn", text: "The browser did not let it be copied: select the text instead." }),
    );
  };
  return (
    <section aria-label="Declare this" className="rounded-lg border border-line bg-canvas p-3" data-declare>
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <h2 className="flex-1 text-sm font-semibold">Declare this</h2>
        <Button onClick={copy}>
          <Copy size={14} aria-hidden />
          Copy the patch
        </Button>
      </div>
      <p className="mb-2 text-xs text-ink-2">
        Approved permanently, but not declared. If the subject needs it every time, put it into the manifest:
      </p>
      <pre tabIndex={0} className="overflow-x-auto rounded bg-sunken p-2 text-xs">
        {patch.split("\n").map((line, index) => (
          <span key={index} className="block">
            <Hostile mono text={line} fold="off" />
          </span>
        ))}
      </pre>
    </section>
  );
}
