import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type PostgresServer, startPostgres } from "@sallyport/store/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundledProgram } from "./testing/bundled-program.ts";
import { CRASH_TARGET, type CrashPlace, crashFixture } from "./testing/crash-scenario.ts";
import {
  type Fixture,
  READER,
  adminOf,
  ask,
  callerOf,
  eventsOf,
  logFaults,
  shown,
} from "./testing/service-fixture.ts";

/** Killed at every single store call of each, one child after the other until one lives. */
const CALLS_MAX = 200;
const AT_ONCE = 2;
/** WHY: a child for every call, and a machine may be slow. */
const LONG = { timeout: 900_000 };

let root: string;
let program: string;
let server: PostgresServer;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-crash-")));
  program = await bundledProgram("crash-program.ts");
  server = await startPostgres();
});
afterAll(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
  rmSync(dirname(program), { recursive: true, force: true });
});

interface Outcome {
  /** `undefined`: it died before. */
  readonly acknowledged: unknown;
}

function runChild({ folder, url }: CrashPlace, scenario: string, call: number): Promise<Outcome> {
  const words = [program, folder, url ?? "", scenario, String(call)];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, words, (error, stdout, stderr) => {
      if (error?.signal !== "SIGKILL") reject(new Error(`the child was not killed: ${stderr}`));
      else resolve(stdout === "" ? { acknowledged: undefined } : (JSON.parse(stdout) as Outcome));
    });
  });
}

interface Scenario {
  readonly name: string;
  readonly prepare: (fixture: Fixture) => Promise<void>;
  /** What the store holds afterwards, in words. */
  readonly expected: readonly [before: string, after: string];
}

async function prepareRequest({ service }: Fixture): Promise<void> {
  const resume = { resumeAction: "demo.resume", resumeContext: { page: 3 } };
  await service.require(callerOf(READER), { ...ask(CRASH_TARGET), ...resume });
}

async function prepareApproval(fixture: Fixture): Promise<void> {
  await prepareRequest(fixture);
  const { rows } = await fixture.service.list.requests(adminOf());
  await fixture.service.approvePermanently(adminOf(), await shown(fixture.service, rows[0]?.id));
}

const NOTHING = "requests: ; continuations: ; approvals 0; denials 0; rules 0; jobs: ; events: ; changes 0";
const REQUESTED =
  "requests: pending; continuations: waiting; approvals 0; denials 0; rules 0; jobs: ; events: requested; changes 0";
const APPROVED =
  "requests: approved_permanent; continuations: job_made; approvals 1; denials 0; rules 0; jobs: ready; events: requested resolved changed; changes 1";
const DENIED =
  "requests: denied; continuations: dropped; approvals 0; denials 1; rules 0; jobs: ; events: requested resolved changed; changes 1";
const APPROVED_FOR_SESSION = APPROVED.replace("approved_permanent", "approved_session");
const BLOCKED =
  "requests: denied; continuations: dropped; approvals 0; denials 0; rules 1; jobs: ; events: requested resolved changed; changes 1";
const REVOKED =
  "requests: approved_permanent; continuations: job_made; approvals 0; denials 0; rules 0; jobs: ready; events: requested resolved changed changed; changes 2";
const RESUMED = APPROVED.replace("jobs: ready", "jobs: done");

const SCENARIOS: readonly Scenario[] = [
  { name: "register", prepare: () => Promise.resolve(), expected: [NOTHING, REQUESTED] },
  { name: "approve", prepare: prepareRequest, expected: [REQUESTED, APPROVED] },
  { name: "approve_for_session", prepare: prepareRequest, expected: [REQUESTED, APPROVED_FOR_SESSION] },
  { name: "deny", prepare: prepareRequest, expected: [REQUESTED, DENIED] },
  { name: "block", prepare: prepareRequest, expected: [REQUESTED, BLOCKED] },
  { name: "revoke", prepare: prepareApproval, expected: [APPROVED, REVOKED] },
];

async function stateOf(fixture: Fixture): Promise<string> {
  const events = await eventsOf(fixture);
  return fixture.store.read(async (tx) => {
    const { rows: requests } = await tx.requests.list({}, { limit: 10 });
    const continuations = requests[0] === undefined ? [] : await tx.continuations.listOf(requests[0].id);
    const { rows: approvals } = await tx.approvals.list({}, { limit: 10 });
    const { rows: denials } = await tx.denials.list({}, { limit: 10 });
    const { rows: jobs } = await tx.jobs.list({}, { limit: 10 });
    const changes = await tx.revisions.changesAfter(0, 10);
    expect(changes.length).toBe(await tx.revisions.current());
    const words = (rows: readonly string[]): string => rows.join(" ");
    return [
      `requests: ${words(requests.map(({ status }) => status))}`,
      `continuations: ${words(continuations.map(({ state }) => state))}`,
      `approvals ${approvals.length}`,
      `denials ${denials.length}`,
      `rules ${(await tx.rules.list()).length}`,
      `jobs: ${words(jobs.map(({ state }) => state))}`,
      `events: ${words(events.map(({ type }) => type.replace(/^(permission|policy)\./, "")))}`,
      `changes ${changes.length}`,
    ].join("; ");
  });
}

