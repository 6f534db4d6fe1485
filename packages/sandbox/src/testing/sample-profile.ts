/** One profile for tests that need any: a made-up machine, so that nothing depends on this one. */
import { type ProfileInput, compileProfile } from "../profile/compile-profile.ts";
import type { Confinement } from "../profile/confinement.ts";
import type { TrapSet } from "../trap-set.ts";

export const SAMPLE_MACHINE: ProfileInput = {
  allow: [],
  withheld: [],
  trapSet: "all",
  wall: { landlockVersion: 7, hasNamespaces: true, hasNotification: true, hasCapture: true },
  systemReads: ["/usr/", "/etc/ld.so.cache"],
  programPaths: (name) => (name === "git" ? ["/usr/bin/git"] : []),
  kindOf: (path) => (path.includes("missing") ? "missing" : /\.\w+$|bin\//.test(path) ? "file" : "directory"),
  secretPlaces: ["/users/ann/.ssh"],
  ownPlaces: ["/var/sallyport"],
};

export function sampleConfinement(trapSet: TrapSet): Confinement {
  const compiled = compileProfile({
    ...SAMPLE_MACHINE,
    trapSet,
    allow: (["read", "create", "modify", "delete"] as const).map((operation) => ({
      resourceType: "filesystem",
      operation,
      target: "/data/",
    })),
  });
  if (!compiled.ok) throw new Error(compiled.faults.map(({ message }) => message).join("\n"));
  return compiled.confinement;
}
