/**
 * The runtime of a process that the guard holds: over the gate of the guard, and with the guard's own frames, so that what
 * is run here and what ordinary calls are decided for is one thing. Imports nothing that is refused to guarded code.
 * The subjects that it runs share this process: told apart, not walled off from each other.
 */
import { ContextKeeper } from "@sallyport/context";
import type { CallerContext, CallerFrame, SubjectType } from "@sallyport/contract";
import type { GateHatch } from "@sallyport/gate/targets";
import { SubjectRefusedError } from "../errors.ts";
import { createSdk, subjectOf } from "../sdk/sdk.ts";
import { isThenable, settled } from "../settled-result.ts";
import { targetPorts } from "../target-ports.ts";
import { callerOf, childGround } from "./child-ground.ts";
import type { ChildRuntime, ConnectRuntimeOptions } from "./child-runtime.ts";
import { gatePolicy } from "./gate-policy.ts";

/** The gate of the guard keeps the process alive by itself while an answer is awaited. */
const ALIVE = Object.freeze({ ref: () => undefined, unref: () => undefined });

export async function guardedRuntime(
  hatch: GateHatch,
  options: ConnectRuntimeOptions,
): Promise<ChildRuntime> {
  const told = await hatch.facts();
  if (told === undefined) throw new TypeError("the gate was closed: see that the host still runs");
  const itself = callerOf(told);
  const { check, require, decided, state } = hatch;
  // WHY: who acts is added by the guard, whatever stands in the words.
  const policy = gatePolicy({ check, require, decided, state }, ALIVE, Number.POSITIVE_INFINITY);
  const targets = targetPorts({ ca: options.ca, realPath: hatch.realPath });
  const sdk = createSdk(
    childGround({
      policy,
      isGuarded: true,
      targets,
      keeper: new ContextKeeper(),
      hasSession: told.hasSession,
      caller: () => actingCaller(itself, hatch),
      enter: (subject, fn) => hatch.enter(subject, fn),
    }),
  );
  return Object.freeze<ChildRuntime>({
    sdk,
    data: undefined,
    get isLive() {
      return hatch.isLive();
    },
    run: (subject, how, fn) => {
      const { type, name } = subjectOf(subject);
      refuseFacts(how);
      if (!hatch.hosted.some((one) => one.type === type && one.name === name)) throw notHosted(type, name);
      return hatch.run({ type, name }, () => {
        const result = fn(sdk);
        return isThenable(result) ? (settled(result, () => undefined) as typeof result) : result;
      });
    },
    bind: (fn) => hatch.bind(fn),
    // WHY: the gate is the guard's, which needs it until the process ends.
    close: () => undefined,
  });
}

/** INVARIANT: who a process acts for is said by the host that started it, and by nobody in it. */
function refuseFacts(how: object): void {
  const [first] = Object.keys(how);
  if (first === undefined) return;
  throw new TypeError(
    `\`${first}\` is said where this process is started: \`run\` here takes a subject and no options`,
  );
}

function notHosted(type: string, name: string): SubjectRefusedError {
  return new SubjectRefusedError({
    ok: false,
    reason: "not_registered",
    message: `\`${type}:${name}\` may not be run in this process: name it in \`subjects\` of \`runtime.spawn\``,
    faults: [],
  });
}

/** What the SDK says of itself; none of it is ever sent. */
function actingCaller(itself: CallerContext, hatch: GateHatch): CallerContext {
  const { hosted, entered = [] } = hatch.acting();
  if (hosted?.length === 0) return { ...itself, frames: [] };
  const run = (hosted ?? []).map((subject) => frameOf(subject, "host"));
  const madeUp = entered.map(({ subject }) => frameOf(subject, "guarded"));
  return { ...itself, frames: [...itself.frames, ...run, ...madeUp] };
}

function frameOf(
  { type, name }: { readonly type: string; readonly name: string },
  entry: CallerFrame["entry"],
): CallerFrame {
  const subject = subjectOf({ type: type as SubjectType, name });
  return { subject, phase: "runtime", entry, contracts: [] };
}
