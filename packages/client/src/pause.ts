/** A pause that ends early when the caller stops waiting. */
import type { WaitSignal } from "@sallyport/contract";

export function pause(ms: number, signal: WaitSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** WHY a function: the compiler takes a field that was `false` once to stay so. */
export function isAborted(signal: WaitSignal | undefined): boolean {
  return signal?.aborted === true;
}
