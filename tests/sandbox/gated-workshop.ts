/** A sandbox whose questions go to a real service over a real gate. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GateClient, connectGate, openPrivateRealm } from "@sallyport/gate";
import {
  IDENTITIES,
  type Workshop,
  openWorkshop,
} from "../../packages/sandbox/src/testing/sandbox-fixture.ts";
import { buildRealmScript, socketPair } from "../../packages/service/src/testing/gate-fixture.ts";
import {
  type Fixture,
  type FixtureOptions,
  callerOf,
  openFixture,
} from "../../packages/service/src/testing/service-fixture.ts";

export interface GatedWorkshop {
  readonly fixture: Fixture;
  readonly shop: Workshop;
  readonly client: GateClient;
  close(): Promise<void>;
}

export async function openGatedWorkshop(options: FixtureOptions = {}): Promise<GatedWorkshop> {
  const [who] = IDENTITIES;
  if (who === undefined) throw new Error("there is nobody to run as");
  const folder = mkdtempSync(join(tmpdir(), "sp-gate-"));
  const fixture = await openFixture(options);
  const shop = await openWorkshop(who);
  const { near, far } = await socketPair();
  fixture.service.gate.attachChild(near, callerOf(), { enforcer: "sandbox" });
  const script = await buildRealmScript(join(folder, "realm-script.js"));
  const client = await connectGate(far, { realm: openPrivateRealm({ seed: [3, 4], script }) });
  return {
    fixture,
    shop,
    client,
    close: async () => {
      client.close();
      shop.close();
      await fixture.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
