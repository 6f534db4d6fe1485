// @ts-check
/** Purpose: the program that is measured: file calls, as often as each line of its input says. Runs in Node and in Deno. */
import { accessSync, closeSync, existsSync, openSync, readFileSync, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import process from "node:process";
import { createInterface } from "node:readline";

/** @type {Readonly<Record<string, (file: string) => unknown>>} */
const SYNC = {
  readFileSync: (file) => readFileSync(file),
  statSync: (file) => statSync(file),
  existsSync: (file) => existsSync(file),
  openSync: (file) => closeSync(openSync(file, "r")),
  accessSync: (file) => accessSync(file),
};
/** @type {Readonly<Record<string, (file: string) => Promise<unknown>>>} */
const ASYNC = { readFile: (file) => readFile(file), stat: (file) => stat(file) };

/** @param {{ call: string, file: string, times: number }} words @returns {Promise<number>} nanoseconds for one call */
async function measure({ call, file, times }) {
  const sync = SYNC[call];
  // WHY fewer: they take a hundred times as long, and no gate is about them.
  const turns = sync === undefined ? Math.ceil(times / 10) : times;
  const started = process.hrtime.bigint();
  if (sync === undefined) for (let time = 0; time < turns; time++) await ASYNC[call]?.(file);
  else for (let time = 0; time < turns; time++) sync(file);
  return Number(process.hrtime.bigint() - started) / turns;
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await measure(JSON.parse(line)))}\n`);
