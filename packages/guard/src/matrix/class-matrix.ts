/**
 * Every method, accessor and constructor of the classes that a program can reach, by what the guard does with it: of classes that
 * modules export, and of those that only an object leads to. `X.prototype` are its methods, `X` what the function itself holds,
 * `X.own` functions that each object holds; `native` is one of Node's inside. Symbols are written `@name`. A test walks from what
 * modules export, and from objects of every kind, and fails where a name is missing here.
 * Not walked, and harmless because they touch nothing outside by themselves: what the language has, `EventEmitter`, the classes of
 * `stream`, and globals of Node that compute. A stream calls the methods of who has inherited from it, and those are here.
 */
import type { Classified } from "../api-matrix.ts";
import { CLIENT_CLASSES } from "./client-classes.ts";
import { FILE_CLASSES } from "./file-classes.ts";
import { HELD_CLASSES } from "./held-classes.ts";
import { HTTP_CLASSES } from "./http-classes.ts";
import { NATIVE_CLASSES } from "./native-classes.ts";
import { NETWORK_CLASSES } from "./network-classes.ts";
import { PROCESS_CLASSES } from "./process-classes.ts";

export const CLASS_MATRIX: Readonly<Record<string, Classified>> = Object.freeze({
  ...FILE_CLASSES,
  ...NETWORK_CLASSES,
  ...HTTP_CLASSES,
  ...CLIENT_CLASSES,
  ...NATIVE_CLASSES,
  ...PROCESS_CLASSES,
  ...HELD_CLASSES,
});
