/**
 * The bounds of the gate: what one side may make the other one hold or wait for. Both sides enforce them.
 */

/** Raised whenever a message changes; the two sides come from one installation and must be equal. */
export const PROTOCOL_VERSION = 4;

/** A question with its resume context, escaped as badly as possible. */
export const CHILD_FRAME_BYTES_MAX = 256 * 1024;
/** One fact may be a whole manifest. */
export const SERVICE_FRAME_BYTES_MAX = 8 * 1024 * 1024;
/** Facts are sent in parts of about this size. */
export const FACTS_PART_BYTES = 256 * 1024;

export const LEASE_MS = 2000;
export const HEARTBEAT_MS = 500;
/** From the first byte of a frame to its last. */
export const FRAME_MS = 5000;
/** From the socket to the hello. WHY long: on a busy machine several threads and programs start at once. */
export const HELLO_MS = 30_000;

/** Questions under way that end by themselves; at this number the service stops reading. */
export const OPEN_ASKS_MAX = 64;
/** Questions that wait for a person; one more is answered without waiting. */
export const WAITS_MAX = 256;
/** What the service holds for a child that does not read. */
export const OUTBOUND_BYTES_MAX = 4 * 1024 * 1024;

export const TARGET_LENGTH_MAX = 16_384;
export const TEXT_LENGTH_MAX = 1024;
export const RESUME_CONTEXT_LENGTH_MAX = 65_536;
export const ALIASES_MAX = 64;
export const ENTERED_MAX = 16;
export const EVENTS_MAX = 100;

/** Subjects that one process may run beside each other. */
export const HOSTED_MAX = 256;
/** Sensitive imports that a child may use. */
export const IMPORTS_MAX = 64;
/** Programs that one child has started and that still run. */
export const BRANCHES_MAX = 256;
/** One chunk of a branch, and its text. */
export const BRANCH_CHUNK_BYTES = 49_152;
export const BRANCH_TEXT_MAX = 65_536;
