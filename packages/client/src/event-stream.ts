/**
 * Server-sent events, as far as one answer needs them: comments are signs of life, the first `answer` is the end.
 * Bounded in size; a stream that ends without an answer has none.
 */

const BYTES_MAX = 1_048_576;

/** The data of the answer; `undefined` where the stream ended before it. `alive` is called for everything that arrives. */
export async function readAnswer(
  body: ReadableStream<Uint8Array>,
  alive: () => void,
): Promise<string | undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let pending = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return undefined;
      alive();
      pending += decoder.decode(value, { stream: true });
      for (let end = pending.indexOf("\n\n"); end >= 0; end = pending.indexOf("\n\n")) {
        const data = answerOf(pending.slice(0, end));
        if (data !== undefined) return data;
        pending = pending.slice(end + 2);
      }
      if (pending.length > BYTES_MAX) return undefined;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function answerOf(event: string): string | undefined {
  const lines = event.split("\n");
  if (!lines.includes("event: answer")) return undefined;
  return lines.find((line) => line.startsWith("data: "))?.slice("data: ".length);
}
