/**
 * A copy of a PostgreSQL store, taken and restored by the very commands of docs/operations/backup.md: what the restored store
 * decides and goes on with, and who tells where it is older than what was vouched for.
 */
import { createPublicKey } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Access } from "@sallyport/contract";
import { type PostgresServer, runPostgresClients, startPostgres } from "@sallyport/store/testing";
import { openPostgresStore } from "@sallyport/store/postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { checkpointFile } from "./audit/checkpoint-sink.ts";
import { generateCheckpointSigner } from "./audit/checkpoint.ts";
import type { Decided, Decision } from "./decision-request.ts";
import {
  type Fixture,
  READER,
  adminOf,
  ask,
  callerOf,
  openFixture,
  read,
  receive,
  shown,
} from "./testing/service-fixture.ts";
import { contentOf, documentedCommands } from "./testing/postgres-copy.ts";

const [DUMP, RESTORE] = documentedCommands();
const RESTORED = "sallyport_restored";

const ASKED = {
  approved: read("/srv/approved"),
  otherCase: read("/srv/Approved"),
  inSession: read("/srv/session"),
  counted: read("/srv/counted"),
  denied: read("/srv/denied"),
  ruled: receive("https://declared.example.com/a"),
  pending: receive("https://pending.example.com/a"),
} as const;
const EXPECTED = {
  approved: "allowed_permanent",
  otherCase: "approval_required",
  inSession: "allowed_session",
  counted: "allowed_permanent",
  denied: "resource_disabled",
  ruled: "denied_rule",
  pending: "approval_required",
};
const CONTEXT = { page: 7, words: "grüße" };

const signer = generateCheckpointSigner();
const publicKeys = [createPublicKey(signer.privateKey)];

let server: PostgresServer;
let folder: string;
let url: string;
let source: Fixture;
let approvalId: string;
let pendingId: string;
let resumed: unknown[];
let faults: string[];
const opened: Fixture[] = [];

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-restore-"));
  url = await server.makeDatabase();
  resumed = [];
  faults = [];
  source = await openNode(url);
  const { service } = source;
  const by = (what: Access) => ({ subject: READER, access: what });
  approvalId = decided(await service.approvePermanently(adminOf(), by(ASKED.approved))).approval?.id ?? "";
  const { requestId } = await service.check(callerOf(), ask(ASKED.inSession));
  decided(await service.approveForSession(adminOf(), await shown(service, requestId)));
  decided(await service.approvePermanently(adminOf(), by(ASKED.counted), { maxUses: 3 }));
  expect(await use(source, ASKED.counted)).toBe("allowed_permanent");
  decided(await service.deny(adminOf(), by(ASKED.denied), { reason: "not this one" }));
  const rule = { effect: "deny", source: "host", resourceType: "network", operation: "receive" } as const;
  expect(await service.setRule(adminOf(), { ...rule, target: "https://declared.example.com" })).toMatchObject(
    { ok: true },
  );
  const required = { ...ask(ASKED.pending), resumeAction: "demo.resume", resumeContext: CONTEXT };
  pendingId = (await service.require(callerOf(), required)).requestId ?? "";
  await service.trail.checkpoint(adminOf());
});
afterEach(async () => {
  for (const fixture of opened.splice(0)) await close(fixture);
  rmSync(folder, { recursive: true, force: true });
});

const run = (text: string): Promise<void> =>
  runPostgresClients(text, { url, cwd: folder, env: { DATABASE_URL: url } });

async function dump(text = DUMP): Promise<void> {
  rmSync(join(folder, "sallyport.dump"), { force: true });
  await run(text);
}

/** The address of a database that was restored from the dump. */
async function restore(text = RESTORE): Promise<string> {
  await run(text);
  return server.takeDatabase(RESTORED);
}

/** A changed command, where the change is one. */
function changed(text: string, from: string, to: string): string {
  expect(text).toContain(from);
  return text.replaceAll(from, to);
}

