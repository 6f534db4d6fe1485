/**
 * The one way by which text from outside comes onto a page: names, targets, reasons, errors, session keys.
 * Must never be gone around: a page that prints such a field itself can be made to lie.
 */
import { type ReactNode, useState } from "react";
import { hostParts, isPunycode, networkParts } from "./network-parts.ts";
import { type Quotes, quotedParts } from "./quoted-text.ts";
import { useIsNarrow } from "./narrow.ts";
import { useRegistrable } from "./registrable-domain.ts";
import { type FoldSize, type TextPart, folded, isMixedAlphabet, visibleParts } from "./visible-text.ts";

/** Whether a long text is folded in its middle: with a way to open it, in one line, or not at all. */
type Fold = Exclude<FoldSize, "narrow"> | "off";

/** Any text from outside. */
export function Hostile({
  text,
  mono = false,
  fold = "card",
}: {
  readonly text: string;
  readonly mono?: boolean;
  readonly fold?: Fold;
}): ReactNode {
  return (
    <bdi className={`hostile ${mono ? "font-mono" : ""}`} data-hostile>
      <Folding text={text} fold={fold} />
    </bdi>
  );
}

/** A message of the server: its words, with what it quotes set off. */
export function Message({
  text,
  quotes = "pairs",
}: {
  readonly text: string;
  readonly quotes?: Quotes;
}): ReactNode {
  return quotedParts(text, quotes).map((part, index) =>
    part.kind === "said" ? (
      <Said key={index} text={part.text} />
    ) : (
      <code key={index} className="rounded bg-sunken px-1 text-[0.92em] text-ink" data-quoted>
        <Hostile mono text={part.text} />
      </code>
    ),
  );
}

/** WHY apart: a blank between words and a quotation is none that somebody hid at the end of a text. */
function Said({ text }: { readonly text: string }): ReactNode {
  const [before, after] = [text.startsWith(" "), text.length > 1 && text.endsWith(" ")];
  return (
    <>
      {before ? " " : null}
      <Hostile text={text.slice(before ? 1 : 0, after ? -1 : undefined)} />
      {after ? " " : null}
    </>
  );
}

/** What is touched. A path shows where it ends, a host who can be behind it. */
export function Target({
  type,
  target,
  fold = "card",
}: {
  readonly type: string;
  readonly target: string;
  readonly fold?: Fold;
}): ReactNode {
  const network = type === "network" ? networkParts(target) : null;
  // WHY not in a line: there is no room, and the list marks it beside the operation.
  const cautions = fold === "line" ? [] : targetCautions(type, target);
  return (
    <>
      <bdi className="hostile font-mono" data-hostile data-target>
        {network === null ? (
          <PathLike text={target} fold={fold} />
        ) : (
          <>
            <span className="text-ink-3">{network.scheme}</span>
            <Host host={network.host} />
            <span className="text-ink-2">
              <Folding text={network.rest} fold={fold} />
            </span>
          </>
        )}
      </bdi>
      {cautions.map((words) => (
        <span
          key={words}
          className="ml-2 inline-block rounded bg-warn-soft px-1.5 font-sans text-xs text-warn"
          data-caution
        >
          {words}
        </span>
      ))}
    </>
  );
}

/** What is odd about a target, in words. */
export function targetCautions(type: string, target: string): readonly string[] {
  const host = type === "network" ? networkParts(target)?.host : undefined;
  return [
    ...(host !== undefined && isPunycode(host)
      ? ["host name is not plain letters: shown as it is looked up"]
      : []),
    ...(isMixedAlphabet(target) ? ["mixes alphabets: some letters only look Latin"] : []),
  ];
}

function Host({ host }: { readonly host: string }): ReactNode {
  const { under, registrable } = hostParts(host, useRegistrable());
  return (
    <>
      <span className="text-ink-2">
        <Parts text={under} />
      </span>
      <strong className="font-semibold text-ink" data-registrable>
        <Parts text={registrable} />
      </strong>
    </>
  );
}

function PathLike({ text, fold }: { readonly text: string; readonly fold: Fold }): ReactNode {
  const cut = text.lastIndexOf("/", text.length - 2) + 1;
  return (
    <>
      <span className="text-ink-2">
        <Folding text={text.slice(0, cut)} fold={fold} />
      </span>
      <strong className="font-semibold text-ink">
        <Folding text={text.slice(cut)} fold={fold} />
      </strong>
    </>
  );
}

function Folding({ text, fold }: { readonly text: string; readonly fold: Fold }): ReactNode {
  const [open, setOpen] = useState(false);
  const isNarrow = useIsNarrow();
  const size = fold === "line" && isNarrow ? "narrow" : fold;
  const shown = size === "off" || open ? null : folded(text, size);
  if (shown === null) return <Parts text={text} />;
  return (
    <>
      <Parts text={shown.head} />
      {fold === "line" ? (
        <span className="rounded bg-sunken px-1 font-sans text-xs text-ink-2">{`${shown.left} more`}</span>
      ) : (
        <button
          type="button"
          className="mx-1 rounded bg-sunken px-1.5 font-sans text-xs text-accent underline"
          onClick={() => setOpen(true)}
        >
          {`show ${shown.left} more characters`}
        </button>
      )}
      <Parts text={shown.tail} />
    </>
  );
}

function Parts({ text }: { readonly text: string }): ReactNode {
  return visibleParts(text).map((part, index) => <Part key={index} part={part} />);
}

function Part({ part }: { readonly part: TextPart }): ReactNode {
  switch (part.kind) {
    case "plain":
      return part.text;
    case "foreign":
      return <span className="hostile-foreign">{part.text}</span>;
    case "hidden":
      return (
        <span className="hostile-mark" title={`${part.name} (${part.code})`}>
          {part.code}
        </span>
      );
  }
}

/** The same for places that take text only, such as the name of a control. */
export function hostileText(text: string): string {
  const fold = folded(text, "card");
  const shown = fold === null ? text : `${fold.head}…${fold.tail}`;
  return visibleParts(shown)
    .map((part) => (part.kind === "hidden" ? `[${part.code}]` : part.text))
    .join("");
}
