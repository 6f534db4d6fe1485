// @ts-check
/** Purpose: the one look of every command's terminal output. Colour only on a terminal. */

const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
const colourful = FORCE_COLOR ? FORCE_COLOR !== "0" : process.stdout.isTTY && !NO_COLOR && TERM !== "dumb";

/** @param {number} code @returns {(text: string) => string} */
const sgr = (code) => (text) => (colourful ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = sgr(1);
export const dim = sgr(2);
export const red = sgr(31);
export const green = sgr(32);
export const cyan = sgr(36);

export const tick = green("✔");
export const cross = red("✘");

/** @param {number} ms */
export function duration(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** One stage of a longer command begins. On stderr: what a command prints for machines stays clean. @param {string} text */
export function heading(text) {
  console.error(`${cyan("▸")} ${bold(text)}`);
}

/** @param {string} text @param {string} [prefix] */
export function indent(text, prefix = "    ") {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => (line === "" ? line : prefix + line))
    .join("\n");
}
