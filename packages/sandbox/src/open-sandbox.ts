/**
 * The sandbox of this machine: tried out once, then used for any number of programs. Refuses to be opened where a layer
 * of the wall is missing; there is no lesser wall that goes by the same name.
 */
import type { ExpandedRule, SandboxProfile } from "@sallyport/contract";
import { SandboxError } from "./errors.ts";
import { type HostPlaces, lookAtHost } from "./host-places.ts";
import { type MachineFacts, readMachineFacts } from "./machine-facts.ts";
import { compileProfile } from "./profile/compile-profile.ts";
import type { Compiled, Confinement } from "./profile/confinement.ts";
import { obtainRelay } from "./native-launcher.ts";
import { type ProfileTerms, recordedProfile } from "./recorded-profile.ts";
import { type Confined, type ConfinedOptions, spawnConfined } from "./spawn-confined.ts";
import type { TrapSet } from "./trap-set.ts";

export interface ProfileRules extends HostPlaces {
  readonly allow: readonly ExpandedRule[];
  /** Deny and ask rules, denials and built-in denies. */
  readonly withheld?: readonly ExpandedRule[] | undefined;
  readonly trapSet: TrapSet;
  /** `gateway`: connections are asked about; `spawn` then wants the options of a gateway. Absent: no network. */
  readonly network?: Confinement["network"] | undefined;
  /** Sallyport's own folders: hidden from every program. */
  readonly ownPlaces?: readonly string[] | undefined;
}

export interface Sandbox {
  readonly facts: MachineFacts;
  compile(rules: ProfileRules): Compiled;
  /** What would be on record of a program that is started so. */
  profile(confinement: Confinement, terms: ProfileTerms): SandboxProfile;
  /** The program that gives a confined one a terminal of its own. */
  terminalRelay(): Promise<string>;
  spawn(command: string, args: readonly string[], options: ConfinedOptions): Confined;
}

export async function openSandbox(): Promise<Sandbox> {
  const facts = await readMachineFacts();
  const { launcher, rung, wall, findings } = facts;
  if (rung !== "complete" || launcher === undefined) {
    const reasons = findings.filter(({ ok }) => !ok).map(({ message }) => message);
    throw new SandboxError("sandbox_unavailable", `no sandbox here: ${reasons.join("; ")}`);
  }
  return Object.freeze<Sandbox>({
    facts,
    compile: ({ allow, withheld = [], trapSet, network, ownPlaces = [], ...places }) =>
      compileProfile({ allow, withheld, trapSet, wall, network, ownPlaces, ...lookAtHost(places) }),
    profile: recordedProfile,
    terminalRelay: () => obtainRelay(),
    spawn: (command, args, options) => spawnConfined(launcher, command, args, options),
  });
}