async function openNode(at: string, nodeId = "node-a"): Promise<Fixture> {
  const exportTo = checkpointFile(join(folder, `${nodeId}.jsonl`));
  // WHY: what is heard is heard by being told, not by looking.
  const store = await openPostgresStore({ url: at, pollMs: 600_000 });
  const onFault = (error: unknown): void => void faults.push((error as Error).message);
  const checkpoints = { signer, publicKeys, exportTo };
  const fixture = await openFixture({ opened: store, nodeId, checkpoints, onFault });
  fixture.actions.register({
    name: "demo.resume",
    module: "demo",
    handler: (context) => void resumed.push(context),
  });
  opened.push(fixture);
  return fixture;
}

async function close(fixture: Fixture): Promise<void> {
  const at = opened.indexOf(fixture);
  if (at >= 0) opened.splice(at, 1);
  await fixture.close();
}

const decided = (decision: Decision): Decided => {
  if (!decision.ok) throw new Error(decision.message);
  return decision;
};

const use = async ({ service }: Fixture, what: Access) =>
  (await service.check(callerOf(), ask(what, { enforced: true, registerRequest: false }))).code;

const codeOn = async ({ service }: Fixture, what: Access) =>
  (await service.check(callerOf(), ask(what, { registerRequest: false }))).code;

async function codesOn(fixture: Fixture) {
  const codes: Record<string, string> = {};
  for (const [name, what] of Object.entries(ASKED)) codes[name] = await codeOn(fixture, what);
  return codes;
}

const verify = ({ service }: Fixture) => service.trail.verify(adminOf());

const lastSeq = async ({ service, store }: Fixture, node = "node-a"): Promise<number> => {
  await service.audit.flush();
  return (await store.read((tx) => tx.events.lastOf(node)))?.seq ?? 0;
};

