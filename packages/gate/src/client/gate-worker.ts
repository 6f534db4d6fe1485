/**
 * The thread that owns the gate of a guarded process. It has built-ins of its own, which foreign code of the main
 * thread cannot replace, and goes on while the main thread is blocked.
 * INVARIANT: facts are posted, then counted, then confirmed: after a confirmation the main thread takes them before it
 * decides anything.
 */
import { Socket } from "node:net";
import { workerData } from "node:worker_threads";
import { systemTimers } from "../protocol/gate-channel.ts";
import { mirrorFacts } from "./gate-client.ts";
import { GateLink } from "./gate-link.ts";
import { monotonicMs } from "./monotonic.ts";
import { SharedState } from "./shared-state.ts";
import { type FromWorker, READY_TICKET, type ToWorker, type WorkerStart } from "./worker-message.ts";

const { fd, memory, port, wake } = workerData as WorkerStart;
const shared = new SharedState(memory);
const encoder = new TextEncoder();
const links = new Map<number, number>();
let isReady = false;

const post = (message: FromWorker): void => {
  port.postMessage(message);
  wake.postMessage(null);
};

const link = new GateLink({
  socket: new Socket({ fd, readable: true, writable: true }),
  timers: systemTimers,
  monotonicMs,
  sink: {
    agreed: (terms) => post({ kind: "agreed", terms }),
    facts: (message) => {
      post({ kind: "facts", facts: mirrorFacts(message) });
      shared.facts += 1;
      return true;
    },
    leased: (untilMs) => {
      shared.leaseEndMs = untilMs;
      if (isReady || untilMs === 0) return;
      isReady = true;
      shared.answer(READY_TICKET, encoder.encode("ready"));
    },
    closed: () => shared.answer(READY_TICKET, encoder.encode("")),
  },
});

port.on("message", (message: ToWorker) => {
  switch (message.kind) {
    case "ask":
      void answer(message.ticket, link.ask(message.ask), message.isSync);
      return;
    case "inquire":
      void answer(message.ticket, link.inquire(message.inquiry), false);
      return;
    case "cancel": {
      const id = links.get(message.ticket);
      if (id !== undefined) link.cancel(id);
      return;
    }
    case "report":
      link.report(message.event);
      return;
    case "close":
      link.close();
  }
});

async function answer(ticket: number, asked: ReturnType<GateLink["ask"]>, isSync: boolean): Promise<void> {
  links.set(ticket, asked.id);
  const text = await asked.answer;
  links.delete(ticket);
  if (isSync) shared.answer(ticket, encoder.encode(text));
  else post({ kind: "answer", ticket, text });
}
