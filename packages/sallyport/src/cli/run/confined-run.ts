/**
 * A run behind the wall. This process is the broker: it asks the service about whatever the wall does not grant, waits for a
 * person, and keeps the wall to the rules as they are now. Nothing that the program says reaches a decision but through the
 * supervisor's own look at the object.
 * INVARIANT: the profile is on record before the program runs, and there is no way here that starts it without the wall.
 */
import { randomInt } from "node:crypto";
import { realpathSync } from "node:fs";
import type { Socket } from "node:net";
import { homedir } from "node:os";
import type { Duplex } from "node:stream";
import {
  type ExpandedRule,
  type ExternalAccessCheck,
  type ResourceOperation,
  operationLabel,
} from "@sallyport/contract";
import { type GateClient, connectGate, openPrivateRealm } from "@sallyport/gate";
import { guardLaunch } from "@sallyport/guard";
import { GATE_FD_VARIABLE } from "@sallyport/runtime";
import {
  type Compiled,
  type Confined,
  type Confinement,
  HeldRules,
  type Sandbox,
  SandboxError,
  StandingGrants,
  gateDecider,
  gateNetwork,
  gateRecords,
  gateViolations,
  hostProxy,
  openSandbox,
  settledSocket,
} from "@sallyport/sandbox";
import { endOf, join } from "./child-end.ts";
import { type EnteredDoor, enterDoor } from "./enter-door.ts";
import { nodePlaces } from "./node-places.ts";
import type { RunTerms } from "./run-terms.ts";
import { secondWall } from "./second-wall.ts";

const SEED_END = 2 ** 32;
const GUARD_FD = 3;
const STDERR = 2;

export async function runConfined(terms: RunTerms): Promise<number> {
  const sandbox = await openSandbox();
  const door = await enterDoor(terms.socketPath, terms.words);
  try {
    const run = new ConfinedRun(terms, sandbox, door);
    return await run.toItsEnd();
  } finally {
    door.leave();
  }
}

class ConfinedRun {
  readonly #terms: RunTerms;
  readonly #sandbox: Sandbox;
  readonly #door: EnteredDoor;
  readonly #held: HeldRules;
  /** Requests that violations became, where nobody waits. */
  readonly #blocked = new Set<string>();

  constructor(terms: RunTerms, sandbox: Sandbox, door: EnteredDoor) {
    this.#terms = terms;
    this.#sandbox = sandbox;
    this.#door = door;
    this.#held = new HeldRules(door.admitted.changes, door.admitted.mode);
  }

