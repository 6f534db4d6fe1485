/** Ids of users and organizations as people write them: `7` is a number, `"7"` a text that looks like one. */

const isNumber = (text: string): boolean => /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text));

export const principalText = (id: number | string): string =>
  typeof id === "string" && (isNumber(id) || /^".*"$/.test(id)) ? `"${id}"` : String(id);

/** `undefined` where nothing is written. */
export function principalOf(text: string): number | string | undefined {
  const given = text.trim();
  if (given === "") return undefined;
  if (isNumber(given)) return Number(given);
  return given.length > 2 && given.startsWith('"') && given.endsWith('"') ? given.slice(1, -1) : given;
}
