/** What a test file stands on for all of its tests: made before the first, gone after the last, also where making it failed. */
import { afterAll, beforeAll } from "vitest";
import { type GuardedWorld, type Preload, buildPreload } from "./guarded-process.ts";

/** The preload, for files that open a world for each test. */
export function preloadOfFile(): Pick<Preload, "file"> {
  let built: Preload | undefined;
  beforeAll(async () => {
    built = await buildPreload();
  });
  afterAll(() => built?.remove());
  return {
    get file() {
      if (built === undefined) throw new Error("the preload is built before the first test: use it in one");
      return built.file;
    },
  };
}

/** The preload, and the world that is opened under it. */
export function worldOfFile(open: (preload: Pick<Preload, "file">) => Promise<GuardedWorld>): void {
  const preload = preloadOfFile();
  let world: GuardedWorld | undefined;
  beforeAll(async () => {
    world = await open(preload);
  });
  afterAll(() => world?.close());
}
