/**
 * The digest of what an approver was shown: the tuple, the origin, the chain, and the actions that will run, in order.
 * A decision carries it; where any of it changed in between the decision is about something else.
 */
import { hash } from "node:crypto";
import type { Digest, Origin, Resource, Subject, SubjectFrame } from "@sallyport/contract";
import { type Field, framed } from "../framing/field-writer.ts";

export interface Shown {
  readonly subject: Subject;
  readonly resource: Resource;
  readonly origin: Origin;
  readonly subjectChain: readonly SubjectFrame[];
  /** The action of every continuation in the order they came; null where one has none. */
  readonly actions: readonly (string | null)[];
}

const DOMAIN = "sallyport.shown";
const SHOWN_FORMAT = 1;

/** As it travels and is stored. */
export function shownDigest(shown: Shown): Digest {
  const { subject, resource, origin, subjectChain, actions } = shown;
  const fields: Field[] = [
    SHOWN_FORMAT,
    subjectField(subject),
    [resource.type, resource.operation, resource.target],
    // WHY: in an origin a field that is left out and one that is null say the same.
    [origin.userId ?? null, origin.organizationId ?? null, origin.sessionKey ?? null, origin.taskId ?? null],
    subjectChain.map((frame) => [subjectField(frame.subject), frame.phase, frame.entry, frame.contracts]),
    actions,
  ];
  return hash("sha256", framed(DOMAIN, fields), "hex") as Digest;
}

const PREFIX = "sha256-";

/** The same with its algorithm in front: for people, logs and command lines. */
export function digestText(digest: Digest): string {
  return `${PREFIX}${digest}`;
}

/** Either form; `undefined` for anything else. */
export function parseDigest(text: string): Digest | undefined {
  const bare = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
  return /^[0-9a-f]{64}$/.test(bare) ? (bare as Digest) : undefined;
}

function subjectField({ type, name }: Subject): Field {
  return [type, name];
}