  async toItsEnd(): Promise<number> {
    const { cli, limits } = this.#terms;
    const { subject, sessionKey } = this.#door.admitted;
    const confinement = this.#confinement();
    this.#terms.announce({ subject, sessionKey });
    const cwd = realpathSync(cli.cwd);
    const profile = this.#sandbox.profile(confinement, {
      cwd,
      limits,
      hasTerminal: cli.terminal.isInteractive,
    });
    const socket = await this.#door.stand(profile, { enforcer: "sandbox", joins: false });
    const standing = new StandingGrants(() => this.#compile());
    this.#held.watch(() => standing.refresh());
    const gate = await connectGate(
      settledSocket(socket, () => standing.settled()),
      {
        realm: this.#held.listening(openPrivateRealm({ seed: [randomInt(SEED_END), randomInt(SEED_END)] })),
      },
    );
    try {
      for (;;) {
        const guard = await this.#guardGate(profile);
        const confined = await this.#start({ gate, standing, guard });
        const code = await endOf(confined.child);
        await confined.recorded;
        guard?.destroy();
        if (!(await this.#approvedMeanwhile(gate))) return code;
        cli.terminal.note(cli.terminal.paint("dim", "approved: running it again"));
      }
    } finally {
      gate.close();
    }
  }

  #confinement(): Confinement {
    const compiled = this.#compile();
    if (compiled.ok) return compiled.confinement;
    throw new SandboxError("sandbox_profile", compiled.faults.map(({ message }) => message).join("; "));
  }

  #compile(): Compiled {
    const { dataFolder, program, trapSet, codeRoots } = this.#terms;
    const { allow, withheld } = this.#held.policy();
    const own = realpathSync(dataFolder);
    const reads = program.startReads.map((target): ExpandedRule => ({
      resourceType: "filesystem",
      operation: "read",
      target,
      match: "exact",
    }));
    return this.#sandbox.compile({
      allow: [...allow, ...reads],
      // WHY: the folder is hidden from the program, so that the rest around it needs no question.
      withheld: withheld.filter(({ target }) => target !== `${own}/` && !target.startsWith(`${own}/`)),
      trapSet,
      // WHY: without a way out there is no network, and a rule that wants one is a fault.
      network: this.#sandbox.facts.wall.hasCapture ? "gateway" : "none",
      ownPlaces: [own],
      home: homedir(),
      codeRoots: [...codeRoots, ...(program.isNode ? nodePlaces() : [])],
    });
  }

  /** The guard's own way to the service, where there is a guard. */
  async #guardGate(profile: Parameters<EnteredDoor["stand"]>[0]): Promise<Socket | undefined> {
    const { isGuarded, program, socketPath, words } = this.#terms;
    if (!isGuarded || !program.isNode) return undefined;
    const door = await enterDoor(socketPath, { ...words, sessionKey: this.#door.admitted.sessionKey });
    return door.stand(profile, { enforcer: "guard", joins: true });
  }

  async #start(parts: {
    readonly gate: GateClient;
    readonly standing: StandingGrants;
    readonly guard: Socket | undefined;
  }): Promise<Confined> {
    const { cli, program, limits, wallMs, env, words, codeRoots, waitMs, trapSet, output } = this.#terms;
    const { gate, standing, guard } = parts;
    const launch = guardLaunch({
      codeRoots: [words.root, ...codeRoots],
      waitMs,
      env: {},
      confined: trapSet === "all",
    });
    const asking = {
      waitMs: () => (this.#waits() ? waitMs : undefined),
      onBlocked: ({ requestId }: ExternalAccessCheck) => {
        if (requestId !== undefined) this.#blocked.add(requestId);
      },
    };
    // INVARIANT: what cannot be put on record is granted no more, and asked about instead.
    const record = gateRecords(gate, () => void confined.narrow());
    const wall = await secondWall(this.#terms, this.#door.admitted);
    const terminalRelay = cli.terminal.isInteractive ? await this.#sandbox.terminalRelay() : undefined;
    // INVARIANT: nothing is awaited between here and the start, so that no rule falls in between.
    const confinement = this.#confinement();
    const confined = this.#sandbox.spawn(
      program.command,
      guard === undefined ? program.args : [...wall, ...launch.args, ...program.args],
      {
        confinement,
        decide: standing.decide(
          gateDecider(gate, {
            ...asking,
            withheld: () => this.#held.policy().withheld,
            onWaiting: ({ operation, target }) =>
              this.#tellWaiting({ resourceType: "filesystem", operation }, target),
          }),
          record,
        ),
        record,
        onViolation: gateViolations(gate),
        egress: {
          upstreamProxy: hostProxy(process.env),
          decider: gateNetwork(gate, {
            subject: this.#door.admitted.subject,
            watch: (listener) => this.#held.watch(listener),
            ...asking,
            onWaiting: ({ operation, target }) =>
              this.#tellWaiting({ resourceType: "network", operation }, target),
          }),
        },
        onFailed: ({ message }) => cli.terminal.note(`sallyport: ${cli.terminal.shown(message)}`),
        cwd: cli.cwd,
        env,
        ...(guard === undefined
          ? {}
          : { guardEnv: { ...definedIn(launch.env), [GATE_FD_VARIABLE]: String(GUARD_FD) } }),
        stdio: [
          "inherit",
          output === "stderr" ? STDERR : "inherit",
          "inherit",
          ...(guard === undefined ? [] : (["pipe"] as const)),
        ],
        terminalRelay,
        limits,
        wallMs,
      },
    );
    standing.begin(confinement.grants, confined.narrow);
    if (guard !== undefined) join(guard, confined.child.stdio[GUARD_FD] as unknown as Duplex);
    return confined;
  }

  /** In `on_failure` nothing waits: a violation becomes the request, and what was approved runs again. */
  #waits(): boolean {
    return this.#terms.words.interactive && this.#held.policy().mode !== "on_failure";
  }

  #tellWaiting(pair: ResourceOperation, target: string): void {
    const { terminal } = this.#terms.cli;
    const what = operationLabel(pair).toLowerCase();
    const text = `waiting for a person: ${what} \`${target}\`; \`sallyport approve\` decides`;
    terminal.note(`${terminal.paint("dim", terminal.shown(text))}${terminal.isInteractive ? "\r" : ""}`);
  }

  /** For `on_failure`: whether everything that was blocked in this run has been approved since. */
  async #approvedMeanwhile(gate: GateClient): Promise<boolean> {
    const { cli, words, waitMs } = this.#terms;
    const requests = [...this.#blocked];
    this.#blocked.clear();
    if (this.#held.policy().mode !== "on_failure" || requests.length === 0 || !words.interactive)
      return false;
    const text = `${requests.length} blocked, asked and waiting: \`sallyport approve\` decides, then it runs again`;
    cli.terminal.note(cli.terminal.paint("dim", text));
    const answers = await Promise.all(requests.map((id) => gate.decided(id, waitMs, cli.ending)));
    return answers.every(({ outcome }) => outcome === "allowed");
  }
}

function definedIn(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
