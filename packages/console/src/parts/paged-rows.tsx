/** A list in pages with its three other states. */
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import type { Paged } from "../data/paged.ts";
import { Button } from "./button.tsx";
import { RowList } from "./row-list.tsx";
import { Empty, Failed, Loading } from "./states.tsx";

export function PagedRows<RowValue>({
  list,
  label,
  empty,
  children,
}: {
  readonly list: Paged<RowValue>;
  readonly label: string;
  readonly empty: { readonly icon: LucideIcon; readonly title: string; readonly text: ReactNode };
  readonly children: (row: RowValue, index: number) => ReactNode;
}): ReactNode {
  if (list.isLoading) return <Loading label={`Loading ${label.toLowerCase()}`} />;
  if (list.error !== null && list.rows.length === 0)
    return <Failed error={list.error} onRetry={list.retry} />;
  if (list.rows.length === 0)
    return (
      <Empty icon={empty.icon} title={empty.title}>
        {empty.text}
      </Empty>
    );
  return (
    <>
      <RowList label={label}>{list.rows.map(children)}</RowList>
      {list.hasMore ? (
        <div className="mt-3 flex justify-center">
          <Button onClick={list.loadMore}>Load more</Button>
        </div>
      ) : null}
    </>
  );
}