/** An engine to crash on. */
interface Ground {
  readonly engine: "SQLite" | "PostgreSQL";
  /** Stores that hold what `prepare` made, one new one for every call. */
  readonly prepared: (scenario: Pick<Scenario, "name" | "prepare">) => Promise<() => Promise<CrashPlace>>;
}

function newFolder(): string {
  return mkdtempSync(join(root, "place-"));
}

const SQLITE: Ground = {
  engine: "SQLite",
  prepared: async ({ prepare }) => {
    const base = newFolder();
    await filled({ folder: base, url: null }, prepare);
    return () => {
      const folder = newFolder();
      cpSync(base, folder, { recursive: true });
      return Promise.resolve({ folder, url: null });
    };
  },
};

const POSTGRES: Ground = {
  engine: "PostgreSQL",
  prepared: ({ prepare }) =>
    Promise.resolve(async () => {
      const place = { folder: newFolder(), url: await server.makeDatabase() };
      await filled(place, prepare);
      return place;
    }),
};

async function filled(place: CrashPlace, prepare: Scenario["prepare"]): Promise<void> {
  const fixture = await crashFixture(place);
  await prepare(fixture);
  await fixture.close();
}

/** Runs children for call 1, 2, … until one lives; looks at every store afterwards. How many died. */
async function killEverywhere(
  name: string,
  newPlace: () => Promise<CrashPlace>,
  look: (place: CrashPlace, outcome: Outcome, call: number) => Promise<void>,
): Promise<number> {
  for (let first = 1; first <= CALLS_MAX; first += AT_ONCE) {
    const calls = Array.from({ length: AT_ONCE }, (_, index) => first + index);
    const outcomes = await Promise.all(
      calls.map(async (call) => {
        const place = await newPlace();
        const outcome = await runChild(place, name, call);
        await look(place, outcome, call);
        rmSync(place.folder, { recursive: true });
        return outcome;
      }),
    );
    const lived = outcomes.findIndex(({ acknowledged }) => acknowledged !== undefined);
    if (lived >= 0) return first + lived - 1;
  }
  throw new Error("no child lived: raise the number of calls");
}

describe.each([SQLITE, POSTGRES])("killed at every single store call on $engine", LONG, (ground) => {
  it.each(SCENARIOS)(
    "of $name: whole or not at all, and what was acknowledged is there",
    async (scenario) => {
      const [before, after] = scenario.expected;
      const newPlace = await ground.prepared(scenario);
      const seen = new Set<string>();
      const deaths = await killEverywhere(scenario.name, newPlace, async (place, { acknowledged }, call) => {
        const fixture = await crashFixture(place);
        const state = await stateOf(fixture);
        expect([before, after], `killed before call ${call}`).toContain(state);
        if (acknowledged !== undefined) expect(state).toBe(after);
        seen.add(state);
        await fixture.service.check(callerOf(READER, { mode: "never" }), ask(CRASH_TARGET));
        expect(await logFaults(fixture)).toEqual([]);
        await fixture.close();
      });
      expect(deaths).toBeGreaterThan(5);
      expect(seen).toEqual(new Set([before, after]));
    },
  );

  it("of a resume: it runs again after the death, is never lost, and ends", async () => {
    const newPlace = await ground.prepared({ name: "resume", prepare: prepareApproval });
    const runsOf = new Set<string>();
    const deaths = await killEverywhere("resume", newPlace, async (place) => {
      const file = join(place.folder, "runs");
      const lines = (): string[] => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);
      const before = lines();
      const later = { nowMs: () => Date.now() + 60_000, monotonicMs: () => performance.now() };
      let again = 0;
      const fixture = await crashFixture(place, { clock: later, ran: () => (again += 1) });
      // WHY: on PostgreSQL the lease of the dead one runs by the server's clock.
      await expect
        .poll(
          async () => {
            await fixture.service.executor.runDue();
            return stateOf(fixture);
          },
          { timeout: 20_000 },
        )
        .toBe(RESUMED);
      expect(before.length + again).toBeGreaterThanOrEqual(2);
      expect(again === 0 || again === 2).toBe(true);
      runsOf.add(`${before.length} + ${again}`);
      expect(await logFaults(fixture)).toEqual([]);
      await fixture.close();
    });
    expect(deaths).toBeGreaterThan(5);
    expect([...runsOf].toSorted()).toEqual(["0 + 2", "2 + 0", "2 + 2"]);
  });
});
