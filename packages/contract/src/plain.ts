/**
 * The part of the vocabulary that stands on no schema, for code that has to start quickly.
 */
export { FAULT_CODES } from "./parsed.ts";
