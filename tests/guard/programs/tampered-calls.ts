/**
 * Guarded calls while every built-in that can be replaced is a hostile version. Says for each call what became of it: the
 * text that was read, the code of the check, or that it failed otherwise.
 * INVARIANT: between `tamper` and `restore` only operators and own copies are used.
 */
import buffer from "node:buffer";
import events from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import stream from "node:stream";
import url from "node:url";
import util from "node:util";
import {
  type Hostility,
  hiddenIntrinsics,
  tamper,
} from "../../../packages/gate/src/testing/hostile-surroundings.ts";

const places = JSON.parse(process.argv[2] ?? "{}") as Record<"reads" | "all" | "secret", string>;
const port = Number(process.env["CLOSED_PORT"]);
const { accessSync, existsSync, openSync, readFileSync, readdirSync, statSync } = fs;
const { closeSync, copyFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } = fs;
const { connect } = net;
const { deleteProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;
const PROTOTYPES = [
  Object.prototype,
  Array.prototype,
  String.prototype,
  Function.prototype,
  Number.prototype,
];
const NAMES = PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype));
const declared = `${places.reads}/a.txt`;
const secret = `${places.secret}/a.txt`;
const roundabout = `${places.reads}/../secret/a.txt`;

/** WHY an array: it is filled in advance, so that no setter of a prototype is asked. */
const CALLS: readonly (readonly [name: string, call: () => unknown])[] = [
  ["read what is declared", () => readFileSync(declared, "utf8")],
  ["look for what is declared", () => existsSync(declared)],
  ["stat what is declared", () => statSync(declared) !== undefined],
  ["open what is declared", () => closeSync(openSync(declared, "r"))],
  ["read", () => readFileSync(secret, "utf8")],
  ["read bytes", () => readFileSync(secret)],
  ["read by a detour", () => readFileSync(roundabout, "utf8")],
  ["read through a link", () => readFileSync(`${places.all}/link`, "utf8")],
  ["look for", () => existsSync(secret)],
  ["stat", () => statSync(secret)],
  ["access", () => accessSync(secret)],
  ["list", () => readdirSync(places.secret)],
  ["open", () => openSync(secret, "r")],
  ["write", () => writeFileSync(`${places.secret}/new.txt`, "x")],
  ["copy out", () => copyFileSync(secret, `${places.all}/copy.txt`)],
  ["rename out", () => renameSync(secret, `${places.all}/moved.txt`)],
  ["link into", () => symlinkSync(declared, `${places.secret}/link`)],
  ["remove", () => unlinkSync(secret)],
  ["connect", () => connect(port, "127.0.0.1")],
];

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "failed";
  const check: unknown = getOwnPropertyDescriptor(error, "check")?.value;
  if (typeof check !== "object" || check === null) return "failed";
  const code: unknown = getOwnPropertyDescriptor(check, "code")?.value;
  return typeof code === "string" ? code : "failed";
}

function callAll(said: unknown[]): void {
  for (let index = 0; index < CALLS.length; index++) {
    const call = (CALLS[index] as (typeof CALLS)[number])[1];
    try {
      said[index] = call();
    } catch (error) {
      said[index] = codeOf(error);
    }
  }
}

/** Takes the names away that the tampering has put on prototypes: Node's own functions fail with most of them. */
function clean(): void {
  for (let index = 0; index < PROTOTYPES.length; index++) {
    const prototype = PROTOTYPES[index] as object;
    const names = ownKeys(prototype);
    const known = NAMES[index] as readonly PropertyKey[];
    for (let name = 0; name < names.length; name++) {
      let isKnown = false;
      for (let at = 0; at < known.length; at++) if (known[at] === names[name]) isKnown = true;
      if (!isKnown) deleteProperty(prototype, names[name] as PropertyKey);
    }
  }
}

const modules = [buffer, events, fs, net, path, stream, url, util, net.Socket.prototype, fs.Stats.prototype];
const roots = [globalThis, ...hiddenIntrinsics(), ...modules];
const hostility = process.env["HOSTILITY"] as Hostility;
const isLeftOut = (value: object): boolean => value === process.env;

symlinkSync(places.secret + "/a.txt", `${places.all}/link`);
const [before, during] = [CALLS.map((): unknown => ""), CALLS.map((): unknown => "")];
callAll(before);
const tampering = tamper(hostility, roots, isLeftOut);
clean();
callAll(during);
tampering.restore();
const told = (said: readonly unknown[]): object =>
  Object.fromEntries(
    CALLS.map(([name], index) => {
      const value = said[index];
      return [name, typeof value === "object" && value !== null ? "something" : (value ?? "done")];
    }),
  );
for (const value of [...before, ...during])
  if (value instanceof net.Socket) value.on("error", () => undefined);
process.stdout.write(
  JSON.stringify({ replaced: tampering.replaced, before: told(before), during: told(during) }),
);
// WHY: what was begun while everything was hostile may hang; the peers say whether it got anywhere.
setTimeout(() => process.exit(0), 500);
