/**
 * The key ring that resume contexts are sealed with: what is in it, and a new key. The bytes of a key are never printed.
 */
import { statSync } from "node:fs";
import { open, rename, unlink } from "node:fs/promises";
import { type KeyRing, type RingPlace, loadKeyRing, rotateKeyRing, saveKeyRing } from "@sallyport/service";
import type { Command } from "commander";
import { CliFault } from "./cli-fault.ts";
import { type CommandLine, type CommonOptions, addLeaf } from "./command-line.ts";
import { dataFolderOf } from "./data-place.ts";
import { printTable } from "./table.ts";

export function addKeyCommands(group: Command, cli: CommandLine): void {
  addLeaf<CommonOptions>(group, cli, {
    name: "keys",
    description: "list the keys that resume contexts are sealed with, without their bytes",
    run: async (line, options) => tellKeys(line, options, await ringIn(placeOf(line, options))),
  });
  addLeaf<CommonOptions>(group, cli, {
    name: "rotate-key",
    description: "make a new key; the ones before still open what they sealed",
    run: async (line, options) => {
      const place = placeOf(line, options);
      const ring = rotateKeyRing(await ringIn(place), new Date().toISOString());
      await saveKeyRing(place, ring);
      tellKeys(line, options, ring);
      line.terminal.note("an owner that runs takes the new key when it is started again");
    },
  });
}

function placeOf(cli: CommandLine, options: CommonOptions): RingPlace {
  const folder = dataFolderOf(cli, options);
  if (statSync(folder, { throwIfNoEntry: false }) === undefined)
    throw new CliFault({
      exit: "not_found",
      message: `there is no data folder at \`${folder}\``,
      next: "`--data` or SALLYPORT_DATA names another",
    });
  return { files: { open, rename, unlink }, folder, name: "key-ring.json" };
}

async function ringIn(place: RingPlace): Promise<KeyRing> {
  const loaded = await loadKeyRing(place);
  if (loaded.ok === true) return loaded.ring;
  throw new CliFault({
    exit: loaded.ok === "missing" ? "not_found" : "failed",
    message: loaded.ok === "missing" ? "the data folder has no key ring" : loaded.message,
    next: "restore `key-ring.json` from a backup; without it stopped work cannot go on, and has to be asked for again",
  });
}

function tellKeys({ terminal }: CommandLine, { json }: CommonOptions, { keys }: KeyRing): void {
  if (json === true) {
    terminal.json({ keys: keys.map(({ id, state, createdAt }) => ({ id, state, created_at: createdAt })) });
    return;
  }
  printTable(
    terminal,
    [
      { heading: "ID", cell: ({ id }: KeyRing["keys"][number]) => id },
      { heading: "STATE", cell: ({ state }) => state },
      { heading: "MADE", cell: ({ createdAt }) => createdAt },
    ],
    keys,
  );
}
