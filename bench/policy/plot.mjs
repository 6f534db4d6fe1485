// @ts-check
/**
 * Purpose: cost of one check against number of rules, as an SVG that needs nothing else: no fonts, no script, its own
 * white panel, so that it reads the same on light and dark pages. Both axes are logarithmic.
 */
import { grouped, time } from "../harness/output.mjs";

/**
 * @typedef {import("./report.mjs").Findings} Findings
 * @typedef {{ size: number, ns: number }} Point
 * @typedef {{ label: string, note: string, colour: string, isOwn: boolean, points: Point[] }} Line
 */

const WIDTH = 960;
const HEIGHT = 600;
const PANEL = { left: 84, right: 690, top: 92, bottom: 520 };
const LABEL_GAP = 19;
const FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";

/** Colours have a contrast of at least 4.5 on white. */
const STYLES = Object.freeze([
  { id: "sallyport", label: "Sallyport, first sight", colour: "#0b57d0", isOwn: true },
  { id: "sallyport-repeated", label: "Sallyport, repeated", colour: "#0b57d0", isOwn: true },
  { id: "node-permission", label: "Node --permission", colour: "#2e7d32", isOwn: false },
  { id: "casl", label: "CASL, functions", colour: "#b3261e", isOwn: false },
  { id: "casl-mongo", label: "CASL, $regex", colour: "#c2410c", isOwn: false },
  { id: "casbin-sharded", label: "casbin, sharded", colour: "#7b1fa2", isOwn: false },
  { id: "cedar", label: "Cedar, sharded", colour: "#00707a", isOwn: false },
  { id: "oso", label: "oso", colour: "#8a6100", isOwn: false },
  { id: "role-acl", label: "role-acl", colour: "#ad1457", isOwn: false },
  { id: "casbin", label: "casbin", colour: "#5e35b1", isOwn: false },
]);

/** @param {Findings} findings @returns {Line[]} */
function linesOf({ comparisons, permissions }) {
  const all = [...comparisons, ...permissions];
  return STYLES.flatMap(({ id, label, colour, isOwn }) => {
    const points = all.flatMap(({ size, rows }) =>
      rows.filter((row) => row.id === id).map(({ ns }) => ({ size, ns })),
    );
    points.sort((left, right) => left.size - right.size);
    const last = points.at(-1);
    return last === undefined ? [] : [{ label, note: time(last.ns), colour, isOwn, points }];
  });
}

