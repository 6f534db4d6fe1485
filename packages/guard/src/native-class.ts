/**
 * Classes of Node's inside that no module exports. Whoever has an instance has its class, and with it methods that ask nobody;
 * so these are guarded before the program runs, and not when the first instance shows the class: then somebody may have them.
 */
import process from "node:process";
import { quietly } from "./captured.ts";

interface Internals {
  binding(name: string): Readonly<Record<string, { readonly prototype?: object } | undefined>>;
}

/** The prototype of a native class; `undefined` where Node hands out no internals, or there is none of this name. */
export function nativePrototype(module: string, name: string): object | undefined {
  return quietly(() => {
    try {
      return (process as unknown as Internals).binding(module)[name]?.prototype;
    } catch {
      // WHY: Node's own permission model hands out none.
      return undefined;
    }
  });
}