describe("a store that was dumped and restored as the manual says", () => {
  it("has every row, column, index and rule of the other, and its dump is for its user alone", async () => {
    await close(source);
    await dump();
    expect(statSync(join(folder, "sallyport.dump")).mode & 0o077).toBe(0);
    const before = await contentOf(server, url);
    for (const table of ["request", "continuation", "approval", "denial", "rule", "event", "checkpoint"])
      expect(before.rows[table], table).not.toEqual([]);
    expect(await contentOf(server, await restore())).toEqual(before);
  });

  it("decides as before, counts uses on, and verifies to its last event", async () => {
    expect(await codesOn(source)).toEqual(EXPECTED);
    await close(source);
    await dump();
    const restored = await openNode(await restore());
    const rows = await lastSeq(restored);
    expect(await verify(restored)).toMatchObject({ ok: true, chains: [{ rows, vouchedSeq: rows }] });
    expect(await codesOn(restored)).toEqual(EXPECTED);
    expect([
      await use(restored, ASKED.counted),
      await use(restored, ASKED.counted),
      await use(restored, ASKED.counted),
    ]).toEqual(["allowed_permanent", "allowed_permanent", "approval_required"]);
  });

  it("is of one moment where nodes wrote while it was dumped, and the rows behind it are named", async () => {
    const before = source.service.revision;
    let at = 0;
    const write = () =>
      source.service.approvePermanently(adminOf(), { subject: READER, access: read(`/srv/w/${at++}`) });
    const dumped = new AbortController();
    const writing = (async () => {
      while (!dumped.signal.aborted) decided(await write());
    })();
    await dump().finally(() => dumped.abort());
    await writing;
    decided(await write());
    const written = await lastSeq(source);
    await close(source);
    const restoredUrl = await restore();
    const restored = await openNode(restoredUrl);
    const counting = `select count(*)::int as copied from approval where target like '/srv/w/%'`;
    // Every approval has a revision and an event of its own; a copy of two moments would have one without the other.
    const copied = Number((await server.query(restoredUrl, counting))[0]?.["copied"]);
    expect(restored.service.revision).toBe(before + copied);
    const from = (await lastSeq(restored)) + 1;
    expect(from).toBe(written - at + copied + 1);
    const said = await verify(restored);
    expect(said).toMatchObject({ ok: false, reason: "cut", seq: from, missingTo: written });
  });

  it("goes on: the revision, the chain and new rows follow what is there", async () => {
    const { revision } = source.service;
    await close(source);
    await dump();
    const restored = await openNode(await restore());
    expect(restored.service.revision).toBe(revision);
    const rows = await lastSeq(restored);
    const made = await restored.service.approvePermanently(adminOf(), {
      subject: READER,
      access: ASKED.otherCase,
    });
    expect(decided(made).revision).toBe(revision + 1);
    expect(await lastSeq(restored)).toBe(rows + 1);
    await restored.service.revokeApproval(adminOf(), { id: approvalId });
    expect(restored.service.revision).toBe(revision + 2);
    const { requestId } = await restored.service.check(callerOf(), ask(read("/srv/new")));
    expect(requestId).not.toBe(pendingId);
    expect([await codeOn(restored, ASKED.otherCase), await codeOn(restored, ASKED.approved)]).toEqual([
      "allowed_permanent",
      "approval_required",
    ]);
    await restored.service.trail.checkpoint(adminOf());
    const last = await lastSeq(restored);
    expect(await verify(restored)).toMatchObject({ ok: true, chains: [{ rows: last, vouchedSeq: last }] });
  });

  it("resumes a request that was pending, with the context that was sealed", async () => {
    await close(source);
    await dump();
    const restored = await openNode(await restore());
    const { service } = restored;
    decided(await service.approvePermanently(adminOf(), await shown(service, pendingId)));
    expect(await service.executor.runDue()).toBe(1);
    expect(resumed).toEqual([CONTEXT]);
    expect((await service.list.jobs(adminOf())).rows).toMatchObject([
      { state: "done", requestId: pendingId },
    ]);
    expect(await codeOn(restored, ASKED.pending)).toBe("allowed_permanent");
  });

  it("tells one node what another did, and lets neither allow what the other revoked", async () => {
    await close(source);
    await dump();
    const at = await restore();
    const [a, b] = [await openNode(at), await openNode(at, "node-b")];
    const heard: number[] = [];
    b.store.onRevision((revision) => heard.push(revision));
    const made = await a.service.approvePermanently(adminOf(), { subject: READER, access: ASKED.otherCase });
    await expect.poll(() => heard).toContain(decided(made).revision);
    await b.service.atLeast(decided(made).revision);
    expect(await codeOn(b, ASKED.otherCase)).toBe("allowed_permanent");
    await b.service.revokeApproval(adminOf(), { id: approvalId });
    expect(await codeOn(a, ASKED.approved)).toBe("approval_required");
  });

  it("compares text byte by byte in a database of another locale", async () => {
    await source.store.transaction(async (tx) => {
      for (const key of ["z-a", "z-B"]) await tx.settings.set(key, true, 1);
    });
    await close(source);
    await dump();
    const locale = "--encoding=UTF8 --locale-provider=icu --icu-locale=en-US";
    const at = await restore(changed(RESTORE, "--encoding=UTF8", locale));
    const sorted = async (from: string) =>
      (await server.query(at, `select key from ${from} order by key`)).map(({ key }) => key);
    expect(await sorted("(values ('z-B'), ('z-a')) as v (key)")).toEqual(["z-a", "z-B"]);
    expect(await sorted("setting where key like 'z-%'")).toEqual(["z-B", "z-a"]);
    const restored = await openNode(at);
    expect(await codesOn(restored)).toEqual(EXPECTED);
    expect(await verify(restored)).toMatchObject({ ok: true });
  });
});

