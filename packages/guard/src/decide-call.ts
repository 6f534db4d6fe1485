/**
 * Decides the parts of a guarded call: at once for a synchronous call, which registers what is missing and fails; with a
 * callback for an asynchronous one, which waits for a person where the host says that one can be asked.
 * Trusts the gate's answers. INVARIANT: nothing here is a promise, and no argument of a callback is trusted that foreign
 * code could have called.
 */
import { type ExternalAccessCheck, type ExternalAccessError, pairIndex } from "@sallyport/contract";
import type { Acting, AskWords, KnownQuestion, SyncGateClient } from "@sallyport/gate";
import { type AccessPart, type FileOperation, wordsOf } from "./access-part.ts";
import { type CallFacts, blockedError } from "./blocked-call.ts";
import { append, bare, bindContext, freeze } from "./captured.ts";

export interface Decider {
  /** Throws where a part is blocked. */
  now(parts: readonly AccessPart[], facts: CallFacts): void;
  /** Calls back once, with the error where a part is blocked; at once where memory knows every answer. */
  later(
    parts: readonly AccessPart[],
    facts: CallFacts,
    done: (blocked: ExternalAccessError | undefined) => void,
  ): void;
  /** Whether a part would pass. Spends, registers and records nothing. */
  wouldPass(part: AccessPart): boolean;
  /** What the answer would be. Spends, registers and records nothing. */
  codeOf(part: AccessPart): ExternalAccessCheck["code"];
  /** What memory says of a part of what was decided a moment ago; asks nobody. `undefined`: memory holds no rules. */
  remembered(part: AccessPart): ExternalAccessCheck["code"] | undefined;
  /** Whether memory alone lets it happen: declared and harmless. Records nothing; false decides nothing. */
  isDeclared(operation: FileOperation, path: string): boolean;
  /** A request as {@link Decider.passes} takes it. `undefined`: it is asked for part by part. */
  known(part: AccessPart): KnownQuestion | undefined;
  /** Whether memory alone lets a request pass: declared and harmless. It is then recorded. False decides nothing. */
  passes(question: KnownQuestion): boolean;
  /** What was declared is done now. */
  noteDeclared(operation: FileOperation, path: string, requested: string): void;
}

const PASSIVE = freeze(bare({ registerRequest: false }));
const PLAIN = freeze(bare({}));

type Gate = Pick<
  SyncGateClient,
  "checkSync" | "checkLater" | "isHit" | "noteHit" | "known" | "takeHit" | "remembered" | "reportViolation"
>;

/** The kernel enforces the part as well, so that a counted approval is spent there and not twice. */
type IsHeld = (part: AccessPart) => boolean;

const READ = pairIndex("filesystem", "read");

function pairOf(operation: FileOperation): number {
  return operation === "read" ? READ : pairIndex("filesystem", operation);
}

/**
 * @param actor who acts now
 * @param site where in the program a question comes from; absent where nobody wants to know
 */
export function openDecider(
  gate: Gate,
  waitMs: number,
  actor: () => Acting,
  site?: () => string | undefined,
  isHeld: IsHeld = () => false,
): Decider {
  const enforcedWords = (part: AccessPart, { syscall }: CallFacts): AskWords => {
    const words = wordsOf(part, !isHeld(part), actor());
    if (site === undefined) return words;
    const where = site();
    return bare({ ...words, evidence: where === undefined ? syscall : `${syscall} at ${where}` });
  };
  const waiting = freeze(bare({ waitMs }));
  const look = (part: AccessPart): boolean => gate.checkSync(wordsOf(part, false, actor()), PASSIVE).allowed;

  /** WHY: looked at first, so that a counted approval of one part is not spent where another one blocks the call. */
  const inTwo = (parts: readonly AccessPart[]): readonly [AccessPart[], AccessPart[]] => {
    const open: AccessPart[] = [];
    const closed: AccessPart[] = [];
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] as AccessPart;
      append(parts.length > 1 && look(part) ? open : closed, part);
    }
    return [open, closed];
  };

  const enforce = (parts: readonly AccessPart[], facts: CallFacts): void => {
    const checks: ExternalAccessCheck[] = [];
    for (let index = 0; index < parts.length; index++)
      append(checks, gate.checkSync(enforcedWords(parts[index] as AccessPart, facts), PLAIN));
    const blocked = blockedError(checks, facts);
    if (blocked !== undefined) throw blocked;
  };

  /** All of them at once, so that a person sees everything that is missing. */
  const enforceLater = (
    parts: readonly AccessPart[],
    facts: CallFacts,
    done: (blocked: ExternalAccessError | undefined) => void,
  ): void => {
    const checks: ExternalAccessCheck[] = [];
    const who = actor();
    let isOver = false;
    let isReturned = false;
    const finish = (): void => {
      if (isOver || checks.length < parts.length) return;
      isOver = true;
      done(blockedError(checks, facts));
    };
    let resume = finish;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] as AccessPart;
      gate.checkLater(enforcedWords(part, facts), waiting, (check) => {
        if (!check.allowed && isHeld(part)) gate.reportViolation(wordsOf(part, true, who));
        append(checks, check);
        if (isReturned) resume();
      });
    }
    isReturned = true;
    if (checks.length < parts.length) resume = bindContext(finish);
    else finish();
  };

  return freeze<Decider>(
    bare({
      now: (parts, facts) => {
        const both = inTwo(parts);
        enforce(both[1], facts);
        enforce(both[0], facts);
      },
      later: (parts, facts, done) => {
        const both = inTwo(parts);
        enforceLater(both[1], facts, (blocked) => {
          if (blocked !== undefined || both[0].length === 0) done(blocked);
          else enforceLater(both[0], facts, done);
        });
      },
      wouldPass: look,
      codeOf: (part) => gate.checkSync(wordsOf(part, false, actor()), PASSIVE).code,
      remembered: (part) => gate.remembered(wordsOf(part, false, actor()))?.code,
      isDeclared: (operation, path) => {
        const { hosted, entered } = actor();
        return entered === undefined && gate.isHit(pairOf(operation), path, hosted);
      },
      known: (part) => {
        const who = actor();
        return who.entered === undefined ? gate.known(wordsOf(part, !isHeld(part), who)) : undefined;
      },
      passes: (question) => {
        const { hosted, entered } = actor();
        return entered === undefined && hosted === question.hosted && gate.takeHit(question);
      },
      noteDeclared: (operation, path, requested) =>
        gate.noteHit(actor().hosted, "filesystem", operation, path, requested),
    }),
  );
}
