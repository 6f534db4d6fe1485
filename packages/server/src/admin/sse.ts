/**
 * Server-sent events for many followers. Bounded: so many in all and so many of one person; a follower that does not read
 * is let go, it can come back and go on. Comments keep the connection alive and find out who is gone.
 */
import { ANSWER_HEADERS, Problem } from "../problem.ts";

export interface FollowerLimits {
  readonly max: number;
  readonly perPersonMax: number;
  readonly beatMs: number;
}

export const DEFAULT_FOLLOWERS: FollowerLimits = Object.freeze({
  max: 2000,
  perPersonMax: 50,
  beatMs: 15_000,
});

export class Followers {
  readonly #limits: FollowerLimits;
  readonly #byPerson = new Map<number | string, number>();
  #count = 0;

  constructor(limits: Partial<FollowerLimits> = {}) {
    this.#limits = { ...DEFAULT_FOLLOWERS, ...limits };
  }

  get count(): number {
    return this.#count;
  }

  get beatMs(): number {
    return this.#limits.beatMs;
  }

  /** Throws where there are too many. The place is given back by what is returned, once. */
  enter(person: number | string): () => void {
    const { max, perPersonMax } = this.#limits;
    const own = this.#byPerson.get(person) ?? 0;
    if (this.#count >= max || own >= perPersonMax)
      throw new Problem({
        code: "request_limit",
        detail: "too many streams are open: close some, then try again",
      });
    this.#count += 1;
    this.#byPerson.set(person, own + 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#count -= 1;
      const left = (this.#byPerson.get(person) ?? 1) - 1;
      if (left === 0) this.#byPerson.delete(person);
      else this.#byPerson.set(person, left);
    };
  }
}

export interface StreamParts {
  readonly beatMs: number;
  /** Each ends the stream. */
  readonly signals: readonly AbortSignal[];
  /** Asked at every beat: whether the person is still signed in. */
  readonly isWelcome: () => Promise<boolean>;
  /** Called once, whatever ends it. */
  readonly left: () => void;
}

/** How much may wait for a follower that does not read. */
const WAITING_MAX = 256;

/** `source` is told when to end by its signal. */
export function eventStream(
  source: (signal: AbortSignal) => AsyncIterable<string>,
  { beatMs, signals, isWelcome, left }: StreamParts,
): Response {
  const stop = new AbortController();
  const encoder = new TextEncoder();
  const end = (): void => stop.abort();
  let timer: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        for (const signal of signals) {
          if (signal.aborted) end();
          else signal.addEventListener("abort", end, { once: true });
        }
        const send = (text: string): void => {
          if (stop.signal.aborted) return;
          if ((controller.desiredSize ?? 0) <= -WAITING_MAX) end();
          else controller.enqueue(encoder.encode(text));
        };
        send(": hello\n\n");
        timer = setInterval(() => {
          isWelcome().then(
            (isStill) => (isStill ? send(": alive\n\n") : end()),
            () => end(),
          );
        }, beatMs).unref();
        const close = (): void => {
          clearInterval(timer);
          for (const signal of signals) signal.removeEventListener("abort", end);
          left();
          try {
            controller.close();
          } catch {
            // The reader went first.
          }
        };
        pump(source(stop.signal), send, stop.signal).then(close, close);
      },
      cancel: end,
    },
    { highWaterMark: 1 },
  );
  return new Response(body, {
    headers: { ...ANSWER_HEADERS, "content-type": "text/event-stream", "x-accel-buffering": "no" },
  });
}

async function pump(
  source: AsyncIterable<string>,
  send: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  for await (const data of source) {
    if (signal.aborted) return;
    send(`data: ${data}\n\n`);
  }
}
