/**
 * An answer that may take long, as server-sent events: a comment now and then so that both ends notice when the other is
 * gone, then the answer, once. A remote host that goes away cancels its wait.
 */
import { ANSWER_HEADERS, Problem } from "../problem.ts";

export interface WaitStreamOptions {
  readonly beatMs: number;
  /** At every beat, and before the answer: `false` ends the stream without one. */
  readonly isAlive: () => Promise<boolean>;
  readonly stop: AbortController;
}

/** How many waits are open, in all and for one credential. */
export class WaitRoom {
  readonly #perCredentialMax: number;
  readonly #max: number;
  readonly #open = new Map<string, number>();
  #size = 0;

  constructor(limits: { readonly perCredentialMax: number; readonly max: number }) {
    this.#perCredentialMax = limits.perCredentialMax;
    this.#max = limits.max;
  }

  get size(): number {
    return this.#size;
  }

  /** Throws where there is no room; what it returns makes room again. */
  enter(credentialId: string): () => void {
    const open = this.#open.get(credentialId) ?? 0;
    if (this.#size >= this.#max || open >= this.#perCredentialMax)
      throw new Problem({
        code: "request_limit",
        detail: "too many callers wait: try again without waiting",
      });
    this.#open.set(credentialId, open + 1);
    this.#size++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#size--;
      const rest = (this.#open.get(credentialId) ?? 1) - 1;
      if (rest === 0) this.#open.delete(credentialId);
      else this.#open.set(credentialId, rest);
    };
  }
}

export function waitStream(
  answering: Promise<unknown>,
  options: WaitStreamOptions,
  left: () => void,
): Response {
  const { beatMs, isAlive, stop } = options;
  const encoder = new TextEncoder();
  let beat: NodeJS.Timeout | undefined;
  const end = (): void => {
    clearInterval(beat);
    left();
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (text: string): void => {
        // WHY: the stream may have been cancelled between the answer and this line.
        if (!stop.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      const giveUp = (): void => {
        if (stop.signal.aborted) return;
        stop.abort();
        end();
        controller.close();
      };
      send(": waiting\n\n");
      beat = setInterval(() => {
        isAlive().then((alive) => (alive ? send(": waiting\n\n") : giveUp()), giveUp);
      }, beatMs).unref();
      const finish = async (): Promise<void> => {
        const answer = await answering;
        if (!(await isAlive())) return giveUp();
        send(`event: answer\ndata: ${JSON.stringify(answer)}\n\n`);
        end();
        if (!stop.signal.aborted) controller.close();
      };
      finish().catch(giveUp);
    },
    cancel() {
      stop.abort();
      end();
    },
  });
  return new Response(body, { headers: { ...ANSWER_HEADERS, "content-type": "text/event-stream" } });
}
