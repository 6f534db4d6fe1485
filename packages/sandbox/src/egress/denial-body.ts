/**
 * What a program is told when the gateway refuses: JSON that says who was refused what, why, and how to ask. Texts of
 * the program's own are data in it and escaped as JSON does.
 */
import { STATUS_CODES } from "node:http";
import {
  type NetworkDecider,
  type NetworkQuestion,
  type NetworkRuling,
  REFUSALS,
  type Refusal,
} from "./network-question.ts";

export interface Denial {
  readonly status: number;
  readonly body: string;
}

export function denialOf(
  subject: NetworkDecider["subject"],
  question: Pick<NetworkQuestion, "operation" | "target">,
  ruling: NetworkRuling,
): Denial {
  const { code, decision, source, requestId, message } = ruling;
  const how =
    requestId === undefined
      ? "declare it in the manifest, or ask whoever runs this program for a rule"
      : `have request \`${requestId}\` approved, then try again`;
  return denial(403, {
    reason: code,
    decision,
    source,
    subject: subject ?? null,
    resource_type: "network",
    operation: question.operation,
    target: question.target,
    request_id: requestId ?? null,
    message,
    how_to_ask: how,
  });
}

export function refusalOf(
  subject: NetworkDecider["subject"],
  question: Pick<NetworkQuestion, "operation" | "target">,
  refusal: Refusal,
): Denial {
  const isOutside = refusal === "unreachable" || refusal === "unverified";
  return denial(isOutside ? 502 : 403, {
    reason: refusal,
    decision: "denied",
    source: "gateway",
    subject: subject ?? null,
    resource_type: "network",
    operation: question.operation,
    target: question.target,
    request_id: null,
    message: REFUSALS[refusal],
    how_to_ask: "this cannot be approved: change the request",
  });
}

/** The whole answer, as HTTP/1.1 has it. */
export function answerText(
  { status, body }: Denial,
  { closes, hasBody }: { readonly closes: boolean; readonly hasBody: boolean },
): string {
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "Content-Type: application/json",
    "X-Sallyport: denied",
    `Connection: ${closes ? "close" : "keep-alive"}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${hasBody ? body : ""}`;
}

function denial(status: number, words: object): Denial {
  return Object.freeze({ status, body: `${JSON.stringify(words)}\n` });
}
