/** Jobs and the nodes that know their actions: two nodes on PostgreSQL, each with modules of its own. */
import { type PostgresServer, startPostgres } from "@sallyport/store/testing";
import { openPostgresStore } from "@sallyport/store/postgres";
import type { AccessStore } from "@sallyport/store";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AccessService } from "./access-service.ts";
import { ActionRegistry } from "./actions.ts";
import {
  type Fixture,
  adminOf,
  ask,
  callerOf,
  logFaults,
  openFixture,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const ACTION = "demo.resume";
const ATTEMPTS_MAX = 3;
const TIMEOUT_MS = 300_000;

let server: PostgresServer;
let fixture: Fixture;
let storeB: AccessStore;
let actionsB: ActionRegistry;
let knows: AccessService;
let other: AccessService;
let ran: string[];

beforeAll(async () => {
  server = await startPostgres();
}, TIMEOUT_MS);
afterAll(() => server.stop());

beforeEach(async () => {
  ran = [];
  const url = await server.makeDatabase();
  const limits = { attemptsMax: ATTEMPTS_MAX, backoffMs: 0 };
  fixture = await openFixture({ opened: await openPostgresStore({ url }), limits });
  storeB = await openPostgresStore({ url });
  actionsB = new ActionRegistry((who) => (who.name.startsWith("demo.") ? "demo" : undefined));
  knows = fixture.service;
  other = new AccessService({ ...fixture.options, store: storeB, actions: actionsB, nodeId: "node-b" });
  await other.start();
  register("node-a", fixture.actions);
}, TIMEOUT_MS);
afterEach(async () => {
  await other.stop();
  expect(await logFaults(fixture)).toEqual([]);
  await fixture.close();
  await storeB.close();
}, TIMEOUT_MS);

const register = (node: string, actions: ActionRegistry, handler = () => void ran.push(node)) =>
  actions.register({ name: ACTION, module: "demo", handler });

/** Asked for on the node that knows the action, so that its job is there. */
async function makeJob(): Promise<void> {
  const what = ask(receive("https://unknown.example.com/a"));
  const { requestId } = await knows.require(callerOf(), { ...what, resumeAction: ACTION });
  const decision = await knows.approvePermanently(adminOf(), await shown(knows, requestId));
  if (!decision.ok) throw new Error(decision.message);
  await other.atLeast(decision.revision);
}

const jobOn = async (node: AccessService) => (await node.list.jobs(adminOf())).rows[0];

describe("a job, where two nodes know different actions", { timeout: TIMEOUT_MS }, () => {
  it("is left alone by the node that does not know its action, however often that one looks", async () => {
    await makeJob();
    for (let look = 0; look < ATTEMPTS_MAX + 2; look++) expect(await other.executor.runDue()).toBe(0);
    expect(await jobOn(knows)).toMatchObject({ state: "ready", attempts: 0, lastError: null });
    expect(await knows.executor.runDue()).toBe(1);
    expect(ran).toEqual(["node-a"]);
    expect(await jobOn(other)).toMatchObject({ state: "done", attempts: 1, lastError: null });
  });

  it("is not crowded out by jobs of other actions on a node that knows one of them", async () => {
    await makeJob();
    actionsB.register({ name: "demo.other", module: "demo", handler: () => void ran.push("other") });
    expect(await other.executor.runDue()).toBe(0);
    expect(await knows.executor.runDue()).toBe(1);
    expect(ran).toEqual(["node-a"]);
  });

  it("stays queued while nobody knows its action, says so, and runs where the action comes back", async () => {
    await makeJob();
    fixture.actions.unregister(ACTION);
    for (let look = 0; look < ATTEMPTS_MAX + 2; look++) {
      for (const node of [knows, other]) expect(await node.executor.runDue()).toBe(0);
    }
    for (const node of [knows, other]) {
      const job = await jobOn(node);
      expect(job).toMatchObject({ state: "ready", attempts: 0 });
      expect(job?.lastError).toContain("waiting for a host that knows this action");
    }
    expect(await storeB.read((tx) => tx.jobs.list({}, { limit: 1 }))).toMatchObject({
      rows: [{ lastError: null }],
    });
    register("node-b", actionsB);
    expect(await jobOn(other)).toMatchObject({ lastError: null });
    expect(await other.executor.runDue()).toBe(1);
    expect(ran).toEqual(["node-b"]);
    expect(await jobOn(knows)).toMatchObject({ state: "done", lastError: null });
  });

  it("says what went wrong before beside what it waits for now", async () => {
    await makeJob();
    register("node-a", fixture.actions, () => {
      throw new Error("the disk is full");
    });
    await knows.executor.runDue();
    fixture.actions.unregister(ACTION);
    const job = await jobOn(other);
    expect(job).toMatchObject({ state: "ready", attempts: 1 });
    expect(job?.lastError).toMatch(
      /waiting for a host that knows.*it failed before: Error: the disk is full/,
    );
  });

  it("is given back untouched where its action goes away between the claim and the run", async () => {
    await makeJob();
    const get = fixture.actions.get.bind(fixture.actions);
    fixture.actions.get = () => undefined;
    for (let look = 0; look < ATTEMPTS_MAX + 2; look++) expect(await knows.executor.runDue()).toBe(1);
    fixture.actions.get = get;
    expect(await jobOn(knows)).toMatchObject({ state: "ready", attempts: 0 });
    expect(await knows.executor.runDue()).toBe(1);
    expect(ran).toEqual(["node-a"]);
  });
});
