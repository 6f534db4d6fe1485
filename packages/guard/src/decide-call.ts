/**
 * Decides the parts of a guarded call: at once for a synchronous call, which registers what is missing and fails; with a
 * callback for an asynchronous one, which waits for a person where the host says that one can be asked.
 * Trusts the gate's answers. INVARIANT: nothing here is a promise, and no argument of a callback is trusted that foreign
 * code could have called.
 */
import type { ExternalAccessCheck, ExternalAccessError } from "@sallyport/contract";
import type { SyncGateClient } from "@sallyport/gate";
import { type AccessPart, wordsOf } from "./access-part.ts";
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
}

const PASSIVE = freeze(bare({ registerRequest: false }));
const PLAIN = freeze(bare({}));

type Gate = Pick<SyncGateClient, "checkSync" | "checkLater">;

export function openDecider(gate: Gate, waitMs: number): Decider {
  const waiting = freeze(bare({ waitMs }));
  const look = (part: AccessPart): boolean => gate.checkSync(wordsOf(part, false), PASSIVE).allowed;

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
      append(checks, gate.checkSync(wordsOf(parts[index] as AccessPart, true), PLAIN));
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
    let isOver = false;
    let isReturned = false;
    const finish = (): void => {
      if (isOver || checks.length < parts.length) return;
      isOver = true;
      done(blockedError(checks, facts));
    };
    let resume = finish;
    for (let index = 0; index < parts.length; index++)
      gate.checkLater(wordsOf(parts[index] as AccessPart, true), waiting, (check) => {
        append(checks, check);
        if (isReturned) resume();
      });
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
    }),
  );
}
