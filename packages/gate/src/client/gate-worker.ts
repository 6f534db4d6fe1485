/**
 * The thread that owns the gate of a guarded process. It has built-ins of its own, which foreign code of the main
 * thread cannot replace, and goes on while the main thread is blocked.
 * INVARIANT: facts are posted, then counted, then confirmed: after a confirmation the main thread takes them before it
 * decides anything.
 */
import { Socket } from "node:net";
import { MessageChannel, workerData } from "node:worker_threads";
import { type BranchPair, openBranchPair } from "../branch/branch-pair.ts";
import { portStream } from "../branch/port-stream.ts";
import { systemTimers } from "../protocol/gate-channel.ts";
import type { HostedNames } from "../protocol/message.ts";
import { GateLink } from "./gate-link.ts";
import type { LinkStart } from "./gate-terms.ts";
import { mirrorFacts } from "./mirror-facts.ts";
import { monotonicMs } from "./monotonic.ts";
import { SharedState } from "./shared-state.ts";
import { type FromWorker, READY_TICKET, type ToWorker, type WorkerStart } from "./worker-message.ts";

const { gate, memory, port, wake } = workerData as WorkerStart;
const shared = new SharedState(memory);
const encoder = new TextEncoder();
const links = new Map<number, number>();
const pairs = new Map<number, BranchPair>();
let isReady = false;

const post = (message: FromWorker): void => {
  port.postMessage(message);
  wake.postMessage(null);
};

const openLink = (start?: LinkStart): GateLink =>
  new GateLink({
    socket:
      typeof gate === "number" ? new Socket({ fd: gate, readable: true, writable: true }) : portStream(gate),
    timers: systemTimers,
    monotonicMs,
    start,
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

function serve(link: GateLink): void {
  port.on("message", (message: ToWorker) => hear(link, message));
}

if (typeof gate === "number")
  port.once("message", (message: ToWorker) => {
    // WHY else: the other thread gave up before it had the facts, and this one never touched the gate.
    if (message.kind === "taken_over") serve(openLink(message.start));
  });
else serve(openLink());

function hear(link: GateLink, message: ToWorker): void {
  switch (message.kind) {
    case "taken_over":
      // WHY: it is the first message or none.
      return;
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
      for (const event of message.events) link.report(event);
      return;
    case "drain":
      link.flush();
      shared.answer(message.ticket, encoder.encode("drained"));
      return;
    case "imported":
      link.imported(message.name, message.evidence);
      return;
    case "branch":
      void openBranch(link, message.ticket, message.hosted);
      return;
    case "branch_port":
      openBranchPort(link, message.ticket, message.hosted);
      return;
    case "branched":
      pairs.get(message.ticket)?.release();
      pairs.delete(message.ticket);
      return;
    case "close":
      link.close();
  }
}

/** INVARIANT: posted before it is said, so that whoever waits finds it. */
function openBranchPort(link: GateLink, ticket: number, hosted: HostedNames): void {
  const branch = link.branch(hosted);
  if (branch !== undefined) {
    const { port1, port2 } = new MessageChannel();
    const near = portStream(port1);
    branch.pipe(near).pipe(branch);
    branch.once("close", () => near.destroy());
    near.once("close", () => branch.destroy());
    port.postMessage({ kind: "branch_port", port: port2 } satisfies FromWorker, [port2]);
  }
  shared.answer(ticket, encoder.encode(branch === undefined ? "" : "posted"));
}

/** Says two descriptors: the end for the program, and the one that this thread keeps. Empty: there is no gate for it. */
async function openBranch(link: GateLink, ticket: number, hosted: HostedNames): Promise<void> {
  const branch = link.branch(hosted);
  const pair = branch === undefined ? undefined : await openBranchPair(branch).catch(() => undefined);
  if (pair === undefined) branch?.destroy();
  else pairs.set(ticket, pair);
  const text = pair === undefined ? "" : JSON.stringify([pair.fd, pair.keptFd]);
  // WHY: nobody waits any more, so nobody says that it has its end.
  if (!shared.answer(ticket, encoder.encode(text))) {
    pair?.release();
    pairs.delete(ticket);
  }
}

async function answer(ticket: number, asked: ReturnType<GateLink["ask"]>, isSync: boolean): Promise<void> {
  links.set(ticket, asked.id);
  const text = await asked.answer;
  links.delete(ticket);
  if (isSync) shared.answer(ticket, encoder.encode(text));
  else post({ kind: "answer", ticket, text });
}
