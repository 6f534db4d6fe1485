/**
 * Heads of the responses of one stream, and how they are written for the program. The last one is remembered, because
 * servers say the same again and again. INVARIANT: only a head that is the same byte by byte is taken for the same.
 */
import { type ResponseHead, readResponseHead } from "./response-frame.ts";
import { beginsWith } from "./wanted-request.ts";

type WholeHead = Extract<ResponseHead, { readonly kind: "head" }>;

interface LastHead {
  readonly bytes: Buffer;
  readonly method: string;
  readonly head: WholeHead;
  /** For a connection that stays open. */
  readonly text: Buffer;
}

export class ResponseReader {
  #last: LastHead | undefined;

  read(bytes: Buffer, method: string): ResponseHead {
    const last = this.#last;
    if (last !== undefined && last.method === method && beginsWith(bytes, last.bytes)) return last.head;
    const head = readResponseHead(bytes, method);
    // WHY a copy: what came with it is not kept.
    if (head.kind === "head")
      this.#last = {
        bytes: Buffer.from(bytes.subarray(0, head.end)),
        method,
        head,
        text: textOf(head, false),
      };
    return head;
  }

  /** As the program hears it. */
  text(head: WholeHead, { closes }: { readonly closes: boolean }): Buffer {
    return !closes && this.#last?.head === head ? this.#last.text : textOf(head, closes);
  }
}

function textOf({ lines }: WholeHead, closes: boolean): Buffer {
  return Buffer.from(`${lines}Connection: ${closes ? "close" : "keep-alive"}\r\n\r\n`, "latin1");
}
