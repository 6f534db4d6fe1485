/**
 * The border of the private realm as its host sees it: protocol and packed verdicts. The inside is `entry.ts`, which
 * nobody imports; it is bundled into a script.
 */
export { type PlainVerdict, UNAVAILABLE, isAllowed, packVerdict, unpackVerdict } from "./packed-verdict.ts";
export { ASK, type Applied, type Border, type Extras, NO_ANSWER, OP } from "./protocol.ts";
