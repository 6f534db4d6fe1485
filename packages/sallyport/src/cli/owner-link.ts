/**
 * The way of a command to the owner of a data folder: over its admin socket where one runs, else by owning the folder for
 * as long as the command takes. Never opens a store that somebody else owns, and never makes a folder for a question.
 */
import { statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { type AdminClient, createAdminClient } from "@sallyport/client/admin";
import { CliFault } from "./cli-fault.ts";
import type { CommandLine, CommonOptions } from "./command-line.ts";
import { adminSocketOf } from "../data-folder.ts";
import { dataFolderOf } from "./data-place.ts";
import { openQuietOwner } from "./owner.ts";
import { SOCKET_ORIGIN, socketFetch, tryingSocket } from "./socket-fetch.ts";

const TRIES_MAX = 50;
const BETWEEN_MS = 100;

export async function withOwner<T>(
  cli: Pick<CommandLine, "env" | "cwd">,
  options: CommonOptions,
  work: (admin: AdminClient) => Promise<T>,
): Promise<T> {
  const folder = dataFolderOf(cli, options);
  mustExist(folder);
  const socket = adminSocketOf(folder);
  for (let tries = 0; ; tries++) {
    switch (await tryingSocket(socket)) {
      case "answers":
        return work(createAdminClient({ origin: SOCKET_ORIGIN, fetch: socketFetch(socket) }));
      case "closed":
        throw new CliFault({
          exit: "no_authority",
          message: `the admin socket of \`${folder}\` is not open to this user`,
          next: "run the command as the user who started `sallyport up`",
        });
      case "nobody": {
        const owner = await openQuietOwner(folder).catch((error: unknown) => ownedBySomebody(error, tries));
        if (owner === undefined) {
          // WHY: an owner that has just started listens in a moment, one that goes frees the store in a moment.
          await pause(BETWEEN_MS);
          continue;
        }
        try {
          return await work(owner.admin);
        } finally {
          await owner.close();
        }
      }
    }
  }
}

function ownedBySomebody(error: unknown, tries: number): undefined {
  if ((error as { readonly code?: unknown }).code !== "store_owned") throw error;
  if (tries < TRIES_MAX) return undefined;
  throw new CliFault({
    exit: "unavailable",
    code: "store_owned",
    message: (error as Error).message,
    next: "that process has no admin socket in the data folder: stop it, or decide inside of it",
  });
}

function mustExist(folder: string): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return;
  throw new CliFault({
    exit: "not_found",
    message: `there is no data folder at \`${folder}\``,
    next: "`sallyport up` makes one; `--data` or SALLYPORT_DATA names another",
  });
}
