/**
 * Streams of the administration API: server-sent events and lines. Bounded: a single event or line that grows beyond
 * measure ends the stream. Comments are signs of life and are not told.
 */

const PART_LENGTH_MAX = 8_388_608;

/** The data of every event, in order. Ends with the stream. */
export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  for await (const event of parts(body, "\n\n")) {
    const data = event
      .split("\n")
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(line.startsWith("data: ") ? 6 : 5));
    if (data.length > 0) yield data.join("\n");
  }
}

/** Without their breaks. */
export async function* textLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  for await (const line of parts(body, "\n")) if (line !== "") yield line;
}

async function* parts(body: ReadableStream<Uint8Array>, mark: string): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let pending = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      pending += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const whole = pending.split(mark);
      pending = whole.pop() ?? "";
      yield* whole;
      if (done) {
        if (pending !== "") yield pending;
        return;
      }
      if (pending.length > PART_LENGTH_MAX) throw new Error("the stream sent a part that is too long");
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
