/**
 * Everything an approver needs on one card: the sentence, what it can destroy, why it was asked, what is granted already
 * and what would be new. A request that somebody decided meanwhile says by whom.
 */
import type { RequestDetail, RequestView } from "@sallyport/contract/admin";
import { CircleAlert, History, Info, ShieldQuestion } from "lucide-react";
import type { ReactNode } from "react";
import { Age, Countdown, Instant } from "../display/clock.tsx";
import { Hostile, Target } from "../display/hostile.tsx";
import { Chain, Id, PairBadge } from "../display/identity.tsx";
import {
  MODE_WORDS,
  NEAR_MISS_WORDS,
  SOURCE_WORDS,
  STATUS_WORDS,
  pairWords,
  plural,
} from "../display/words.ts";
import { Badge } from "../parts/badge.tsx";
import { GrantedAlready } from "./granted-already.tsx";
import { Sentence } from "./sentence.tsx";

export function RequestCard({ detail }: { readonly detail: RequestDetail }): ReactNode {
  const { request } = detail;
  const wider = pairWords(request.resource.type, request.resource.operation)?.wider;
  return (
    <article aria-label="Request" className="flex flex-col gap-4" data-card={request.id}>
      <header>
        <div className="mb-2 flex flex-wrap items-center gap-1.5">
          <PairBadge
            type={request.resource.type}
            operation={request.resource.operation}
            destructive={request.destructive}
          />
          {request.destructive ? <Badge tone="danger">can destroy</Badge> : null}
          <Badge tone={STATUS_WORDS[request.status].tone}>{STATUS_WORDS[request.status].label}</Badge>
        </div>
        <p className="text-lg leading-7 text-ink" data-sentence>
          <Sentence request={request} />
        </p>
        {wider === undefined ? null : <p className="mt-1 text-sm text-ink-2">{wider}</p>}
      </header>
      <Decided request={request} />
      {request.destructive ? <Destruction request={request} /> : null}
      <WhyAsked detail={detail} />
      <GrantedAlready detail={detail} />
      <Facts detail={detail} />
    </article>
  );
}

function Decided({ request }: { readonly request: RequestView }): ReactNode {
  if (request.status === "pending") return null;
  return (
    <Panel icon={<Info size={16} aria-hidden />} tone="bg-sunken" title={STATUS_WORDS[request.status].label}>
      <p data-already-decided>
        {request.decidedBy === null ? (
          request.status === "cancelled" ? (
            "It was taken back before anybody decided."
          ) : (
            "Nobody decided it in time."
          )
        ) : (
          <>
            Already decided by <Id value={request.decidedBy} />
            {request.decidedAt === null ? null : (
              <>
                {" "}
                on <Instant at={request.decidedAt} />
              </>
            )}
            .
          </>
        )}
      </p>
      {request.decisionReason === null ? null : (
        <p>
          Reason: <Hostile text={request.decisionReason} />
        </p>
      )}
    </Panel>
  );
}

function Destruction({ request }: { readonly request: RequestView }): ReactNode {
  return (
    <Panel
      icon={<CircleAlert size={16} aria-hidden className="text-danger" />}
      tone="bg-danger-soft"
      title="What it can destroy"
    >
      <p>
        <Hostile text={request.impactScope} />
      </p>
      <p className="text-ink-2">
        To go back: <Hostile text={request.rollbackAdvice} />
      </p>
    </Panel>
  );
}

function WhyAsked({ detail }: { readonly detail: RequestDetail }): ReactNode {
  const { asked, nearMisses } = detail;
  return (
    <Panel
      icon={<ShieldQuestion size={16} aria-hidden className="text-accent" />}
      tone="bg-canvas"
      title="Why it asked"
    >
      <p>
        {asked.decisionSource === "mode" ? (
          <>No declaration, approval or rule covers it, and mode “{MODE_WORDS[asked.mode].label}” asks.</>
        ) : (
          <>
            Because of {SOURCE_WORDS[asked.decisionSource]}, in mode “{MODE_WORDS[asked.mode].label}”.
          </>
        )}
      </p>
      {asked.ruleRefs.length === 0 ? null : (
        <p className="flex flex-wrap gap-1">
          Rule{" "}
          {asked.ruleRefs.map((ref) => (
            <Hostile key={ref} mono text={ref} />
          ))}
        </p>
      )}
      {nearMisses.map((miss) => (
        <p key={miss.approval.id} className="mt-1.5 flex items-start gap-1.5" data-near-miss>
          <History size={14} aria-hidden className="mt-1 shrink-0 text-warn" />
          <span>
            Asked again because {NEAR_MISS_WORDS[miss.why]}:{" "}
            <Target type={miss.approval.resource.type} target={miss.approval.resource.target} />{" "}
            <span className="text-ink-3">({miss.approval.resource.operation})</span>
          </span>
        </p>
      ))}
    </Panel>
  );
}

export function Panel({
  icon,
  title,
  tone,
  children,
}: {
  readonly icon: ReactNode;
  readonly title: string;
  readonly tone: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <section className={`rounded-lg border border-line px-3.5 py-2.5 text-sm ${tone}`}>
      <h2 className="mb-1 flex items-center gap-1.5 font-semibold">
        {icon}
        {title}
      </h2>
      {children}
    </section>
  );
}

function Facts({ detail }: { readonly detail: RequestDetail }): ReactNode {
  const { request } = detail;
  const { origin, resume } = request;
  const isRespelled = detail.targetRequested !== request.resource.target;
  return (
    <dl className="grid grid-cols-[max-content_1fr] gap-x-5 gap-y-1.5 text-sm">
      <FactLine name="Chain">
        <Chain frames={request.subjectChain} />
      </FactLine>
      <FactLine name="Session key">
        {origin.sessionKey === null || origin.sessionKey === undefined ? (
          "none: it can be approved permanently or denied only"
        ) : (
          <Id value={origin.sessionKey} />
        )}
      </FactLine>
      <FactLine name="Resumable">
        {resume === null ? (
          "no: an approval changes access only"
        ) : (
          <>
            yes: <Hostile mono text={resume.action} />{" "}
            {resume.context === null ? "runs without a context" : "runs with a sealed context"}
          </>
        )}
      </FactLine>
      <FactLine name="Asked">
        {plural(request.count, "time")}, last <Age at={request.lastSeen} />, first{" "}
        <Age at={request.firstSeen} />
      </FactLine>
      {request.status === "pending" ? (
        <FactLine name="Expires">
          <Countdown at={request.expiresAt} past="expired" />
        </FactLine>
      ) : null}
      {isRespelled ? (
        <FactLine name="As written">
          <Hostile mono text={detail.targetRequested} />
        </FactLine>
      ) : null}
      <FactLine name="User">
        <Id value={origin.userId} />
      </FactLine>
      <FactLine name="Organization">
        <Id value={origin.organizationId} />
      </FactLine>
      <FactLine name="Task">
        <Id value={origin.taskId} />
      </FactLine>
      <FactLine name="Seen by">{request.attestedBy}</FactLine>
      <FactLine name="Request">
        <Hostile mono text={request.id} />
      </FactLine>
    </dl>
  );
}

function FactLine({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd className="min-w-0 text-ink">{children}</dd>
    </>
  );
}
