/** Who and what, as separate fields: subject, chain, operation, origin. */
import type { Operation, ResourceType, Subject, SubjectFrame } from "@sallyport/contract";
import { FileText, Globe, type LucideIcon, Terminal } from "lucide-react";
import type { ReactNode } from "react";
import { Badge } from "../parts/badge.tsx";
import { Hostile } from "./hostile.tsx";
import { pairLabel } from "./words.ts";

const ICONS: Readonly<Record<ResourceType, LucideIcon>> = {
  network: Globe,
  filesystem: FileText,
  system_dependency: Terminal,
};

export function SubjectName({
  subject,
}: {
  readonly subject: Pick<Subject, "type"> & { readonly name: string };
}): ReactNode {
  return (
    <span className="min-w-0">
      <span className="text-ink-2">{subject.type}</span>{" "}
      <span className="font-semibold text-ink">
        <Hostile text={subject.name} />
      </span>
    </span>
  );
}

/** "Filesystem delete", with the mark of what can destroy. */
export function PairBadge({
  type,
  operation,
  destructive = false,
}: {
  readonly type: ResourceType;
  readonly operation: Operation;
  readonly destructive?: boolean;
}): ReactNode {
  const Icon = ICONS[type];
  return (
    <Badge tone={destructive ? "danger" : "neutral"}>
      <Icon size={12} aria-hidden />
      {pairLabel(type, operation)}
    </Badge>
  );
}

/** From the outermost in; the last one is who asks. */
export function Chain({ frames }: { readonly frames: readonly SubjectFrame[] }): ReactNode {
  return (
    <ol
      className="flex flex-wrap items-center gap-x-1.5 gap-y-1 text-sm"
      aria-label="Subject chain, outermost first"
    >
      {frames.map((frame, index) => (
        <li key={index} className="flex items-center gap-1.5">
          {index === 0 ? null : (
            <span aria-hidden className="text-ink-3">
              ›
            </span>
          )}
          <span className="rounded border border-line bg-canvas px-1.5 py-0.5">
            <SubjectName subject={frame.subject} />
          </span>
          {frame.phase === "install" ? <Badge>install</Badge> : null}
          {frame.entry === "guarded" ? (
            <Badge
              tone="warn"
              title="Guarded code entered this frame itself; it is bounded by those around it"
            >
              made up
            </Badge>
          ) : null}
        </li>
      ))}
    </ol>
  );
}

/** An id as it was given: a number and a text that looks like it are not the same. */
export function Id({ value }: { readonly value: number | string | null | undefined }): ReactNode {
  if (value === null || value === undefined) return <span className="text-ink-3">none</span>;
  return (
    <Hostile
      mono
      text={typeof value === "number" ? String(value) : /^-?\d+$/.test(value) ? `"${value}"` : value}
    />
  );
}
