/**
 * Work that is done for everybody who asks: those who come while one run is under way share the next one, which sees
 * all that they have seen.
 * INVARIANT: never two runs at the same time, also not in the moment between the end of one and the begin of the next.
 */

interface Next {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class SharedRun {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | null = null;
  #next: Next | null = null;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  run(): Promise<void> {
    if (this.#running === null) return this.#begin();
    this.#next ??= newNext();
    return this.#next.promise;
  }

  /** Nothing runs when this resolves, unless somebody asked meanwhile. */
  async idle(): Promise<void> {
    await this.#running?.catch(() => undefined);
  }

  #begin(): Promise<void> {
    const running = this.#work();
    this.#running = running;
    // WHY before it is given out: whoever waits for this run goes on after the next one has begun.
    const ended = (): void => {
      const next = this.#next;
      this.#next = null;
      this.#running = null;
      if (next !== null) this.#begin().then(next.resolve, next.reject);
    };
    running.then(ended, ended);
    return running;
  }
}

const nothing = (): void => undefined;

function newNext(): Next {
  let resolve: Next["resolve"] = nothing;
  let reject: Next["reject"] = nothing;
  const promise = new Promise<void>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { promise, resolve, reject };
}