/** @param {number} low @param {number} high @returns {number[]} powers of ten from at most `low` to at least `high` */
function decades(low, high) {
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.ceil(Math.log10(high) - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
}

/** @param {readonly number[]} ticks @param {number} from @param {number} to @returns {(value: number) => number} */
function logScale(ticks, from, to) {
  const low = Math.log10(ticks[0] ?? 1);
  const span = Math.log10(ticks.at(-1) ?? 10) - low || 1;
  return (value) => from + ((Math.log10(value) - low) / span) * (to - from);
}

/**
 * Pushes labels apart, from the top down and then back up from the bottom.
 * @param {number[]} wanted ascending @returns {number[]}
 */
function spreadOut(wanted) {
  const placed = [...wanted];
  for (let at = 1; at < placed.length; at++) {
    placed[at] = Math.max(placed[at] ?? 0, (placed[at - 1] ?? 0) + LABEL_GAP);
  }
  let ceiling = PANEL.bottom + 6;
  for (let at = placed.length - 1; at >= 0; at--) {
    placed[at] = Math.min(placed[at] ?? 0, ceiling);
    ceiling = (placed[at] ?? 0) - LABEL_GAP;
  }
  return placed;
}

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** @param {number} value */
const at = (value) => value.toFixed(1);

/** @param {number} x @param {number} y @param {string} text @param {string} [attributes] */
const write = (x, y, text, attributes = "") =>
  `<text x="${at(x)}" y="${at(y)}" ${attributes}>${escaped(text)}</text>`;

/** @param {readonly number[]} xs @param {readonly number[]} ys @param {(v: number) => number} x @param {(v: number) => number} y */
function drawGrid(xs, ys, x, y) {
  const { left, right, top, bottom } = PANEL;
  return [
    ...ys.map((tick) => `<path class="grid" d="M${left} ${at(y(tick))}H${right}"/>`),
    ...xs.map((tick) => `<path class="grid" d="M${at(x(tick))} ${top}V${bottom}"/>`),
    ...ys.map((tick) => write(left - 10, y(tick) + 4, tickTime(tick), 'class="tick" text-anchor="end"')),
    ...xs.map((tick) => write(x(tick), bottom + 20, grouped(tick), 'class="tick" text-anchor="middle"')),
    write((left + right) / 2, bottom + 44, "number of rules", 'class="axis" text-anchor="middle"'),
  ];
}

/** @param {number} ns */
function tickTime(ns) {
  if (ns < 1e3) return `${ns} ns`;
  if (ns < 1e6) return `${ns / 1e3} µs`;
  return ns < 1e9 ? `${ns / 1e6} ms` : `${ns / 1e9} s`;
}

/** @param {Line} line @param {(v: number) => number} x @param {(v: number) => number} y */
function drawLine({ colour, isOwn, points }, x, y) {
  const path = points.map(({ size, ns }, index) => `${index === 0 ? "M" : "L"}${at(x(size))} ${at(y(ns))}`);
  const dots = points.map(
    ({ size, ns }) =>
      `<circle cx="${at(x(size))}" cy="${at(y(ns))}" r="${isOwn ? 4 : 2.75}" fill="${colour}"/>`,
  );
  return [
    `<path d="${path.join("")}" fill="none" stroke="${colour}" stroke-width="${isOwn ? 3.5 : 1.75}" stroke-linejoin="round"/>`,
    ...dots,
  ];
}

/** Labels stand to the right of the panel; a thin leader joins each with the end of its line. @param {Line[]} lines @param {(v: number) => number} x @param {(v: number) => number} y */
function drawLabels(lines, x, y) {
  const ends = lines
    .map((line) => ({ line, end: /** @type {Point} */ (line.points.at(-1)) }))
    .toSorted((left, right) => right.end.ns - left.end.ns);
  const places = spreadOut(ends.map(({ end }) => y(end.ns)));
  const labelX = PANEL.right + 26;
  return ends.flatMap(({ line, end }, index) => {
    const place = places[index] ?? 0;
    const weight = line.isOwn ? ' font-weight="700"' : "";
    const leader = `M${at(x(end.size) + 7)} ${at(y(end.ns))}L${at(labelX - 5)} ${at(place)}`;
    return [
      `<path d="${leader}" fill="none" stroke="${line.colour}" stroke-width="0.75" stroke-dasharray="2 3"/>`,
      `<text x="${labelX}" y="${at(place + 4.5)}" class="label" fill="${line.colour}"${weight}>${escaped(line.label)}` +
        `<tspan class="note" dx="7">${escaped(line.note)}</tspan></text>`,
    ];
  });
}

/** @param {Findings} findings @returns {string} */
export function drawPlot(findings) {
  const lines = linesOf(findings);
  const points = lines.flatMap((line) => line.points);
  const xs = decades(
    Math.min(...points.map(({ size }) => size)),
    Math.max(...points.map(({ size }) => size)),
  );
  const ys = decades(Math.min(...points.map(({ ns }) => ns)), Math.max(...points.map(({ ns }) => ns)));
  const x = logScale(xs, PANEL.left + 14, PANEL.right - 14);
  const y = logScale(ys, PANEL.bottom, PANEL.top);
  const foot = `Node ${process.versions.node}. Fastest window of each engine, engines in turns; 20 000 distinct targets, 70 % allowed, 50 subjects. Node --permission: path rules only.`;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title description" font-family="${FONT}">`,
    `<title id="title">Cost of one policy check against the number of rules</title>`,
    `<desc id="description">${escaped(lines.map(({ label, points: own }) => `${label}: ${own.map(({ size, ns }) => `${time(ns)} at ${grouped(size)}`).join(", ")}`).join(". "))}.</desc>`,
    "<style>.grid{stroke:#dfe3e8;stroke-width:1;fill:none}.tick{font-size:12px;fill:#4a5560}.axis{font-size:13px;fill:#3a444e}.label{font-size:13.5px}.note{font-size:12px;font-weight:400;fill:#4a5560}</style>",
    `<rect x="0.5" y="0.5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="10" fill="#ffffff" stroke="#d0d7de"/>`,
    write(
      28,
      38,
      "What one policy check costs as rules are added",
      'font-size="20" font-weight="700" fill="#1b2127"',
    ),
    write(
      28,
      62,
      "Time per check, logarithmic; lower is better. Labels give the cost at the right end of each line.",
      'font-size="13.5" fill="#4a5560"',
    ),
    ...drawGrid(xs, ys, x, y),
    ...lines
      .toSorted((left, right) => Number(left.isOwn) - Number(right.isOwn))
      .flatMap((line) => drawLine(line, x, y)),
    ...drawLabels(lines, x, y),
    write(28, HEIGHT - 14, foot, 'font-size="11.5" fill="#5b6670"'),
    "</svg>",
  ].join("\n")}\n`;
}
