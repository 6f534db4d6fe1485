/** How far the guided example has come, for the console to show. */
import type { GuideView } from "@sallyport/contract/admin";

type Step = GuideView["steps"][number];

const TITLES = {
  file: "A tool wants to read a file that it did not declare. It waits.",
  address: "The agent that called it wants to receive from an address. It waits, too.",
  report: "An import wanted to create a report and has stopped. Approved, it is resumed by itself.",
} as const;

export type GuideStep = keyof typeof TITLES;

export class ExampleGuide {
  readonly #steps = new Map<GuideStep, Step>(
    Object.entries(TITLES).map(([name, title]) => [
      name as GuideStep,
      { title, requestId: null, state: "waiting", told: null },
    ]),
  );

  asked(name: GuideStep, requestId: Step["requestId"] | undefined): void {
    this.#change(name, { requestId: requestId ?? null });
  }

  ended(name: GuideStep, state: "went_on" | "refused", told: string): void {
    this.#change(name, { state, told });
  }

  /** WHY from the log: what has stopped waits for nothing, and is not told no. */
  refused(requestId: string | null): void {
    for (const [name, step] of this.#steps)
      if (step.requestId !== null && step.requestId === requestId && step.state === "waiting")
        this.ended(name, "refused", "it was told no");
  }

  view(): GuideView {
    return { steps: [...this.#steps.values()] };
  }

  #change(name: GuideStep, change: Partial<Step>): void {
    const step = this.#steps.get(name);
    if (step !== undefined) this.#steps.set(name, { ...step, ...change });
  }
}
