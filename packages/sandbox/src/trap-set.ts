/**
 * Trap sets: which operations of a program stop at the supervisor, so that a person can be asked about them.
 * `all`: reads too. `writes`: all but reads, which Landlock decides silently. `none`: Landlock decides everything.
 */
export const TRAP_SETS = ["all", "writes", "none"] as const;
export type TrapSet = (typeof TRAP_SETS)[number];
