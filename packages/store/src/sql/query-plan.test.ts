/** What is read all the time takes an index that fits, however much there is: SQLite is asked for the plan of each text. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { StoreTransaction } from "../port.ts";
import { type SqliteConnection, connect } from "../sqlite/driver.ts";
import { settleText } from "../sqlite/late-index.ts";
import { MOVE_ALL, MOVE_KNOWN } from "../sqlite/late-requests.ts";
import { type SqliteEngine, openSqliteEngine } from "../sqlite/sqlite-engine.ts";
import { newRequest } from "../testing/sample-rows.ts";
import type { Engine } from "./engine.ts";
import { migrate } from "./migrate.ts";
import { SqlStore } from "./sql-store.ts";

let folder: string;
let engine: SqliteEngine;
let copy: SqliteConnection;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sp-request-index-"));
  engine = await openSqliteEngine(join(folder, "store.db"), {
    ownerWaitMs: 0,
    waitMs: 1000,
    version: "test",
  });
  await migrate(engine);
  await engine.copyTo(join(folder, "copy.db"));
  // WHY a copy: a statement that is explained counts as running, and libsql does not end it.
  copy = connect(join(folder, "copy.db"));
});
afterAll(async () => {
  copy.close();
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The texts that a piece of work runs on the store. */
async function textsOf(work: (tx: StoreTransaction) => Promise<unknown>): Promise<readonly string[]> {
  const texts: string[] = [];
  const listening: Engine = {
    ...engine,
    begin: async (mode) => {
      const session = await engine.begin(mode);
      return {
        ...session,
        execute: (text, parameters) => {
          texts.push(text);
          return session.execute(text, parameters);
        },
      };
    },
  };
  await new SqlStore(listening).transaction(work);
  return texts;
}

const request = newRequest("r-1");
const { subject, resourceType, operation } = request;
const SESSION = { organizationId: 21, userId: "anna", sessionKey: "s-1" } as const;

test.each<readonly [string, (tx: StoreTransaction) => Promise<unknown>, string]>([
  [
    "the pending requests that an approval may cover",
    (tx) => tx.requests.pendingOf({ subject, resourceType, operation }),
    "request_pending",
  ],
  [
    "the pending requests that an exact approval covers",
    (tx) => tx.requests.pendingOfTuple(request),
    "request_pending",
  ],
  ["the pending request of a tuple", (tx) => tx.requests.findPending(request), "request_pending"],
  ["how many a subject holds", (tx) => tx.requests.countPending(subject), "request_pending"],
  ["what is due", (tx) => tx.requests.due(1, 10), "request_due"],
  [
    "the newest pending requests",
    (tx) => tx.requests.list({ status: "pending" }, { limit: 50 }),
    "request_open",
  ],
  [
    "the rest of the pending requests",
    (tx) => tx.requests.list({ status: "pending" }, { limit: 50, after: { timeMs: 5, id: "r-1" } }),
    "request_open",
  ],
  [
    "the newest denied requests",
    (tx) => tx.requests.list({ status: "denied" }, { limit: 50 }),
    "request_by_status",
  ],
  [
    "the newest denied requests of a user",
    (tx) => tx.requests.list({ status: "denied", userId: 21 }, { limit: 50 }),
    "request_by_user",
  ],
  [
    "the newest pending requests of a session",
    (tx) => tx.requests.list({ status: "pending", sessionKey: "s-1" }, { limit: 50 }),
    "request_by_session",
  ],
  [
    "how many are pending",
    (tx) => tx.requests.count({ status: "pending" }),
    "COVERING INDEX request_pending",
  ],
  [
    "how many expired",
    (tx) => tx.requests.count({ status: "expired" }),
    "COVERING INDEX request_by_status (status=?)",
  ],
  [
    "who waits for a decision",
    (tx) => tx.sessions.listHeld({ limit: 50 }),
    "request USING INDEX request_open",
  ],
  ["the newest approvals", (tx) => tx.approvals.list({}, { limit: 50 }), "approval_by_time"],
  ["the approvals of a tuple", (tx) => tx.approvals.findByTuple(request), "approval_identity"],
  [
    "the approvals of subjects",
    (tx) => tx.approvals.listForSubjects([subject], SESSION),
    "approval_identity",
  ],
  ["the newest revision", (tx) => tx.revisions.current(), "SEARCH change"],
  [
    "what the next revision follows",
    (tx) => tx.revisions.append({ body: null, createdMs: 1 }),
    "SEARCH change",
  ],
  ["the newest requests", (tx) => tx.requests.list({}, { limit: 50 }), "request_by_time"],
  [
    "the newest requests of a subject",
    (tx) => tx.requests.list({ subjectType: subject.type, subjectName: subject.name }, { limit: 50 }),
    "request_by_subject",
  ],
  [
    "the newest requests of a user",
    (tx) => tx.requests.list({ userId: 21 }, { limit: 50 }),
    "request_by_user",
  ],
  [
    "the newest requests of a session",
    (tx) => tx.requests.list({ sessionKey: "s-1" }, { limit: 50 }),
    "request_by_session",
  ],
  [
    "the rest of the requests of a user",
    (tx) =>
      tx.requests.list({ userId: "21" }, { limit: 50, after: { timeMs: 5, id: "r-1" }, order: "oldest" }),
    "request_by_user",
  ],
  [
    "a job that is due",
    (tx) => tx.jobs.claim({ owner: "node-a", nowMs: 1, leaseMs: 1, limit: 1, actions: ["system.resume"] }),
    "job_due",
  ],
  ["what ends with a session", (tx) => tx.approvals.removeOfSession(SESSION), "approval_by_session"],
  [
    "the events of a session",
    (tx) => tx.events.search({ sessionKey: "s-1" }, { limit: 50 }),
    "event_by_session",
  ],
  [
    "the events with a code",
    (tx) => tx.events.search({ code: "denied_rule" }, { limit: 50 }),
    "event_by_code",
  ],
  ["the newest events of a node", (tx) => tx.events.search({ node: "n-1" }, { limit: 50 }), "event_by_time"],
])("%s is read by an index", async (_name, work, index) => {
  const [text] = await textsOf(work);
  const plan = JSON.stringify(copy.run(`explain query plan ${text}`).rows);
  expect(plan).toContain(index);
  if (index === "request_pending") expect(plan).toContain("SEARCH");
  if (/^request_(by_|open)|_by_time$/.test(index)) expect(plan).not.toContain("TEMP B-TREE");
});

test.each([
  ["events", settleText("event"), "SEARCH event USING INTEGER PRIMARY KEY (rowid>?)"],
  ["approvals", settleText("approval"), "SEARCH approval USING INTEGER PRIMARY KEY (rowid>?)"],
  ["requests that are known", MOVE_KNOWN, "INDEX sqlite_autoindex_request_1 (id=?)"],
  ["requests that are not known", MOVE_ALL, "INDEX request_open"],
])("%s that were left for later are found without a look at the others", (_name, text, way) => {
  const plan = JSON.stringify(copy.run(`explain query plan ${text}`).rows);
  expect(plan).toContain(way);
  expect(plan).not.toMatch(/TEMP B-TREE|SCAN request"/);
});
