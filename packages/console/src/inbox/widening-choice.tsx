/** How far an approval reaches: the request itself, or wider, each with what it would cover and what not. */
import type { WideningView } from "@sallyport/contract/admin";
import { Check, X } from "lucide-react";
import { type ReactNode, useId } from "react";
import { Hostile, Message } from "../display/hostile.tsx";
import { Badge } from "../parts/badge.tsx";

export function WideningChoice({
  widenings,
  chosen,
  onChoose,
}: {
  /** From narrow to wide; the first is exact. */
  readonly widenings: readonly WideningView[];
  readonly chosen: WideningView | null;
  readonly onChoose: (widening: WideningView | null) => void;
}): ReactNode {
  const name = useId();
  if (widenings.length < 2) return null;
  return (
    <fieldset>
      <legend className="mb-1 text-xs font-medium text-ink-2">How far</legend>
      <div className="flex flex-col divide-y divide-line rounded-md border border-line">
        {widenings.map((widening, index) => {
          const isExact = index === 0;
          const isChosen = isExact ? chosen === null : chosen === widening;
          return (
            <div key={index} className="px-3 py-2">
              <label className="flex items-start gap-2.5 text-sm">
                <input
                  type="radio"
                  name={name}
                  checked={isChosen}
                  onChange={() => onChoose(isExact ? null : widening)}
                  className="mt-1 accent-accent-fill"
                />
                <span className="min-w-0">
                  <Message quotes="one" text={widening.label} />{" "}
                  {widening.wide ? <Badge tone="warn">wide</Badge> : null}
                  {isExact ? <Badge>as asked</Badge> : null}
                </span>
              </label>
              {isChosen && !isExact ? (
                <div className="mt-2 ml-6">
                  <WideningPreview widening={widening} />
                </div>
              ) : null}
            </div>
          );
        })}
      </div>
    </fieldset>
  );
}

export function WideningPreview({ widening }: { readonly widening: WideningView }): ReactNode {
  return (
    <div className="grid gap-2 text-xs sm:grid-cols-2" data-preview>
      <Examples
        title="Would cover"
        targets={widening.covers}
        icon={<Check size={12} aria-hidden className="mt-1 shrink-0 text-good" />}
      />
      <Examples
        title="Would not cover"
        targets={widening.not}
        icon={<X size={12} aria-hidden className="mt-1 shrink-0 text-danger" />}
      />
    </div>
  );
}

function Examples({
  title,
  targets,
  icon,
}: {
  readonly title: string;
  readonly targets: readonly string[];
  readonly icon: ReactNode;
}): ReactNode {
  return (
    <div>
      <p className="font-medium text-ink-2">{title}</p>
      <ul>
        {targets.map((target) => (
          <li key={target} className="flex items-start gap-1">
            {icon}
            <Hostile mono text={target} />
          </li>
        ))}
      </ul>
    </div>
  );
}
