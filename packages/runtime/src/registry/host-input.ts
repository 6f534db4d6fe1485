/**
 * Arguments of the host, read once: own properties only, since a polluted prototype must not configure anything.
 * Never throws because of a getter or a proxy.
 */

/** An own property, or `undefined`. */
export function ownField<T extends object, K extends keyof T>(from: T, key: K): T[K] | undefined {
  return Object.hasOwn(from, key) ? from[key] : undefined;
}

export type ConfigCopy = Readonly<Record<string, unknown>>;

/** WHY: an object is no URL; this one stands for every value that is not plain, so that nothing can change it later. */
const NOT_PLAIN = Object.freeze({});

/** A configuration as it is now; what cannot be read is not there. */
export function copyConfig(config: unknown): ConfigCopy {
  const copy = Object.create(null) as Record<string, unknown>;
  try {
    if (typeof config !== "object" || config === null) return Object.freeze(copy);
    for (const key of Object.keys(config)) {
      const value = (config as Readonly<Record<string, unknown>>)[key];
      copy[key] = typeof value === "object" || typeof value === "function" ? notPlain(value) : value;
    }
  } catch {
    // WHY: half a configuration was configured by nobody.
    return Object.freeze(Object.create(null) as Record<string, unknown>);
  }
  return Object.freeze(copy);
}

function notPlain(value: unknown): unknown {
  return value === null ? null : NOT_PLAIN;
}

/** The texts of a list; `undefined` where it is no list of texts. */
export function copyTexts(list: unknown): readonly string[] | undefined {
  try {
    if (!Array.isArray(list)) return undefined;
    const copy: string[] = [];
    for (let index = 0; index < list.length; index++) {
      const text: unknown = list[index];
      if (typeof text !== "string") return undefined;
      copy.push(text);
    }
    return Object.freeze(copy);
  } catch {
    return undefined;
  }
}
