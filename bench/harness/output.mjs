// @ts-check
/** Purpose: figures, gates and progress as a person reads them, and the head of the JSON document. */
import { cross, dim, duration, tick } from "../../tools/paint.mjs";

/** @typedef {import("./gates.mjs").Outcome} Outcome */

/** @param {number} value */
export const threeDigits = (value) =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);

/** @param {number} ns */
export function time(ns) {
  if (ns < 1000) return `${ns >= 100 ? ns.toFixed(0) : threeDigits(ns)} ns`;
  if (ns < 1e6) return `${threeDigits(ns / 1e3)} µs`;
  return `${threeDigits(ns / 1e6)} ms`;
}

/** @param {number} count */
export const grouped = (count) => `${count}`.replace(/\B(?=(?:\d{3})+$)/g, " ");

/** What goes on now, on stderr. @param {string} text */
export const progress = (text) => console.error(dim(`${duration(performance.now()).padStart(10)}  ${text}`));

/** @param {Outcome} outcome */
export function gateLine({ name, bound, gate, goal, unit, value, ok }) {
  const mark = ok === null ? dim("–") : ok ? tick : cross;
  const shown =
    value === null
      ? "not measured"
      : `${value >= 1e4 ? grouped(Math.round(value)) : threeDigits(value)}${unit}`;
  const due = gate >= 1e4 ? grouped(gate) : `${gate}`;
  return `${mark} ${name.padEnd(GATE_WIDTH)}${shown.padStart(16)}   ${dim(`gate ${bound} ${due}, goal ${goal}`)}`;
}

const GATE_WIDTH = 60;

/** @param {string} bench @param {{ ok: boolean, quick: boolean }} outcome */
export function documentHead(bench, { ok, quick }) {
  const { version, arch, platform } = process;
  return { bench, ok, quick, node: version, platform: `${platform}-${arch}` };
}
