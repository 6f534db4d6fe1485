/**
 * The child's side of the runtime: the same SDK over the gate that the child inherited. Runs as whom the host bound the
 * socket to; nothing said here changes that. Not a wall: what does not ask is stopped by the OS sandbox.
 */
import { randomInt } from "node:crypto";
import { Socket } from "node:net";
import { isMainThread, workerData } from "node:worker_threads";
import { type ContextFacts, ContextKeeper, contextFacts, followListeners } from "@sallyport/context";
import { type CallerContext, PermissionError } from "@sallyport/contract";
import type { CallerFacts } from "@sallyport/contract/remote";
import { connectGate, openPrivateRealm } from "@sallyport/gate";
import { PortDuplex } from "../children/port-duplex.ts";
import { GATE_FD_VARIABLE } from "../children/spawn-child.ts";
import type { GatedWorkerData } from "../children/start-worker.ts";
import { targetPorts } from "../target-ports.ts";
import { NO_FACTS } from "../run-options.ts";
import type { SdkGround } from "../sdk/sdk-ground.ts";
import { type Sdk, createSdk } from "../sdk/sdk.ts";
import { gatePolicy } from "./gate-policy.ts";

export interface ConnectRuntimeOptions {
  /** The script of the private realm, for programs that carry it with them. */
  readonly realmScript?: string | undefined;
  /** Certificates of authorities that are trusted beside those of Node, as PEM; for `sdk.http`. */
  readonly ca?: readonly string[] | undefined;
}

export interface ChildRuntime {
  readonly sdk: Sdk;
  /** What the host handed to this worker; `undefined` in a process. */
  readonly data: unknown;
  /** Approvals can be relied on now. */
  readonly isLive: boolean;
  close(): void;
}

const SEED_END = 2 ** 32;

/** Rejects where this program was not started by a runtime. */
export async function connectRuntime(options: ConnectRuntimeOptions = {}): Promise<ChildRuntime> {
  const { socket, data } = inherited();
  const { realmScript } = options;
  const realm = openPrivateRealm({
    seed: [randomInt(SEED_END), randomInt(SEED_END)],
    ...(realmScript === undefined ? {} : { script: realmScript }),
  });
  const client = await connectGate(socket, { realm });
  const told = await client.facts();
  if (told === undefined) throw new TypeError("the gate was closed: see that the host still runs");
  socket.unref();
  const itself = callerOf(told);
  const keeper = new ContextKeeper({ process: itself });
  const following = followListeners(keeper);
  const policy = gatePolicy(client, socket, itself.frames.length);
  const targets = targetPorts({ ca: options.ca });
  const { hasSession } = told;
  const sdk = createSdk(childGround({ keeper, policy, targets, itself, hasSession }));
  return Object.freeze({
    sdk,
    data,
    get isLive() {
      return client.isLive;
    },
    close: () => {
      following.stop();
      client.close();
    },
  });
}

function inherited(): { readonly socket: Socket | PortDuplex; readonly data: unknown } {
  if (!isMainThread) {
    const { sallyportGate, data } = (workerData ?? {}) as Partial<GatedWorkerData>;
    if (sallyportGate !== undefined) return { socket: new PortDuplex(sallyportGate), data };
  }
  const text = process.env[GATE_FD_VARIABLE] ?? "";
  // WHY: a program that this one starts has another gate, or none.
  delete process.env[GATE_FD_VARIABLE];
  const fd = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(fd >= 3))
    throw new TypeError("there is no gate: start this program with `runtime.spawn` or `worker`");
  return { socket: new Socket({ fd, readable: true, writable: true }), data: undefined };
}

/**
 * The child as it may know itself; for its own facts alone.
 * INVARIANT: who a child is, is not its own to say: of this nothing is ever sent.
 */
function callerOf({ chain, taskId, interactive, mode, sandboxProfile }: CallerFacts): CallerContext {
  const frames = chain.map(({ subject, phase, entry }) => ({ subject, phase, entry, contracts: [] }));
  return Object.freeze({ ...NO_FACTS, taskId, interactive, mode, sandboxProfile, frames });
}

interface ChildParts extends Pick<SdkGround, "policy" | "targets"> {
  readonly keeper: ContextKeeper;
  readonly itself: CallerContext;
  readonly hasSession: boolean;
}

function childGround({ keeper, policy, targets, itself, hasSession }: ChildParts): SdkGround {
  const caller = (): CallerContext => keeper.callerOf(keeper.current()) ?? itself;
  return Object.freeze<SdkGround>({
    policy,
    targets,
    caller,
    facts: () => {
      const facts = contextFacts(keeper.current());
      return facts === undefined ? undefined : Object.freeze<ContextFacts>({ ...facts, hasSession });
    },
    profile: () => itself.sandboxProfile,
    decide: async (verb) => {
      throw new PermissionError(verb === "deny" ? "deny external access" : "approve external access");
    },
    enterMadeUp: (subject, fn) => {
      if (subject.type === "core")
        throw new TypeError("`core:core` is the host: guarded code cannot enter it");
      const frame = { subject, phase: "runtime", entry: "guarded", contracts: [] } as const;
      return keeper.enter(keeper.root({ ...caller(), frames: [...caller().frames, frame] }), fn);
    },
    registerAction: () => {
      throw new TypeError("an action is registered where the service is: do it in the host's process");
    },
  });
}
