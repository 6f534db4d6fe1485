/**
 * Methods of shared prototypes, replaced and put back. What somebody else put over ours is left alone.
 */
import { defineProperty, getOwnPropertyDescriptor } from "./captured.ts";

export interface Replacement {
  readonly holder: object;
  readonly name: string;
  readonly method: (...args: never[]) => unknown;
  /** Is not put back. */
  readonly stays?: boolean;
}

/** Returns what puts them back. */
export function replaceMethods(replacements: readonly Replacement[]): () => void {
  const before = replacements.map(({ holder, name, method }) => {
    const descriptor = getOwnPropertyDescriptor(holder, name) as PropertyDescriptor;
    const native = descriptor.value as { readonly name: string; readonly length: number };
    dress(method, "name", native.name);
    dress(method, "length", native.length);
    defineProperty(holder, name, { ...descriptor, value: method });
    return descriptor;
  });
  return () => {
    replacements.forEach(({ holder, name, method, stays }, index) => {
      const now = getOwnPropertyDescriptor(holder, name);
      const then = before[index];
      if (now?.value === method && then !== undefined && stays !== true) defineProperty(holder, name, then);
    });
  };
}

function dress(method: object, key: "name" | "length", value: string | number): void {
  defineProperty(method, key, { value, writable: false, enumerable: false, configurable: true });
}
