import { describe, expect, it } from "vitest";
import { Turn } from "./turn.ts";

describe("a turn", () => {
  it("comes in order, one at a time, also after one that failed", async () => {
    const turn = new Turn();
    const seen: string[] = [];
    const work = (name: string) => async () => {
      seen.push(`${name} begins`);
      await Promise.resolve();
      seen.push(`${name} ends`);
      if (name === "b") throw new Error("b failed");
      return name;
    };
    const [a, b, c] = await Promise.allSettled([
      turn.run(work("a")),
      turn.run(work("b")),
      turn.run(work("c")),
    ]);
    expect(seen).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
    expect([a?.status, b?.status, c?.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("that does not come in time is unavailable, and its work never begins", async () => {
    const turn = new Turn(10);
    let release = (): void => undefined;
    const stuck = turn.run(
      () =>
        new Promise<void>((resolve) => {
          release = resolve;
        }),
    );
    let began = false;
    const late = turn.run(async () => {
      began = true;
    });
    await expect(late).rejects.toMatchObject({ code: "unavailable" });
    release();
    await stuck;
    expect(await turn.run(async () => "next")).toBe("next");
    expect(began).toBe(false);
  });
});
