/** One guarded process whose program runs several subjects, each with a folder and a URL of its own. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { guardLaunch } from "@sallyport/guard";
import type { SubjectInput } from "@sallyport/runtime";
import { ADMIN, MEMBER, adminCaller, entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import {
  ATTEMPTS,
  GUARDED,
  type GuardedWorld,
  type Preload,
  endOf,
  openWorld,
  resultsOf,
} from "./guarded-process.ts";

const ROOT = new URL("../../", import.meta.url);
const CHILD = new URL("packages/runtime/dist/child/index.js", ROOT).href;
const CODE_ROOTS = ["packages/", "node_modules/"].map((folder) => fileURLToPath(new URL(folder, ROOT)));

export interface Tenant {
  readonly type: "tool";
  readonly name: string;
}

export const tenant = (name: string): Tenant => ({ type: "tool", name: `guarded.${name}` });

export interface TenantWorld extends GuardedWorld {
  /** The folder that belongs to one of them: it may do everything there, and nothing anywhere else. */
  readonly folderOf: (name: string) => string;
}

type Entry = ReturnType<typeof entry>;

/** @param more what else one of them declares; the last is of the program itself */
export async function openTenants(
  preload: Pick<Preload, "file">,
  names: readonly string[],
  more: (name: string) => readonly Entry[] = () => [],
  { own = [], imports = [] }: { readonly own?: readonly Entry[]; readonly imports?: readonly string[] } = {},
): Promise<TenantWorld> {
  const world = await openWorld(preload, () => own, {}, imports);
  const folderOf = (name: string): string => join(world.fixture.folder, "places", `of-${name}`);
  for (const name of names) {
    mkdirSync(folderOf(name));
    writeFileSync(join(folderOf(name), "a.txt"), `${name} a`);
    const files = ["read", "create", "modify", "delete"].map((operation) =>
      entry("filesystem", operation, `${folderOf(name)}/`),
    );
    const registered = world.fixture.registry.registerTool({
      name: tenant(name).name,
      module: "guarded",
      definition: { access: [...files, ...more(name)] },
    });
    if (!registered.ok) throw new Error(registered.message);
  }
  return { ...world, folderOf };
}

/** Before every program: the runtime, and `as` for a subject. */
const PRELUDE = `
import fs from "node:fs";
import http from "node:http";
import { connectRuntime } from ${JSON.stringify(CHILD)};
const tenant = (name) => ({ type: "tool", name: "guarded." + name });
const runtime = await connectRuntime();
const as = (name, work) => runtime.run(tenant(name), {}, work);
const told = (error) => {
  const cause = error.check === undefined && error.cause?.check !== undefined ? error.cause : error;
  return [cause.name, cause.code, cause.check?.code].filter(Boolean).join(" ");
};
${ATTEMPTS}`;

export interface Hosting {
  /** Before the tasks. */
  readonly before?: string;
  /** What the program is told beside its folders. */
  readonly told?: object;
  /** Without the prelude. */
  readonly isBare?: boolean;
  /** Nobody can be asked: what is blocked fails at once. */
  readonly isAlone?: boolean;
  /** Of Node, behind those of the guard. */
  readonly flags?: readonly string[];
  /** Further subjects that may be run. */
  readonly subjects?: readonly SubjectInput[];
}

let programs = 0;

/** Starts the program as `module:guarded`, which may run the named subjects. */
export async function hostedOutcomes(
  { fixture, places, preload, folderOf }: TenantWorld,
  names: readonly string[],
  tasks: string,
  { before = "", told = {}, isBare = false, isAlone = false, flags = [], subjects = [] }: Hosting = {},
): Promise<Record<string, unknown>> {
  const program = join(places.code, `hosting-${++programs}.mjs`);
  const source = `${isBare ? "" : PRELUDE}${before}\n${tasks === "" ? "" : `await run({${tasks}});`}
    process.stdout.write(JSON.stringify(results));`;
  writeFileSync(program, source);
  const launch = guardLaunch({ codeRoots: [places.code, ...CODE_ROOTS], waitMs: 60_000, preload });
  const words = { ...places, ...told, of: Object.fromEntries(names.map((name) => [name, folderOf(name)])) };
  const { runtime } = fixture;
  const child = runtime.run(GUARDED, { ...MEMBER, interactive: !isAlone }, () =>
    runtime.spawn(process.execPath, [...launch.args, ...flags, program, JSON.stringify(words)], {
      stdio: ["ignore", "pipe", "pipe"],
      env: launch.env,
      use: "own",
      subjects: [...names.map(tenant), ...subjects],
    }),
  );
  return resultsOf(endOf(child));
}

type Pending = Awaited<ReturnType<TenantWorld["fixture"]["service"]["list"]["requests"]>>["rows"][number];

/** Approves the pending requests that fit, as soon as there is one; those that it was. */
export async function approveAll(
  { fixture }: TenantWorld,
  fits: (request: Pending) => boolean,
  how: { readonly maxUses?: number } = {},
) {
  for (;;) {
    const { rows } = await fixture.service.list.requests(adminCaller());
    const open = rows.filter((request) => request.status === "pending" && fits(request));
    for (const { id } of open) {
      const by = await fixture.shown(id);
      await fixture.runtime.runAsHost(ADMIN, () => fixture.sdk.access.approvePermanently({ ...by, ...how }));
    }
    if (open.length > 0) return open;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
