/**
 * The way of `run` to the owner of the data folder: says what the program runs by, hears who it is and what it may, and says
 * what stands around it. What is left afterwards is the socket of a gate.
 */
import { once } from "node:events";
import { type Socket, connect } from "node:net";
import { type SandboxProfile, sandboxProfileWire } from "@sallyport/contract";
import { CliFault } from "../cli-fault.ts";
import { readDoorLine } from "../door-line.ts";
import type { RunAnswer, RunStand, RunWords } from "../run-door.ts";

type Admitted = Extract<RunAnswer, { readonly ok: true }>;

export interface EnteredDoor {
  readonly admitted: Admitted;
  /** Resolves with the gate when the owner has it on record. */
  stand(profile: SandboxProfile, how: Omit<RunStand, "profile">): Promise<Socket>;
  leave(): void;
}

export async function enterDoor(socketPath: string, words: RunWords): Promise<EnteredDoor> {
  const socket = connect(socketPath);
  await once(socket, "connect");
  socket.on("error", () => socket.destroy());
  socket.write(`${JSON.stringify(words)}\n`);
  const admitted = (await readDoorLine(socket)) as RunAnswer;
  if (!admitted.ok) {
    socket.destroy();
    throw new CliFault({
      exit: "invalid",
      code: words.subject === null ? "invalid_manifest" : "invalid_subject",
      message: admitted.message,
      next: "`sallyport manifest lint` shows every fault",
    });
  }
  return {
    admitted,
    stand: async (profile, how) => {
      socket.write(`${JSON.stringify({ profile: sandboxProfileWire.format(profile), ...how })}\n`);
      const answer = (await readDoorLine(socket)) as { readonly ok: boolean; readonly message?: string };
      if (answer.ok) return socket;
      socket.destroy();
      throw new CliFault({ exit: "unavailable", code: "unavailable", message: answer.message ?? "refused" });
    },
    leave: () => void socket.destroy(),
  };
}
