/**
 * The caller of a remote call. Everything comes from the credential and from this server's own registry; what the
 * remote host says chooses among the subjects of the credential, adds frames that bound themselves, or narrows.
 * INVARIANT: the caller never has roles, an access level, a mode or a sandbox, and its credential is always `runtime`.
 */
import {
  BLANK_CALLER,
  type CallerContext,
  type CallerFrame,
  type Phase,
  type Subject,
  sameSubject,
} from "@sallyport/contract";
import type { RemoteFrame, RuntimeGrant } from "@sallyport/contract/remote";

/** The registry of the server's own runtime: the frame of a registered subject, host-entered; `null` for any other. */
export type FrameOf = (subject: Subject, phase: Phase) => CallerFrame | null;

export interface Standing {
  readonly chain: readonly RemoteFrame[];
  readonly taskId: string | null;
  readonly interactive: boolean;
}

export interface RemoteCaller {
  readonly caller: CallerContext;
  /** A subject that the credential may not act as, where one was claimed: the call is answered as naming it. */
  readonly claimed: Subject | null;
}

export function remoteCaller(grant: RuntimeGrant, standing: Standing, frameOf: FrameOf): RemoteCaller {
  const claimed = standing.chain.find((frame, index) => isClaimed(grant, frame, index));
  const frames =
    claimed === undefined ? framesOf(standing.chain, frameOf) : ownFrames(grant, claimed, frameOf);
  return { caller: callerOf(grant, standing, frames), claimed: claimed?.subject ?? null };
}

/** The caller by its credential alone, for calls in which no chain is told. */
export function credentialCaller(grant: RuntimeGrant, frameOf: FrameOf): CallerContext {
  const [first] = grant.subjects;
  const own = first === undefined ? null : frameOf(first.subject, first.phase);
  const standing: Standing = { chain: [], taskId: null, interactive: false };
  return callerOf(grant, standing, own === null ? [] : [own]);
}

function callerOf(grant: RuntimeGrant, standing: Standing, frames: readonly CallerFrame[]): CallerContext {
  const { userId, organizationId, sessionKey, taskId, interactive } = grant;
  return Object.freeze<CallerContext>({
    ...BLANK_CALLER,
    frames: Object.freeze(frames),
    user: userId === null ? null : Object.freeze({ id: userId, roles: Object.freeze([]), accessLevel: null }),
    organizationId,
    sessionKey,
    taskId: taskId ?? standing.taskId,
    interactive: interactive && standing.interactive,
  });
}

/** INVARIANT: the outermost frame is one of the credential's, and so is every frame that is said to be host-entered. */
function isClaimed(grant: RuntimeGrant, { subject, phase, entry }: RemoteFrame, index: number): boolean {
  if (entry === "guarded" && index > 0) return subject.type === "core";
  return (
    entry === "guarded" ||
    !grant.subjects.some((own) => own.phase === phase && sameSubject(own.subject, subject))
  );
}

/** A subject that is registered no more takes the whole chain with it: nobody acts. */
function framesOf(chain: readonly RemoteFrame[], frameOf: FrameOf): readonly CallerFrame[] {
  const [only, second] = chain;
  if (only !== undefined && second === undefined && only.entry !== "guarded") {
    const registered = frameOf(only.subject, only.phase);
    return registered === null ? [] : loneFrame(registered);
  }
  const frames: CallerFrame[] = [];
  for (const { subject, phase, entry } of chain) {
    const registered = frameOf(subject, phase);
    if (entry === "guarded")
      frames.push(Object.freeze({ subject, phase, entry, contracts: registered?.contracts ?? [] }));
    else if (registered === null) return [];
    else frames.push(registered);
  }
  return frames;
}

const LONE = new Map<string, Map<string, Map<string, readonly CallerFrame[]>>>();
const LONE_MAX = 10_000;
let loneCount = 0;

/**
 * A chain of one frame, the same value for the same frame. WHY: most chains are, and what is recorded of a chain is made
 * once for a value that cannot change.
 */
function loneFrame(frame: CallerFrame): readonly CallerFrame[] {
  const { subject, phase, entry, contracts } = frame;
  const names = LONE.get(subject.type) ?? new Map<string, Map<string, readonly CallerFrame[]>>();
  const phases = names.get(subject.name) ?? new Map<string, readonly CallerFrame[]>();
  const known = phases.get(phase);
  if (known?.[0]?.entry === entry && isSameList(known[0].contracts, contracts)) return known;
  if (known === undefined && ++loneCount > LONE_MAX) {
    LONE.clear();
    loneCount = 1;
  }
  const own = {
    subject: Object.freeze({ ...subject }),
    phase,
    entry,
    contracts: Object.freeze([...contracts]),
  };
  const frames = Object.freeze([Object.freeze(own)]);
  LONE.set(subject.type, names.set(subject.name, phases.set(phase, frames)));
  return frames;
}

const isSameList = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((id, index) => id === right[index]);

/** What a false claim is answered on: a frame of the credential that the claimed subject is not on. */
function ownFrames(grant: RuntimeGrant, claimed: RemoteFrame, frameOf: FrameOf): readonly CallerFrame[] {
  const own = grant.subjects.find(({ subject }) => !sameSubject(subject, claimed.subject));
  const frame = own === undefined ? null : frameOf(own.subject, own.phase);
  return frame === null ? [] : [frame];
}
