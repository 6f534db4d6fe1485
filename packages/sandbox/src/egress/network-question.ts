/**
 * What the gateway asks, and whom. It decides nothing itself: without an answer nothing is dialled.
 */
import type { DecisionSource, Outcome } from "@sallyport/contract";

export interface NetworkQuestion {
  readonly operation: "connect" | "receive" | "send";
  /** A URL or an endpoint. */
  readonly target: string;
  /** The address that will be dialled for a name. */
  readonly address?: string | undefined;
  /** Names that had this address a moment ago. */
  readonly aliases?: readonly string[] | undefined;
}

export interface NetworkRuling {
  readonly allowed: boolean;
  readonly code: string;
  readonly message: string;
  readonly decision: Outcome;
  readonly source: DecisionSource;
  readonly requestId?: string | undefined;
  /** The approval ends then. */
  readonly expiresAtMs?: number | undefined;
}

export interface NetworkDecider {
  /** Known to be allowed. Spends and records nothing. */
  foresees(question: NetworkQuestion): boolean;
  /** Waits for a person where one can be asked. Spends nothing. */
  ask(question: NetworkQuestion, signal: AbortSignal): Promise<NetworkRuling>;
  /** The act comes next: counts and is recorded. */
  spend(question: NetworkQuestion, signal: AbortSignal): Promise<NetworkRuling>;
  /** Whether it is declared, so that it goes on from memory and is recorded. False: nothing was recorded; spend it. */
  spendDeclared?(question: NetworkQuestion): boolean;
  /** Whether it would be allowed now. Registers, spends and waits for nothing. */
  recall(question: NetworkQuestion): Promise<NetworkRuling>;
  /** Something was blocked; `refusal` where it is no matter of rules. */
  violated(question: NetworkQuestion, refusal?: Refusal): void;
  /** Calls back whenever something may have changed; returns what ends it. */
  watch?(listener: () => void): () => void;
  /** Who is asked about, for the text of a denial. */
  readonly subject: { readonly type: string; readonly name: string } | undefined;
}

/** Why the gateway refuses something whatever is allowed. */
export const REFUSALS = {
  host_mismatch: "the `Host` of a request must be the host that was dialled",
  name_mismatch: "the name in the TLS greeting must be the host that was dialled",
  broken_greeting: "the TLS greeting cannot be read",
  ambiguous_request: "the request can be read in more than one way, or not at all",
  invalid_target: "the target of the request is no address",
  upgrade_refused: "only websockets can be upgraded to",
  tunnel_refused: "a tunnel can be opened at the proxy port only",
  unknown_name: "the address stands for no name: ask the resolver of the sandbox first",
  unverified: "the certificate of the server does not hold",
  unreachable: "the server cannot be reached",
  pinned:
    "the program does not trust the sandbox for this host: allow `connect`, so that TLS passes untouched",
  datagram: "datagrams lead nowhere, QUIC included: use TCP",
  data_frame: "a websocket that only receives may not send data",
} as const;
export type Refusal = keyof typeof REFUSALS;
