/**
 * Parsed targets by pair and text: a program asks for the same few targets again and again, and parsing a URL costs
 * more than deciding. Two generations bound it. Faults are kept too, since hostile input repeats as well.
 */
import {
  type Access,
  type Fault,
  RESOURCE_OPERATIONS,
  type UrlParser,
  fault,
  parseAccess,
} from "@sallyport/contract";

const GENERATION_MAX = 4096;
/** WHY: long texts are rare, and keeping thousands of them would cost more memory than parsing them costs time. */
const KEPT_LENGTH_MAX = 1024;

type Parsed = Access | Fault;

const NO_SUCH_PAIR = fault(
  "invalid_operation",
  "operation",
  "resource type and operation do not belong together",
);

export class AccessCache {
  readonly #parseUrl: UrlParser;
  #young: Map<string, Parsed>[] = newGeneration();
  #old: Map<string, Parsed>[] = newGeneration();
  #size = 0;

  constructor(parseUrl: UrlParser) {
    this.#parseUrl = parseUrl;
  }

  get(pair: number, text: string): Parsed {
    const known = this.#young[pair]?.get(text);
    if (known !== undefined) return known;
    const legal = RESOURCE_OPERATIONS[pair];
    if (legal === undefined) return NO_SUCH_PAIR;
    const parsed = this.#old[pair]?.get(text) ?? this.#parse(legal, text);
    if (text.length <= KEPT_LENGTH_MAX) this.#keep(pair, text, parsed);
    return parsed;
  }

  #parse(legal: (typeof RESOURCE_OPERATIONS)[number], text: string): Parsed {
    const result = parseAccess({ ...legal, target: text }, this.#parseUrl);
    return result.ok ? result.value : result;
  }

  #keep(pair: number, text: string, parsed: Parsed): void {
    if (this.#size >= GENERATION_MAX) {
      this.#old = this.#young;
      this.#young = newGeneration();
      this.#size = 0;
    }
    this.#young[pair]?.set(text, parsed);
    this.#size++;
  }
}

function newGeneration(): Map<string, Parsed>[] {
  return RESOURCE_OPERATIONS.map(() => new Map<string, Parsed>());
}
