// @ts-check
/** Purpose: what the bench asks of an engine, and where the engines of others are loaded from. */
import { createRequire } from "node:module";

/**
 * @typedef {import("../workload.mjs").Workload} Workload
 *
 * An engine that holds the rules of a workload.
 * @typedef {object} Loaded
 * @property {number} count how many queries it can be asked
 * @property {(at: number) => boolean} expected what the oracle says of one
 * @property {(from: number, to: number) => number | Promise<number>} ask asks these queries; how many were allowed
 * @property {() => void} [prepare] called before each window, outside the time that is taken
 * @property {() => void} [close]
 *
 * @typedef {object} Engine
 * @property {string} id
 * @property {string} label
 * @property {number} [sizeMax] the most rules that it is asked to hold
 * @property {(workload: Workload) => Loaded | Promise<Loaded>} load
 */

/** Loads a package of bench/peers, which has a lock of its own. */
export const requirePeer = createRequire(new URL("../../peers/package.json", import.meta.url));

/** The part of a loaded engine that every peer shares. @param {Workload} workload */
export const onAllQueries = ({ queries, expected }) => ({
  count: queries.length,
  expected: (/** @type {number} */ at) => expected[at] === true,
});
