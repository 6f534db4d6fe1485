/**
 * Keeps a running sandbox to the rules as they are now. Landlock cannot be changed under a running program, so where a rule
 * comes after the start the supervisor grants nothing by itself any more, and what is still granted is answered from here.
 * INVARIANT: the service hears that a rule is held only after the supervisor has said so.
 */
import { Duplex } from "node:stream";
import { destructiveFacts } from "@sallyport/contract";
import type { Decide, Recorder } from "./broker.ts";
import { isWithin } from "./profile/covered-path.ts";
import type { Compiled, Grant } from "./profile/confinement.ts";
import { SYSTEM_DEVICES } from "./profile/system-place.ts";
import type { TrappedPart } from "./trapped-call.ts";

export class StandingGrants {
  readonly #compile: () => Compiled;
  #grants: readonly Grant[] = [];
  #narrow: (() => Promise<void>) | undefined;
  #isNarrow = false;
  #settling: Promise<void> = Promise.resolve();

  /** `compile`: the profile of the rules of now. */
  constructor(compile: () => Compiled) {
    this.#compile = compile;
  }

  /** A program was started with these grants, in the same turn as they were compiled. */
  begin(grants: readonly Grant[], narrow: () => Promise<void>): void {
    this.#grants = grants;
    this.#narrow = narrow;
    this.#isNarrow = false;
  }

  /** The rules have changed. What cannot be compiled any more grants nothing. */
  refresh(): void {
    if (this.#narrow === undefined) return;
    const compiled = this.#compile();
    const grants = compiled.ok ? compiled.confinement.grants : [];
    if (JSON.stringify(grants) === JSON.stringify(this.#grants)) return;
    this.#grants = grants;
    if (this.#isNarrow) return;
    this.#isNarrow = true;
    this.#settling = this.#narrow();
  }

  /** Resolves when the supervisor holds to all that was refreshed. */
  settled(): Promise<void> {
    return this.#settling;
  }

  /** Asks `next` for what is not granted; what is and destroys is put on record. */
  decide(next: Decide, record: Recorder): Decide {
    return async (call, signal) => {
      if (!this.#isNarrow) return next(call, signal);
      const parts = call.parts.filter((part) => !this.#covers(part));
      const gains = call.gains.filter((part) => !this.#covers(part));
      const isAsked = parts.length + gains.length > 0;
      const ruling = isAsked ? await next({ ...call, parts, gains }, signal) : "allow";
      const granted = call.parts.filter((part) => destroys(part) && this.#covers(part));
      return ruling === "allow" && granted.length > 0 ? record({ ...call, granted }) : ruling;
    };
  }

  #covers({ operation, target }: TrappedPart): boolean {
    return this.#grants.some(
      ({ operations, reach, path }) =>
        operations.includes(operation) && (reach === "tree" ? isWithin(target, path) : target === path),
    );
  }
}

function destroys({ operation, target, exists }: TrappedPart): boolean {
  const facts = destructiveFacts({ resourceType: "filesystem", operation }, { exists });
  return facts.destructive && !SYSTEM_DEVICES.includes(target);
}

/** The gate's socket, with what the broker says held back until the supervisor holds to what the broker has heard. */
export function settledSocket(socket: Duplex, settled: () => Promise<void>): Duplex {
  const held = new Duplex({
    read: () => void socket.resume(),
    write: (chunk: Buffer, _encoding, done) => {
      const send = async (): Promise<void> => {
        await settled();
        socket.write(chunk, (error) => done(error ?? null));
      };
      void send();
    },
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (chunk: Buffer) => {
    if (!held.push(chunk)) socket.pause();
  });
  socket.once("end", () => held.push(null));
  socket.once("error", (error) => held.destroy(error));
  socket.once("close", () => held.destroy());
  return held;
}
