/** A database whose disk is full: nothing outside the allowlist, and over by itself when there is room. */
import { type PostgresServer, startSmallPostgres } from "@sallyport/store/testing";
import { openPostgresStore } from "@sallyport/store/postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  READER,
  adminOf,
  ask,
  callerOf,
  closeSound,
  openFixture,
  read,
  receive,
} from "./testing/service-fixture.ts";

const APPROVED = receive("https://approved.example.com/a");
const DECLARED = receive("https://declared.example.com/a");
const WANTED = receive("https://wanted.example.com/a");
const DISK_MIB = 32;
const RECOVERY = { timeout: 60_000 };

let server: PostgresServer;
beforeAll(async () => {
  server = await startSmallPostgres(DISK_MIB);
});
afterAll(() => server.stop());

it("attack: who fills the disk gets nothing beyond the allowlist, and nobody has to start anything anew", async () => {
  const url = await server.makeDatabase();
  const fixture = await openFixture({ opened: await openPostgresStore({ url }), batchAgeMs: 20 });
  const { service } = fixture;
  const by = { subject: READER, access: APPROVED } as const;
  expect((await service.approvePermanently(adminOf(), by)).ok).toBe(true);
  const codeOf = async (what: typeof APPROVED) => (await service.check(callerOf(), ask(what))).code;
  expect(await codeOf(APPROVED)).toBe("allowed_permanent");

  const free = await server.fill(url);
  let asked = 0;
  // WHY more than once: pages that are there already have room for a few rows.
  await expect.poll(() => codeOf(read(`/srv/full/${asked++}`)), RECOVERY).toBe("unavailable");
  await expect.poll(() => codeOf(APPROVED), RECOVERY).toBe("unavailable");
  expect(await codeOf(DECLARED)).toBe("allowed_sandbox");
  await expect(
    service.approvePermanently(adminOf(), { subject: READER, access: WANTED }),
  ).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("disk of the database") });

  await free();
  await expect.poll(() => codeOf(APPROVED), RECOVERY).toBe("allowed_permanent");
  expect(await codeOf(WANTED)).toBe("approval_required");
  expect((await service.list.approvals(adminOf())).rows).toHaveLength(1);
  await closeSound(fixture);
});
