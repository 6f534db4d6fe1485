/**
 * Reads the extras of a question from their text. Strict: an unknown key or a value of another shape throws, and the
 * check is answered `unavailable`; nothing is dropped silently, since what is dropped could have been a deny.
 */
import {
  type Host,
  RESOURCE_OPERATIONS,
  type Subject,
  type UrlParser,
  parseAccess,
  parseHost,
} from "@sallyport/contract";
import type { HookAnswer, Question } from "../question.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type ReadExtras = Writable<Pick<Question, "address" | "aliases" | "twin" | "named" | "hook" | "classifier">>;

export function readExtras(text: string, parseUrl: UrlParser): ReadExtras {
  const extras: ReadExtras = {};
  for (const [key, value] of Object.entries(JSON.parse(text) as Record<string, unknown>)) {
    switch (key) {
      case "address":
        extras.address = host(value, parseUrl);
        break;
      case "aliases":
        if (!Array.isArray(value)) throw new TypeError("aliases must be a list");
        extras.aliases = value.map((alias) => host(alias, parseUrl));
        break;
      case "twin":
        extras.twin = twin(value, parseUrl);
        break;
      case "named":
        extras.named = named(value);
        break;
      case "hook":
        extras.hook = hookAnswer(value);
        break;
      case "classifier":
        extras.classifier = hookAnswer(value);
        break;
      default:
        throw new TypeError("unknown key in extras");
    }
  }
  return extras;
}

function host(value: unknown, parseUrl: UrlParser): Host {
  const parsed = typeof value === "string" ? parseHost(value, parseUrl) : undefined;
  if (parsed === undefined) throw new TypeError("not a host");
  return parsed;
}

/** WHY: a twin that cannot be parsed names nothing that a rule could name, so there is none. */
function twin(value: unknown, parseUrl: UrlParser): Question["twin"] {
  const [pair, target] = pairOf(value);
  const legal = RESOURCE_OPERATIONS[pair as number];
  if (legal === undefined) throw new TypeError("not a pair");
  const parsed = parseAccess({ ...legal, target }, parseUrl);
  return parsed.ok ? parsed.value : undefined;
}

/** Not checked further: a subject that does not exist is on no chain. */
function named(value: unknown): Subject {
  const [type, name] = pairOf(value);
  if (typeof type !== "string" || typeof name !== "string") throw new TypeError("not a subject");
  return { type, name } as Subject;
}

function hookAnswer(value: unknown): HookAnswer {
  const [answer, ref] = pairOf(value);
  if (answer !== "allow" && answer !== "deny" && answer !== "ask") throw new TypeError("not an answer");
  if (typeof ref !== "string") throw new TypeError("not a reference");
  return { answer, ref };
}

function pairOf(value: unknown): readonly [unknown, unknown] {
  if (!Array.isArray(value) || value.length !== 2) throw new TypeError("not a list of two");
  return [value[0], value[1]];
}
