import { afterEach, describe, expect, it } from "vitest";
import {
  type Fixture,
  READER,
  SYSTEM,
  adminOf,
  ask,
  callerOf,
  closeSound,
  openFixture,
  read,
  receive,
  shown,
} from "./testing/service-fixture.ts";

let fixture: Fixture;
afterEach(() => closeSound(fixture));

describe("a list", () => {
  it("is read page by page, and rows that arrive meanwhile shift nothing", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const ids: string[] = [];
    for (let index = 0; index < 7; index++) {
      const { requestId = "" } = await service.check(callerOf(), ask(read(`/srv/list/${index}`)));
      ids.push(requestId);
    }
    const seen: string[] = [];
    let after = null;
    for (let page = 0; page < 3; page++) {
      const { rows, next } = await service.list.requests(adminOf(), {}, { limit: 3, after });
      seen.push(...rows.map(({ id }) => id as string));
      after = next as never;
      await service.check(callerOf(), ask(read(`/srv/list/new-${page}`)));
    }
    expect(after).toBeNull();
    expect(seen.toSorted()).toEqual(ids.toSorted());
  });

  it("is narrowed by every identity field", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    await service.check(callerOf(), ask(read("/srv/a")));
    await service.check(callerOf(SYSTEM), ask(read("/srv/a")));
    await service.check(callerOf(READER, { sessionKey: null }), ask(receive("https://x.example.com/")));
    const count = async (filter: Parameters<typeof service.list.requests>[1]) =>
      (await service.list.requests(adminOf(), filter)).rows.length;
    expect(await count({ subjectType: "tool" })).toBe(2);
    expect(await count({ subjectName: "system" })).toBe(1);
    expect(await count({ resourceType: "network" })).toBe(1);
    expect(await count({ target: "/srv/a" })).toBe(2);
    expect(await count({ sessionKey: null })).toBe(1);
    expect(await count({ userId: "21" })).toBe(0);
    expect(await count({ status: "denied" })).toBe(0);
  });

  it("offers widenings of a request that are then accepted, and shows no credential", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const target = receive("https://unknown.example.com/v1/a?token=s3cr3t-value-1234");
    const { requestId = "" } = await service.check(callerOf(), ask(target));
    const offered = await service.list.widenings(adminOf(), requestId);
    expect(offered.map(({ match }) => match)).toContain("origin");
    expect(JSON.stringify(offered.map(({ label }) => label))).not.toContain("s3cr3t");
    const wide = offered.find(({ match }) => match === "origin");
    const widen = { match: wide?.match ?? "exact", target: wide?.target ?? "" };
    expect(
      await service.approvePermanently(adminOf(), await shown(service, requestId), { widen }),
    ).toMatchObject({ ok: true, approval: { match: "origin" } });
    expect(await service.list.widenings(adminOf(), "request-none")).toEqual([]);
  });

  it("finds events by identity, code and source", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    await service.check(callerOf(), ask(receive("https://declared.example.com/x")));
    await service.check(callerOf(READER, { mode: "never" }), ask(read("/srv/a")));
    const codes = async (filter: Parameters<typeof service.list.events>[1]) =>
      (await service.list.events(adminOf(), filter)).rows.map(({ code }) => code);
    expect(await codes({ code: "denied_mode" })).toEqual(["denied_mode"]);
    expect(await codes({ decisionSource: "manifest" })).toEqual(["allowed_sandbox"]);
    expect(await codes({ target: "/srv/a", userId: 21 })).toEqual(["denied_mode"]);
    expect(await codes({ organizationId: 0 })).toEqual([]);
    expect(await codes({ taskId: "task-1", subjectName: READER.name, operation: "read" })).toEqual([
      "denied_mode",
    ]);
    expect(await codes({ taskId: null })).toEqual([]);
  });

  it("finds an event by a target that the log only holds masked", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const target = "https://declared.example.com/x?token=s3cr3t-value-1234";
    await service.check(callerOf(), ask(receive(target)));
    const { rows } = await service.list.events(adminOf(), { target });
    expect(rows.map(({ code }) => code)).toEqual(["allowed_sandbox"]);
    expect(JSON.stringify(rows)).not.toContain("s3cr3t");
  });
});
