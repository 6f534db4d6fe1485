/** Work that was stopped at a request and goes on after its approval: what ran, what waits, what failed and why. */
import { JOB_VIEW_STATES, type AdminJobFilter, type JobView } from "@sallyport/contract/admin";
import { Play, RotateCw } from "lucide-react";
import { type ReactNode, useState } from "react";
import { admin } from "../data/late-admin.ts";
import { change } from "../data/change.tsx";
import { usePaged } from "../data/paged.ts";
import { Age, Countdown } from "../display/clock.tsx";
import { Hostile } from "../display/hostile.tsx";
import { plural } from "../display/words.ts";
import { Badge, type Tone } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/identity-filter.tsx";
import { Page } from "../parts/page.tsx";
import { PagedRows } from "../parts/paged-rows.tsx";
import { Fact, Row } from "../parts/row-list.tsx";

const STATES: Readonly<Record<JobView["state"], { readonly label: string; readonly tone: Tone }>> = {
  ready: { label: "waits for its turn", tone: "accent" },
  leased: { label: "runs", tone: "accent" },
  done: { label: "done", tone: "good" },
  parked: { label: "parked", tone: "warn" },
};

export function JobsPage(): ReactNode {
  const [filter, setFilter] = useState<AdminJobFilter>({});
  const list = usePaged(["jobs", filter], (page) => admin.jobs(filter, page));
  return (
    <Page
      title="Resume jobs"
      about="An approval sets stopped work going again. A job that fails is tried again later and never undoes the approval."
      actions={
        <Choice
          label="State"
          value={filter.state}
          values={JOB_VIEW_STATES}
          onValue={(state) => setFilter(state === "" ? {} : { state: state as JobView["state"] })}
        />
      }
    >
      <PagedRows
        list={list}
        label="Resume jobs"
        empty={{
          icon: Play,
          title: "No jobs",
          text: "Requests that name a resume action make one when they are approved.",
        }}
      >
        {(job) => <JobRow key={job.id} job={job} />}
      </PagedRows>
    </Page>
  );
}

function JobRow({ job }: { readonly job: JobView }): ReactNode {
  const retry = (): void => {
    change(() => admin.retryJob(job.id), { done: "It will be tried again now.", topics: ["jobs"] }).catch(
      () => undefined,
    );
  };
  const state = STATES[job.state];
  return (
    <Row
      title={
        <span className="flex flex-wrap items-baseline gap-2">
          <span className="font-semibold">
            <Hostile mono text={job.action} />
          </span>
          <Badge tone={state.tone}>{state.label}</Badge>
        </span>
      }
      facts={
        <>
          {job.ownerModule === "" ? null : (
            <Fact name="module">
              <Hostile text={job.ownerModule} />
            </Fact>
          )}
          <span>{plural(job.attempts, "attempt")}</span>
          <Fact name="made">
            <Age at={job.createdAt} />
          </Fact>
          {job.finishedAt === null ? null : (
            <Fact name="finished">
              <Age at={job.finishedAt} />
            </Fact>
          )}
          {job.state === "ready" ? (
            <Fact name="next">
              <Countdown at={job.nextAt} past="now" />
            </Fact>
          ) : null}
          <Fact name="request">
            <Hostile mono text={job.requestId} fold="line" />
          </Fact>
        </>
      }
      actions={
        job.state === "parked" ? (
          <Button onClick={retry}>
            <RotateCw size={14} aria-hidden />
            Try again
          </Button>
        ) : undefined
      }
    >
      {job.lastError === null ? null : (
        <p className="mt-2 rounded-md bg-danger-soft px-3 py-2 text-sm text-danger" data-last-error>
          <Hostile text={job.lastError} />
        </p>
      )}
    </Row>
  );
}