describe("attack: a dump that is not the newest or not whole", () => {
  it("brings a revoked approval back; the exported checkpoint names the rows that are gone, and a freeze holds it", async () => {
    await dump();
    const rows = await lastSeq(source);
    await source.service.revokeApproval(adminOf(), { id: approvalId });
    expect(await codeOn(source, ASKED.approved)).toBe("approval_required");
    await source.service.trail.checkpoint(adminOf());
    const written = await lastSeq(source);
    await close(source);
    const restored = await openNode(await restore(), "node-c");
    // The danger, which the manual names: nothing inside the copy knows of the revocation.
    expect(await codeOn(restored, ASKED.approved)).toBe("allowed_permanent");
    expect(await verify(restored)).toMatchObject({ ok: true });

    const exported = () => checkpointFile(join(folder, "node-a.jsonl")).lines?.() ?? [];
    const said = await restored.service.trail.verify(adminOf(), { exported });
    expect(said).toMatchObject({
      ok: false,
      reason: "cut",
      node: "node-a",
      seq: rows + 1,
      missingTo: written,
    });
    expect(written).toBeGreaterThan(rows + 1);
    expect(said).toMatchObject({
      message: expect.stringContaining(`rows ${rows + 1} to ${written} of node \`node-a\` are missing`),
    });

    await restored.service.setFreeze(adminOf(), { frozen: true, reason: "restored" });
    expect((await restored.service.check(callerOf(), ask(ASKED.approved))).allowed).toBe(false);
    await restored.service.revokeApproval(adminOf(), { id: approvalId });
    await restored.service.setFreeze(adminOf(), { frozen: false });
    expect(await codeOn(restored, ASKED.approved)).toBe("approval_required");
  });

  it("is told as well where a node of the same name has written over the rows that are gone", async () => {
    await dump();
    await source.service.revokeApproval(adminOf(), { id: approvalId });
    await close(source);
    const restored = await openNode(await restore());
    for (let at = 0; at < 9; at++) await restored.service.check(callerOf(), ask(read(`/srv/new/${at}`)));
    expect(await verify(restored)).toMatchObject({ ok: false, reason: "rewritten", node: "node-a" });
  });

  it("is told where the events were left out", async () => {
    await close(source);
    await dump(changed(DUMP, "pg_dump ", "pg_dump --exclude-table-data=event "));
    const restored = await openNode(await restore(), "node-c");
    const exported = () => checkpointFile(join(folder, "node-a.jsonl")).lines?.() ?? [];
    const said = await restored.service.trail.verify(adminOf(), { exported });
    expect(said).toMatchObject({ ok: false, reason: "cut", node: "node-a", seq: 1 });
  });
});

describe("attack: a dump that is restored over a live database", () => {
  const over = (text: string, name: string): string => changed(text, RESTORED, name);
  const nameOf = (at: string): string => new URL(at).pathname.slice(1);

  it("is refused by each documented command, and nothing changes", async () => {
    await dump();
    await source.service.revokeApproval(adminOf(), { id: approvalId });
    const before = await contentOf(server, url);
    const commands = over(RESTORE, nameOf(url)).trim().split("\n");
    expect(commands).toHaveLength(2);
    for (const command of commands) await expect(run(command)).rejects.toThrow(/already exists/);
    const after = await contentOf(server, url);
    // Leases are renewed all the time.
    expect({ ...after, rows: { ...after.rows, node: [] } }).toEqual({
      ...before,
      rows: { ...before.rows, node: [] },
    });
    expect(await codeOn(source, ASKED.approved)).toBe("approval_required");
    expect(await verify(source)).toMatchObject({ ok: true });
  });

  const force = (): Promise<void> => {
    const [, command = ""] = over(RESTORE, nameOf(url)).trim().split("\n");
    return run(changed(command, "pg_restore ", "pg_restore --clean "));
  };

  it("allows nothing again that was revoked since, on nodes that run: they vouch for nothing any more, and say so", async () => {
    await dump();
    await source.service.revokeApproval(adminOf(), { id: approvalId });
    await force();
    await expect
      .poll(async () => {
        expect(await codeOn(source, ASKED.approved)).not.toBe("allowed_permanent");
        return faults.filter((fault) => fault.includes("went back from revision"));
      })
      .toHaveLength(1);
    expect(await codesOn(source)).toMatchObject({ approved: "unavailable", counted: "unavailable" });
  });

  it("is told by the log where somebody forces it", async () => {
    await dump();
    await source.service.revokeApproval(adminOf(), { id: approvalId });
    await source.service.trail.checkpoint(adminOf());
    await force();
    await expect.poll(async () => (await verify(source)).ok).toBe(false);
    await source.service.check(callerOf(), ask(read("/srv/new"))).catch(() => undefined);
    expect(await verify(source)).toMatchObject({ ok: false, node: "node-a" });
  });
});
