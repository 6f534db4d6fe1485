/**
 * Answers questions for names (RFC 1035) with synthetic addresses. Nothing is looked up, so that no name leaves the
 * sandbox by being asked for. Reads hostile bytes: one question, no compression, bounded; whatever else is refused.
 */
import { type Host, parseHost, whatwgUrl } from "@sallyport/contract";
import type { SyntheticNames } from "./synthetic-names.ts";

const HEADER_BYTES = 12;
const TYPE_A = 1;
const TYPE_AAAA = 28;
const CLASS_INTERNET = 1;
const LABEL_MAX = 63;
const NAME_MAX = 255;
/** Of the answer: a reply, recursion served. */
const REPLY = 0x8080;
const RECURSION_DESIRED = 0x0100;
const NO_ERROR = 0;
const SERVER_FAILURE = 2;
const NO_SUCH_NAME = 3;
const NOT_SERVED = 4;
const TTL_S = 60;

interface NameQuestion {
  readonly name: string;
  readonly type: number;
  readonly class: number;
  /** Where the question ends. */
  readonly end: number;
}

/** `undefined`: these bytes are no question, and get no answer. */
export function answerName(query: Buffer, names: SyntheticNames): Buffer | undefined {
  if (query.length < HEADER_BYTES || query.length > 4096) return undefined;
  const flags = query.readUInt16BE(2);
  const isQuestion = (flags & 0x8000) === 0;
  if (!isQuestion) return undefined;
  const question = query.readUInt16BE(4) === 1 && (flags & 0x7800) === 0 ? readQuestion(query) : undefined;
  if (question === undefined) return reply(query, HEADER_BYTES, NOT_SERVED);
  const host = parseHost(question.name, whatwgUrl);
  if (host === undefined || question.class !== CLASS_INTERNET)
    return reply(query, question.end, NO_SUCH_NAME);
  return answerTo(query, question, host, names);
}

function answerTo(query: Buffer, { type, end }: NameQuestion, host: Host, names: SyntheticNames): Buffer {
  const local = host === "localhost" || host.endsWith(".localhost");
  switch (type) {
    case TYPE_A: {
      const address = local ? "127.0.0.1" : names.addressOf(host);
      return address === undefined
        ? reply(query, end, SERVER_FAILURE)
        : reply(query, end, NO_ERROR, type, Buffer.from(address.split(".").map(Number)));
    }
    case TYPE_AAAA:
      return local
        ? reply(query, end, NO_ERROR, type, Buffer.from([...Array.from({ length: 15 }, () => 0), 1]))
        : reply(query, end, NO_ERROR);
    default:
      // WHY: no other record can be known, keys for hidden names (ECH) least of all.
      return reply(query, end, NO_ERROR);
  }
}

function readQuestion(query: Buffer): NameQuestion | undefined {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (;;) {
    const length = query[at];
    if (length === undefined || length > LABEL_MAX || at - HEADER_BYTES > NAME_MAX) return undefined;
    at++;
    if (length === 0) break;
    if (at + length > query.length) return undefined;
    labels.push(query.toString("latin1", at, at + length));
    at += length;
  }
  if (at + 4 > query.length) return undefined;
  return {
    name: labels.join("."),
    type: query.readUInt16BE(at),
    class: query.readUInt16BE(at + 2),
    end: at + 4,
  };
}

function reply(query: Buffer, end: number, code: number, type?: number, value?: Buffer): Buffer {
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(REPLY | (query.readUInt16BE(2) & RECURSION_DESIRED) | code, 2);
  head.writeUInt16BE(end > HEADER_BYTES ? 1 : 0, 4);
  head.writeUInt16BE(value === undefined ? 0 : 1, 6);
  head.writeUInt32BE(0, 8);
  if (type === undefined || value === undefined) return head;
  const record = Buffer.alloc(12);
  // The name: where the question has it.
  record.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(CLASS_INTERNET, 4);
  record.writeUInt32BE(TTL_S, 6);
  record.writeUInt16BE(value.length, 10);
  return Buffer.concat([head, record, value]);
}
