/**
 * A gate client in one thread, for a process that runs no foreign code, such as a broker.
 */
import type { Duplex } from "node:stream";
import type { PrivateRealm } from "../private-realm.ts";
import { type GateTimers, systemTimers } from "../protocol/gate-channel.ts";
import type { GateFault } from "../protocol/gate-fault.ts";
import { AllowlistHits } from "./allowlist-hits.ts";
import { GateClient, type GateTransport } from "./gate-client.ts";
import { GateLink } from "./gate-link.ts";
import { GateMirror } from "./gate-mirror.ts";
import type { GateTerms } from "./gate-terms.ts";
import { mirrorFacts } from "./mirror-facts.ts";
import { monotonicMs } from "./monotonic.ts";

export interface ConnectOptions {
  readonly realm: PrivateRealm;
  readonly timers?: GateTimers | undefined;
  readonly onClosed?: ((fault: GateFault) => void) | undefined;
}

/** Resolves with the first snapshot. */
export function connectGate(socket: Duplex, options: ConnectOptions): Promise<GateClient> {
  const { realm, timers = systemTimers, onClosed } = options;
  return new Promise((resolve, reject) => {
    const mirror = new GateMirror(realm);
    let leaseEndMs = 0;
    let agreed: GateTerms | undefined;
    const link: GateLink = new GateLink({
      socket,
      timers,
      monotonicMs,
      sink: {
        agreed: (terms) => void (agreed = terms),
        facts: (message) => mirror.take(mirrorFacts(message)),
        leased: (untilMs) => {
          const isFirst = leaseEndMs === 0 && untilMs > 0;
          leaseEndMs = untilMs;
          if (isFirst && agreed !== undefined) resolve(new GateClient(transport(agreed), mirror));
        },
        closed: (fault) => {
          reject(fault);
          onClosed?.(fault);
        },
      },
    });
    // WHY: equal requests of a program are one entry with their number, here and in the service.
    const hits = new AllowlistHits((events) => {
      for (const event of events) link.report(event);
      link.flush();
    });
    const transport = (terms: GateTerms): GateTransport => ({
      terms,
      leaseEndMs: () => leaseEndMs,
      pull: () => undefined,
      hasNews: () => false,
      ask: (ask) => {
        const { id, answer } = link.ask(ask);
        return { answer, cancel: () => link.cancel(id) };
      },
      inquire: (inquiry) => {
        const { id, answer } = link.inquire(inquiry);
        return { answer, cancel: () => link.cancel(id) };
      },
      report: (event) => (event.kind === "allowed" ? hits.add(event.words) : link.report(event)),
      close: () => {
        hits.flush();
        link.flush();
        link.close();
      },
    });
  });
}
