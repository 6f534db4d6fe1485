// @ts-check
/**
 * Purpose: draws what a command prints on a terminal as an SVG, for the README.
 *
 *     node tools/terminal-picture.mjs docs/first-decision.svg examples/first-decision/run.mjs --answer session
 *
 * Runs the script with colours forced; knows the few colours of `paint.mjs`.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

const [output, ...command] = process.argv.slice(2);
if (output === undefined || command.length === 0) {
  console.error("usage: node tools/terminal-picture.mjs OUT.svg SCRIPT [ARGS]");
  process.exit(2);
}

const LINE_PX = 20;
const COLUMN_PX = 8.43;
const COLOURS = new Map([
  [0, ""],
  [1, "font-weight:700;fill:#f4f5f7"],
  [2, "fill:#8b93a1"],
  [31, "fill:#ff7b72"],
  [32, "fill:#56d364"],
  [36, "fill:#76c7ff"],
]);

const printed = execFileSync(process.execPath, command, {
  encoding: "utf8",
  env: { ...process.env, FORCE_COLOR: "1", NO_COLOR: undefined, TERM: "xterm-256color" },
});
const lines = printed.trim().split("\n");
const columns = Math.max(...lines.map((line) => line.replaceAll(/\u001b\[\d+m/g, "").length));
const [width, height] = [Math.ceil(columns * COLUMN_PX) + 48, lines.length * LINE_PX + 64];
writeFileSync(output, picture());

function picture() {
  const rows = lines.map((line, index) => `<text x="24" y="${58 + index * LINE_PX}">${spans(line)}</text>`);
  const dots = ["#ff5f57", "#febc2e", "#28c840"].map(
    (colour, index) => `<circle cx="${24 + index * 18}" cy="20" r="6" fill="${colour}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="What the command prints">
<rect width="${width}" height="${height}" rx="10" fill="#14171c"/>
${dots.join("")}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#d5d9e0" xml:space="preserve">
${rows.join("\n")}
</g>
</svg>
`;
}

/** @param {string} line */
function spans(line) {
  let style = "";
  return line
    .split(/(\u001b\[\d+m)/)
    .map((part) => {
      const code = /^\u001b\[(\d+)m$/.exec(part)?.[1];
      if (code === undefined) return part === "" ? "" : `<tspan style="${style}">${escaped(part)}</tspan>`;
      style = COLOURS.get(Number(code)) ?? "";
      return "";
    })
    .join("");
}

/** @param {string} text */
function escaped(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(" ", "\u00a0");
}
