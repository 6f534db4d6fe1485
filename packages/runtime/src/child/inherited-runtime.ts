/**
 * The runtime of a child that has no guard: it opens the gate that it inherited by itself, and asks in its own thread.
 */
import { randomInt } from "node:crypto";
import { Socket } from "node:net";
import { isMainThread, workerData } from "node:worker_threads";
import { ContextKeeper, followListeners } from "@sallyport/context";
import type { CallerContext } from "@sallyport/contract";
import { connectGate, openPrivateRealm } from "@sallyport/gate";
import { PortDuplex } from "../children/port-duplex.ts";
import { GATE_FD_VARIABLE } from "../children/spawn-child.ts";
import type { GatedWorkerData } from "../children/start-worker.ts";
import { createSdk } from "../sdk/sdk.ts";
import { targetPorts } from "../target-ports.ts";
import { callerOf, childGround } from "./child-ground.ts";
import type { ChildRuntime, ConnectRuntimeOptions } from "./child-runtime.ts";
import { gatePolicy } from "./gate-policy.ts";

const SEED_END = 2 ** 32;

export async function inheritedRuntime(options: ConnectRuntimeOptions): Promise<ChildRuntime> {
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
  const caller = (): CallerContext => keeper.callerOf(keeper.current()) ?? itself;
  const policy = gatePolicy(client, socket, itself.frames.length);
  const targets = targetPorts({ ca: options.ca });
  const { hasSession } = told;
  const sdk = createSdk(
    childGround({
      policy,
      isGuarded: false,
      targets,
      caller,
      keeper,
      hasSession,
      enter: (subject, fn) => {
        const frame = { subject, phase: "runtime", entry: "guarded", contracts: [] } as const;
        return keeper.enter(keeper.root({ ...caller(), frames: [...caller().frames, frame] }), fn);
      },
    }),
  );
  return Object.freeze<ChildRuntime>({
    sdk,
    data,
    get isLive() {
      return client.isLive;
    },
    run: () => {
      throw new TypeError(
        "nothing here holds subjects apart: start this program under the guard to run them",
      );
    },
    bind: (fn) => keeper.bind(fn),
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
