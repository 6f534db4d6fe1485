/** The audit log: a timeline that can be searched by every identity field, verified and taken along. */
import type { AdminEventFilter } from "@sallyport/contract/admin";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { admin } from "../data/late-admin.ts";
import { usePaged } from "../data/paged.ts";
import { Page } from "../parts/page.tsx";
import { PagedRows } from "../parts/paged-rows.tsx";
import { AuditFilter } from "./audit-filter.tsx";
import { type AuditSearch, RANGES, type RangeName } from "./audit-search.ts";
import { DecisionChart } from "./decision-chart.tsx";
import { EventRow } from "./event-row.tsx";
import { ExportButton } from "./export-button.tsx";
import { VerifyButton } from "./verify-button.tsx";

export function AuditPage(): ReactNode {
  const search: AuditSearch = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const { range = "day", ...filter } = search;
  const narrow = (next: AuditSearch): void => {
    const given = Object.fromEntries(
      Object.entries(next).filter(([, value]) => value !== undefined && value !== ""),
    );
    navigate({ search: given, replace: true }).catch(() => undefined);
  };
  const asked = useMemo<AdminEventFilter>(() => filter, [search]);
  const list = usePaged(["events", asked], (page) => admin.events(asked, page));
  return (
    <Page
      title="Audit"
      about="Every decision is a recorded fact, chained to the one before it."
      actions={
        <>
          <VerifyButton />
          <ExportButton />
        </>
      }
    >
      <DecisionChart
        range={range}
        filter={asked}
        onRange={(name: RangeName) => narrow({ ...search, range: name })}
      />
      <AuditFilter search={search} onNarrow={narrow} />
      <PagedRows
        list={list}
        label="Events"
        empty={{
          icon: ScrollText,
          title: "No events",
          text: "Nothing that was recorded matches. Values are compared exactly.",
        }}
      >
        {(event) => <EventRow key={event.hash} event={event} />}
      </PagedRows>
      <p className="mt-3 text-xs text-ink-3">
        The chart shows {RANGES[range].label}; the list below it goes back to the beginning of the log.
      </p>
    </Page>
  );
}
