/**
 * A draft as people and programs see it: a difference to the manifest that is there, with what each rule stands on.
 */
import type { Draft, DraftRule } from "@sallyport/runtime";
import type { Terminal } from "../terminal.ts";

interface EntryView {
  readonly resource_type: string;
  readonly operation: string;
  readonly target: string;
}

const entryOf = ({ resourceType, operation, target }: DraftRule): EntryView => ({
  resource_type: resourceType,
  operation,
  target,
});

/** The manifest with the draft in it. Everything else stays as it was. */
export function mergedManifest(manifest: string, { rules, imports }: Draft): object {
  const held = JSON.parse(manifest) as { readonly access?: unknown; readonly allowed_imports?: unknown };
  const access = Array.isArray(held.access) ? (held.access as unknown[]) : [];
  const listed = Array.isArray(held.allowed_imports) ? (held.allowed_imports as unknown[]) : [];
  const allowed = [...listed, ...imports.map(({ name }) => name)];
  return {
    ...held,
    access: [...access, ...rules.map(entryOf)],
    ...(allowed.length === 0 ? {} : { allowed_imports: allowed }),
  };
}

export function draftView({ rules, imports, leftOut, covered }: Draft, merged: object, exit: number): object {
  return {
    program_exit: exit,
    added: rules.map((rule) => ({
      ...entryOf(rule),
      count: rule.count,
      evidence: rule.evidence,
      wider: rule.wider,
    })),
    added_imports: imports,
    left_out: leftOut.map(({ seen, reason }) => ({
      resource_type: seen.resourceType,
      operation: seen.operation,
      target: seen.target,
      count: seen.count,
      evidence: seen.evidence,
      reason,
    })),
    already_declared: covered,
    manifest: merged,
  };
}

/** INVARIANT: what was seen is foreign text, and goes through `shown`. */
export function draftLines(draft: Draft, terminal: Terminal): readonly string[] {
  const { rules, imports, leftOut, covered } = draft;
  const lines: string[] = [];
  for (const rule of rules) {
    lines.push(terminal.shown(`+ ${JSON.stringify(entryOf(rule))}`, "green"));
    lines.push(
      terminal.shown(`    ${times(rule.count)}${rule.evidence.map((one) => `; ${one}`).join("")}`, "dim"),
    );
    if (rule.wider !== null)
      lines.push(terminal.shown(`    wider than what was seen: ${rule.wider}`, "yellow"));
  }
  for (const { name, count, evidence } of imports) {
    lines.push(terminal.shown(`+ allowed_imports: ${JSON.stringify(name)}`, "green"));
    lines.push(terminal.shown(`    ${times(count)}${evidence === null ? "" : `; ${evidence}`}`, "dim"));
  }
  for (const { seen, reason } of leftOut)
    lines.push(
      terminal.shown(`! ${seen.resourceType} ${seen.operation} ${seen.target}: ${reason}`, "yellow"),
    );
  const added = rules.length + imports.length;
  lines.push(`${added} to add, ${covered} declared already, ${leftOut.length} left out`);
  return lines;
}

function times(count: number): string {
  return count === 1 ? "seen once" : `seen ${count} times`;
}
