/**
 * A run without the wall: the program has a gate, and a guard where Node runs it. What does not ask is not stopped; the
 * profile on record says so.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { guardLaunch } from "@sallyport/guard";
import { GATE_FD_VARIABLE } from "@sallyport/runtime";
import { CliFault } from "../cli-fault.ts";
import { endOf, join } from "./child-end.ts";
import { enterDoor } from "./enter-door.ts";
import { type RunTerms, profileWithoutWall } from "./run-terms.ts";
import { secondWall } from "./second-wall.ts";

const GATE_FD = 3;
const STDERR = 2;

export async function runPlain(terms: RunTerms): Promise<number> {
  const { cli, program, words } = terms;
  const isGuarded = terms.isGuarded && program.isNode;
  const door = await enterDoor(terms.socketPath, words);
  const { subject, sessionKey, mode } = door.admitted;
  if (mode === "untrusted") {
    door.leave();
    throw new CliFault({
      exit: "not_enforced",
      code: "sandbox_unavailable",
      message: "in mode `untrusted` nothing runs without the wall",
      next: "run it without `--no-sandbox`, or change the mode: `sallyport mode default`",
    });
  }
  const wall = await secondWall(terms, door.admitted).catch((error: unknown) => {
    door.leave();
    throw error;
  });
  terms.announce({ subject, sessionKey });
  const profile = profileWithoutWall(cli.cwd, isGuarded);
  const gate = await door.stand(profile, { enforcer: "guard", joins: false });
  const { SALLYPORT_DATA: _data, ...own } = cli.env;
  const guard = isGuarded
    ? guardLaunch({ codeRoots: [words.root, ...terms.codeRoots], waitMs: terms.waitMs, env: own })
    : { args: [], env: own };
  try {
    const child = spawn(program.command, [...wall, ...guard.args, ...program.args], {
      cwd: cli.cwd,
      stdio: ["inherit", terms.output === "stderr" ? STDERR : "inherit", "inherit", "pipe"],
      env: { ...guard.env, ...terms.env, [GATE_FD_VARIABLE]: String(GATE_FD) },
    });
    const ended = endOf(child);
    await Promise.race([once(child, "spawn"), ended]);
    join(gate, child.stdio[GATE_FD] as unknown as Duplex);
    return await ended;
  } finally {
    gate.destroy();
  }
}
