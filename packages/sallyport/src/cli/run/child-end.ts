/** Waits for a program that was started, hands signals on to it meanwhile, and says how it ended. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import type { Duplex } from "node:stream";
import { exitCodeOf } from "./run-terms.ts";

const stays = (): void => undefined;
const HANDED_ON = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;

export async function endOf(child: ChildProcess): Promise<number> {
  const stop = handSignals(child);
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return exitCodeOf(code, signal === null ? undefined : constants.signals[signal]);
  } finally {
    stop();
  }
}

/** WHY: on a terminal ctrl-c reaches the program by itself; this process stays to see it end. */
function handSignals(child: ChildProcess): () => void {
  const hands = HANDED_ON.map((name) => ({ name, hand: () => void child.kill(name) }));
  process.on("SIGINT", stays).on("SIGQUIT", stays);
  for (const { name, hand } of hands) process.on(name, hand);
  return () => {
    process.off("SIGINT", stays).off("SIGQUIT", stays);
    for (const { name, hand } of hands) process.off(name, hand);
  };
}

/** Two ends of one way; when either is over, both are. */
export function join(left: Duplex, right: Duplex): void {
  for (const side of [left, right])
    side.on("error", () => {
      left.destroy();
      right.destroy();
    });
  left.pipe(right).pipe(left);
}
