/**
 * The way of a connection to its address: asked for by name, looked up only once the name may be reached, asked again
 * with the address, and dialled there and nowhere else.
 */
import { lookup } from "node:dns/promises";
import { type Host, isIpLiteral, parseHost, whatwgUrl } from "@sallyport/contract";
import { NameCache } from "@sallyport/gate";
import type { NetworkDecider, NetworkQuestion, NetworkRuling, Refusal } from "./network-question.ts";

export type Admission =
  | {
      readonly kind: "admitted";
      /** Without brackets; `undefined`: a proxy of the host looks it up. */
      readonly address: string | undefined;
      readonly questions: readonly NetworkQuestion[];
      readonly expiresAtMs: number | undefined;
      /** By what the subject declared alone, which no use uses up. */
      readonly isDeclared: boolean;
    }
  | { readonly kind: "denied"; readonly question: NetworkQuestion; readonly ruling: NetworkRuling }
  | { readonly kind: "refused"; readonly question: NetworkQuestion; readonly refusal: Refusal };

/** Addresses of a name, best first. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export type Admitted = Extract<Admission, { readonly kind: "admitted" }>;

/** What is wanted of one host. */
export interface Wanted {
  readonly host: Host;
  /** The address itself, where it is no name; without brackets. */
  readonly literal: string | undefined;
  readonly asked: NetworkQuestion;
}

export interface AdmissionParts {
  readonly decider: NetworkDecider;
  readonly resolve?: Resolve | undefined;
  /** Whether the host reaches this name through a proxy of its own, which then looks it up. */
  readonly isProxied: (host: Host) => boolean;
  readonly now: () => number;
}

const ADDRESS_LIFE_MS = 5000;
const ADDRESSES_MAX = 4096;

export class Admissions {
  readonly #parts: AdmissionParts;
  readonly #names = new NameCache();
  readonly #addresses = new Map<Host, { readonly address: string; readonly untilMs: number }>();

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /**
   * What is declared and needs no look-up, in one step: the same questions as `admit`, answered from memory. `undefined`:
   * nothing was counted or recorded, and it must be admitted the long way.
   */
  admitDeclared({ host, literal, asked }: Wanted): Admitted | undefined {
    const nowMs = this.#parts.now();
    if (literal !== undefined) {
      const aliases = this.#names.namesFor(host, nowMs);
      return this.#spendDeclared(aliases.length === 0 ? asked : { ...asked, aliases }, literal);
    }
    if (!this.#parts.decider.foresees(asked)) return undefined;
    if (this.#parts.isProxied(host)) return this.#spendDeclared(asked, undefined);
    const known = this.#addresses.get(host);
    if (known === undefined || nowMs >= known.untilMs) return undefined;
    return this.#spendDeclared({ ...asked, address: known.address }, known.address);
  }

  #spendDeclared(question: NetworkQuestion, address: string | undefined): Admitted | undefined {
    if (this.#parts.decider.spendDeclared?.(question) !== true) return undefined;
    return { kind: "admitted", address, questions: [question], expiresAtMs: undefined, isDeclared: true };
  }

  /** All questions must pass. */
  async admit(host: Host, questions: readonly NetworkQuestion[], signal: AbortSignal): Promise<Admission> {
    if (isIpLiteral(host)) {
      const aliases = this.#names.namesFor(host, this.#parts.now());
      const address = host.startsWith("[") ? host.slice(1, -1) : host;
      return this.#spend(
        aliases.length === 0 ? questions : questions.map((one) => ({ ...one, aliases })),
        address,
        signal,
      );
    }
    for (const question of questions) {
      if (this.#parts.decider.foresees(question)) continue;
      const ruling = await this.#parts.decider.ask(question, signal);
      if (ruling.allowed) continue;
      this.#parts.decider.violated(question);
      return { kind: "denied", question, ruling };
    }
    if (this.#parts.isProxied(host)) return this.#spend(questions, undefined, signal);
    // INVARIANT: a name that may not be reached is not looked up either: the look-up itself would tell it.
    const address = await this.#addressOf(host);
    if (address === undefined) {
      return { kind: "refused", question: questions[0] as NetworkQuestion, refusal: "unreachable" };
    }
    return this.#spend(
      questions.map((one) => ({ ...one, address })),
      address,
      signal,
    );
  }

  async #spend(
    questions: readonly NetworkQuestion[],
    address: string | undefined,
    signal: AbortSignal,
  ): Promise<Admission> {
    let expiresAtMs: number | undefined;
    let isDeclared = true;
    for (const question of questions) {
      const ruling = await this.#parts.decider.spend(question, signal);
      if (!ruling.allowed) return { kind: "denied", question, ruling };
      expiresAtMs = Math.min(expiresAtMs ?? Infinity, ruling.expiresAtMs ?? Infinity);
      isDeclared &&= ruling.code === "allowed_sandbox";
    }
    return {
      kind: "admitted",
      address,
      questions,
      expiresAtMs: expiresAtMs === Infinity ? undefined : expiresAtMs,
      isDeclared,
    };
  }

  /** Names that led to this address within the last minute. */
  aliasesOf(address: Host): readonly Host[] {
    return this.#names.namesFor(address, this.#parts.now());
  }

  async #addressOf(host: Host): Promise<string | undefined> {
    const nowMs = this.#parts.now();
    const known = this.#addresses.get(host);
    if (known !== undefined && nowMs < known.untilMs) return known.address;
    const found = await (this.#parts.resolve ?? lookUp)(host).catch(() => []);
    const parsed = found.flatMap((text) => parseHost(text, whatwgUrl) ?? []).filter(isIpLiteral);
    const first = parsed[0];
    if (first === undefined) return undefined;
    this.#names.record(host, parsed, nowMs);
    const address = first.startsWith("[") ? first.slice(1, -1) : first;
    if (this.#addresses.size >= ADDRESSES_MAX) this.#addresses.clear();
    this.#addresses.set(host, { address, untilMs: nowMs + ADDRESS_LIFE_MS });
    return address;
  }
}

async function lookUp(name: string): Promise<readonly string[]> {
  const found = await lookup(name, { all: true, verbatim: false });
  return found.map(({ address }) => address);
}
