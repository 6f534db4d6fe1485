/** A span of time in at most two units, as people say it: rounded to the smaller one, so that a week is "7 d". */

const UNITS = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

const unitOf = (span: number): number => UNITS.findIndex(([, size]) => span >= size);

export function spanText(seconds: number): string {
  const given = Math.max(0, Math.floor(seconds));
  const first = unitOf(given);
  if (first < 0) return "0 s";
  // WHY looked for again: what is rounded up may be a whole unit more.
  const span = rounded(given, smallerUnit(first));
  const index = unitOf(span);
  const [unit, size] = UNITS[index] ?? UNITS[3];
  const whole = `${Math.floor(span / size)} ${unit}`;
  const [restUnit, restSize] = UNITS[smallerUnit(index)] ?? UNITS[3];
  const rest = Math.floor((span % size) / restSize);
  return rest === 0 ? whole : `${whole} ${rest} ${restUnit}`;
}

/** Days are said with hours, and hours with minutes; minutes and seconds alone. */
const smallerUnit = (index: number): number => (index < 2 ? index + 1 : index);

function rounded(span: number, index: number): number {
  const size = UNITS[index]?.[1] ?? 1;
  return Math.round(span / size) * size;
}
