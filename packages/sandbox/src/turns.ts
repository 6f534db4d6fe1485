/** At most so many things at a time; the others wait for their turn, in order. */
export class Turns {
  #free: number;
  readonly #next: (() => void)[] = [];

  constructor(atATime: number) {
    this.#free = atATime;
  }

  async take<T>(act: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#next.push(resolve));
    try {
      return await act();
    } finally {
      const next = this.#next.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
