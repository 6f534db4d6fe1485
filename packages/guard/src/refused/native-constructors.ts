/**
 * Constructors of classes of Node's inside. Whoever has an object of such a class has its constructor, and some take a number, a
 * folder or a program that nobody has decided on. They are refused; Node's own code does not look them up there.
 * Before the program runs, or before it has the first object.
 */
import { bare, defineProperty, put } from "../captured.ts";
import { refusing } from "./refused-exports.ts";

export function refuseConstructor(prototype: object, name: string, why: string): void {
  const refused = refusing(name, why);
  defineProperty(refused, "name", bare({ value: name }));
  put(prototype, "constructor", refused, false);
}
