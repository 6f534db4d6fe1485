/**
 * A context made ready for checks: its frames with what the snapshot holds of each. Entered once, asked many times;
 * follows the snapshot's revision by itself.
 */
import {
  type Access,
  type CheckCode,
  type DecisionSource,
  type Subject,
  pairIndex,
  sameSubject,
} from "@sallyport/contract";
import { Memo } from "./memo.ts";
import type { Owner } from "./pattern-table.ts";
import type { Approval, Context, Denial, Frame, HostRule } from "./question.ts";
import type { IndexedContract, Snapshot } from "./snapshot.ts";
import { type Verdict, makeVerdict } from "./verdict.ts";

/** One frame that must pass, with its part of the snapshot. */
export class StandingFrame {
  readonly index: number;
  readonly subject: Subject;
  readonly entry: Frame["entry"];
  readonly contracts: readonly IndexedContract[];
  readonly denyRules: readonly Owner<HostRule>[];
  readonly askRules: readonly Owner<HostRule>[];
  readonly allowRules: readonly Owner<HostRule>[];
  readonly session: Owner<Approval> | undefined;
  readonly permanent: Owner<Approval> | undefined;
  readonly denials: Owner<Denial> | undefined;
  readonly #sandbox = new Map<IndexedContract, Verdict>();
  readonly #bare = new Map<CheckCode, Verdict>();

  constructor(snapshot: Snapshot, context: Context, frame: Frame, index: number) {
    const { subject } = frame;
    this.index = index;
    this.subject = subject;
    this.entry = frame.entry;
    this.contracts = frame.contracts.flatMap((id) => snapshot.contracts.get(id) ?? []);
    this.denyRules = snapshot.denyRules.ownersFor(context, subject);
    this.askRules = snapshot.askRules.ownersFor(context, subject);
    this.allowRules = snapshot.allowRules.ownersFor(context, subject);
    this.session = snapshot.sessions.get(context)?.owners.get(subject);
    this.permanent = snapshot.permanent.subjects.get(subject);
    this.denials = snapshot.denials.subjects.get(subject);
  }

  /** INVARIANT: only the host enters itself; a frame of that name which guarded code made up has no powers. */
  get isCore(): boolean {
    return this.subject.type === "core" && this.entry === "host";
  }

  /** The answer that one of the frame's contracts allows; made once. */
  declared(indexed: IndexedContract): Verdict {
    let verdict = this.#sandbox.get(indexed);
    if (verdict === undefined) {
      verdict = makeVerdict("allowed_sandbox", "manifest", {
        frame: this.index,
        refs: [indexed.contract.id],
      });
      this.#sandbox.set(indexed, verdict);
    }
    return verdict;
  }

  /** An answer that nothing but the code and the frame tells apart; made once. */
  bare(code: CheckCode, source: DecisionSource): Verdict {
    let verdict = this.#bare.get(code);
    if (verdict === undefined) {
      verdict = makeVerdict(code, source, { frame: this.index, registers: code === "approval_required" });
      this.#bare.set(code, verdict);
    }
    return verdict;
  }
}

export class ActiveContext {
  readonly snapshot: Snapshot;
  readonly context: Context;
  readonly memo = new Memo();
  readonly #number: number;
  /** The frames that must pass, the active one first; empty where there is no subject. */
  standing: readonly StandingFrame[] = [];
  #revision = -1;

  constructor(snapshot: Snapshot, context: Context) {
    this.snapshot = snapshot;
    this.context = context;
    this.#number = snapshot.newContextNumber();
    this.refresh();
  }

  /** Catches up with the snapshot; answers given before a change are forgotten. */
  refresh(): void {
    if (this.#revision !== this.snapshot.revision) this.#catchUp();
  }

  /** WHY apart: `refresh` is part of every check, and only what is small is inlined. */
  #catchUp(): void {
    const { snapshot, context } = this;
    this.#revision = snapshot.revision;
    this.memo.clear();
    this.standing = standingIndexes(context.frames).map(
      (index) => new StandingFrame(snapshot, context, context.frames[index] as Frame, index),
    );
  }

  /** Whether the target that was just decided was asked here before, a short while ago. */
  wasAskedBefore(access: Access): boolean {
    const { aimer, seen } = this.snapshot;
    const pair = pairIndex(access.resourceType, access.operation);
    return seen.wasSeen(Math.imul(aimer.targetHash ^ Math.imul(this.#number, 0x9e3779b1), 0x85ebca6b) + pair);
  }

  /** The frame of a subject that a caller names, or `undefined` where it is not active. */
  named(subject: Subject): StandingFrame | undefined {
    const { snapshot, context } = this;
    const { frames } = context;
    for (let index = frames.length - 1; index >= 0; index--) {
      const frame = frames[index] as Frame;
      if (sameSubject(frame.subject, subject)) return new StandingFrame(snapshot, context, frame, index);
    }
    const registration = snapshot.registrations.get(subject);
    if (registration === undefined || this.standing[0]?.isCore !== true) return undefined;
    const frame: Frame = { subject, phase: "runtime", entry: "host", contracts: registration.contracts };
    return new StandingFrame(snapshot, context, frame, frames.length);
  }
}

/** The active frame and, where guarded code made it up, those around it up to the nearest that the host entered. */
function standingIndexes(frames: readonly Frame[]): number[] {
  const indexes: number[] = [];
  for (let index = frames.length - 1; index >= 0; index--) {
    indexes.push(index);
    if (frames[index]?.entry === "host") return indexes;
  }
  // INVARIANT: a chain that the host never entered is no subject at all.
  return [];
}
