/** A span of time in at most two units, as people say it. */

const UNITS = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

export function spanText(seconds: number): string {
  const span = Math.max(0, Math.floor(seconds));
  const index = UNITS.findIndex(([, size]) => span >= size);
  if (index < 0) return "0 s";
  const [unit, size] = UNITS[index] ?? UNITS[3];
  const next = UNITS[index + 1];
  const rest = next === undefined ? 0 : Math.floor((span % size) / next[1]);
  return next === undefined || rest === 0 || index === 2
    ? `${Math.floor(span / size)} ${unit}`
    : `${Math.floor(span / size)} ${unit} ${rest} ${next[0]}`;
}
