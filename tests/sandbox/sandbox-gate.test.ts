/** From a system call of any program to a person and back: the sandbox, the gate and the service, all real. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { GateClient } from "@sallyport/gate";
import { gateDecider, gateViolations } from "@sallyport/sandbox";
import { type Workshop, rules } from "../../packages/sandbox/src/testing/sandbox-fixture.ts";
import {
  type Fixture,
  READER,
  access,
  adminOf,
  eventsOf,
  shown,
} from "../../packages/service/src/testing/service-fixture.ts";
import { type GatedWorkshop, openGatedWorkshop } from "./gated-workshop.ts";

let gated: GatedWorkshop;
let fixture: Fixture;
let shop: Workshop;
let client: GateClient;

beforeEach(async () => {
  gated = await openGatedWorkshop();
  ({ fixture, shop, client } = gated);
});
afterEach(() => gated.close());

const run = (script: string, allow = rules(`${shop.folder}/none/`, "read")) =>
  shop.shell(script, {
    allow,
    ruling: gateDecider(client, { waitMs: () => 60_000 }),
    onViolation: gateViolations(client),
  });

/** The pending requests, as soon as there are so many. */
async function pending(count: number) {
  for (;;) {
    const { rows } = await fixture.service.list.requests(adminOf());
    const open = rows.filter(({ status }) => status === "pending");
    if (open.length >= count) return open;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const violations = async () => (await eventsOf(fixture)).filter(({ type }) => type === "sandbox.violation");

describe("a call that the confinement does not grant", () => {
  it("becomes a request of its subject, waits, and goes on when it is approved", async () => {
    const path = join(shop.folder, "customers.csv");
    writeFileSync(path, "a,b\n");
    const ended = run(`cat ${path}`);
    const [request] = await pending(1);
    expect(request).toMatchObject({
      subject: READER,
      resource: { type: "filesystem", operation: "read", target: path },
    });
    await fixture.service.approveForSession(adminOf(), await shown(fixture.service, request?.id));
    expect(await ended).toMatchObject({ stdout: "a,b\n", code: 0 });
  });

  it("is refused with EACCES when it is denied, and the violation is recorded", async () => {
    const path = join(shop.folder, "never");
    const ended = run(`echo x > ${path}`);
    const [request] = await pending(1);
    await fixture.service.deny(adminOf(), await shown(fixture.service, request?.id));
    expect((await ended).stderr).toContain("Permission denied");
    expect(existsSync(path)).toBe(false);
    await expect.poll(async () => (await violations()).length).toBeGreaterThan(0);
  });

  it("asks for each part, and goes on only when all are approved", async () => {
    const from = join(shop.folder, "from");
    writeFileSync(from, "moved");
    const to = join(shop.folder, "to");
    const ended = run(`mv ${from} ${to}`);
    const requests = await pending(2);
    expect(requests.map(({ resource }) => resource.operation).toSorted()).toEqual(["create", "delete"]);
    for (const { id } of requests)
      await fixture.service.approveForSession(adminOf(), await shown(fixture.service, id));
    expect(await ended).toMatchObject({ code: 0 });
    expect(readFileSync(to, "utf8")).toBe("moved");
  });

  it("does not go on when one part is denied, whatever the others are", async () => {
    const from = join(shop.folder, "kept");
    writeFileSync(from, "kept");
    const ended = run(`mv ${from} ${join(shop.folder, "to")}`);
    for (const { id, resource } of await pending(2)) {
      const by = await shown(fixture.service, id);
      if (resource.operation === "delete") await fixture.service.deny(adminOf(), by);
      else await fixture.service.approveForSession(adminOf(), by);
    }
    expect((await ended).code).not.toBe(0);
    expect(readFileSync(from, "utf8")).toBe("kept");
  });

  it("attack: a rename to where an approval lets read needs the right to read at the old name", async () => {
    const secret = join(shop.folder, "secret");
    writeFileSync(secret, "secret");
    const target = join(shop.folder, "open");
    const approval = { subject: READER, access: access("filesystem", "read", target) };
    await fixture.service.approvePermanently(adminOf(), approval);
    const allow = rules(`${shop.folder}/`, "create", "delete");
    const ended = run(`mv ${secret} ${target}; cat ${target}`, allow);
    const [request] = await pending(1);
    expect(request?.resource).toMatchObject({ operation: "read", target: secret });
    await fixture.service.deny(adminOf(), await shown(fixture.service, request?.id));
    expect((await ended).stdout).toBe("");
    expect(readFileSync(secret, "utf8")).toBe("secret");
  });

  it("is answered at once where it was approved before, and never again after the service is gone", async () => {
    const path = join(shop.folder, "known");
    writeFileSync(path, "known");
    const known = { subject: READER, access: access("filesystem", "read", path) };
    await fixture.service.approvePermanently(adminOf(), known);
    expect(await run(`cat ${path}`)).toMatchObject({ stdout: "known", code: 0 });
    client.close();
    expect(await run(`cat ${path}`)).toMatchObject({ stdout: "", code: 1 });
  });
});
