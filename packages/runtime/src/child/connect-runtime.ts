/**
 * The child's side of the runtime: the same SDK over the gate that the child inherited. Runs as whom the host bound the
 * socket to; nothing said here changes that. Not a wall: what does not ask is stopped by the OS sandbox.
 */
import { randomInt } from "node:crypto";
import { Socket } from "node:net";
import { isMainThread, workerData } from "node:worker_threads";
import { ContextKeeper, contextFacts, followListeners } from "@sallyport/context";
import { type CallerContext, PermissionError } from "@sallyport/contract";
import { GateClient, openPrivateRealm } from "@sallyport/gate";
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
/** Who a child is, is not its own to say: its frames are those that it made up itself. */
const ITSELF: CallerContext = Object.freeze({ ...NO_FACTS, frames: [] });

/** Rejects where this program was not started by a runtime. */
export async function connectRuntime(options: ConnectRuntimeOptions = {}): Promise<ChildRuntime> {
  const { socket, data } = inherited();
  const { realmScript } = options;
  const realm = openPrivateRealm({
    seed: [randomInt(SEED_END), randomInt(SEED_END)],
    ...(realmScript === undefined ? {} : { script: realmScript }),
  });
  const keeper = new ContextKeeper();
  const following = followListeners(keeper);
  const client = await GateClient.connect(socket, { realm });
  socket.unref();
  const sdk = createSdk(childGround(keeper, gatePolicy(client, socket)));
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

function childGround(keeper: ContextKeeper, policy: SdkGround["policy"]): SdkGround {
  const caller = (): CallerContext => keeper.callerOf(keeper.current()) ?? ITSELF;
  return Object.freeze<SdkGround>({
    policy,
    targets: targetPorts({}),
    caller,
    facts: () => contextFacts(keeper.current()),
    profile: () => null,
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
