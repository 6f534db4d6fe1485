/** What the crash tests and their child share. */
import type { AccessStore } from "@sallyport/store";
import { openPostgresStore } from "@sallyport/store/postgres";
import type { NodeClock } from "../node-clock.ts";
import { type Fixture, openFixture, receive } from "./service-fixture.ts";

export const CRASH_TARGET = receive("https://unknown.example.com/a");

/** Where a crash is tried out: a folder for files and, where it is not in there, the store. */
export interface CrashPlace {
  readonly folder: string;
  /** `null`: SQLite in the folder. */
  readonly url: string | null;
}

export interface CrashFixtureOptions {
  readonly wrap?: (store: AccessStore) => AccessStore;
  /** Called by the resume action when it begins and when it is done. */
  readonly ran?: (line: "begin" | "done") => void;
  readonly clock?: NodeClock;
}

export async function crashFixture(
  { folder, url }: CrashPlace,
  { wrap, ran, clock }: CrashFixtureOptions = {},
): Promise<Fixture> {
  const opened = url === null ? undefined : await openPostgresStore({ url, connectionsMax: 2 });
  // WHY: nothing but the thing that is tried may call the store; and nobody shall wait long for the lease of the dead.
  const quiet = { beatMs: 600_000, batchAgeMs: 600_000, leaseMs: 600_000, limits: { jobLeaseMs: 300 } };
  const fixture = await openFixture({ folder, opened, wrap, clock, ...quiet });
  fixture.actions.register({
    name: "demo.resume",
    module: "demo",
    handler: async () => {
      ran?.("begin");
      await Promise.resolve();
      ran?.("done");
    },
  });
  return fixture;
}
