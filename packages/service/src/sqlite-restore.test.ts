/** A copy of an embedded store that is older than what was vouched for: what comes back with it, and who tells. */
import { createPublicKey } from "node:crypto";
import { mkdtempSync, realpathSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SqliteStore } from "@sallyport/store/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkpointFile } from "./audit/checkpoint-sink.ts";
import { generateCheckpointSigner } from "./audit/checkpoint.ts";
import {
  type Fixture,
  READER,
  adminOf,
  ask,
  callerOf,
  openFixture,
  read,
} from "./testing/service-fixture.ts";

const APPROVED = read("/srv/approved");
const signer = generateCheckpointSigner();

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-restore-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(): Promise<Fixture> {
  const exportTo = checkpointFile(join(folder, "checkpoints.jsonl"));
  const publicKeys = [createPublicKey(signer.privateKey)];
  return openFixture({ folder, checkpoints: { signer, publicKeys, exportTo } });
}

const codeOn = async ({ service }: Fixture) =>
  (await service.check(callerOf(), ask(APPROVED, { registerRequest: false }))).code;

const lastSeq = async ({ service, store }: Fixture) => {
  await service.audit.flush();
  return (await store.read((tx) => tx.events.lastOf("node-a")))?.seq ?? 0;
};

describe("attack: an embedded store restored from an older copy", () => {
  it("brings a revoked approval back, and the exported checkpoint names the rows that are gone", async () => {
    const first = await open();
    const made = await first.service.approvePermanently(adminOf(), { subject: READER, access: APPROVED });
    await first.service.trail.checkpoint(adminOf());
    const rows = await lastSeq(first);
    const copy = join(folder, "copy.db");
    await (first.store as SqliteStore).backupTo(copy);
    await first.service.revokeApproval(adminOf(), { id: (made.ok && made.approval?.id) || "" });
    for (let at = 0; at < 3; at++) await first.service.check(callerOf(), ask(read(`/srv/new/${at}`)));
    expect(await codeOn(first)).toBe("approval_required");
    const written = await lastSeq(first);
    await first.close();
    renameSync(copy, join(folder, "store.db"));

    const restored = await open();
    const said = await restored.service.trail.verify(adminOf());
    expect(said).toMatchObject({ ok: false, reason: "cut", seq: rows + 1, missingTo: written });
    expect(await codeOn(restored)).toBe("allowed_permanent");
    await restored.close();
  });
});
