/** What the tests of one file ask: a `sallyport up` of their own, started before the first and gone after the last. */
import { afterAll, beforeAll } from "vitest";
import { type BundledCli, bundleCli } from "./cli-process.ts";
import { type GatedPrograms, buildPrograms } from "./gated-children.ts";
import { type RunningOwner, startOwner } from "./running-owner.ts";

export interface OwnerOfFile {
  readonly cli: BundledCli;
  readonly programs: GatedPrograms;
  readonly owner: RunningOwner;
}

export function ownerOfFile(take: (started: OwnerOfFile) => void): void {
  const ends: (() => void | Promise<void>)[] = [];
  beforeAll(async () => {
    const [cli, programs] = await Promise.all([bundleCli(), buildPrograms()]);
    ends.push(() => (cli.remove(), programs.remove()));
    const owner = await startOwner(cli);
    ends.unshift(() => owner.remove());
    take({ cli, programs, owner });
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
}
