/**
 * What every engine must do, once. An engine's test file hands in a way to open an empty store; the suite opens
 * one for every test, over the real engine.
 */
import { afterEach, beforeEach, describe } from "vitest";
import { auditConformance } from "./conformance-audit.ts";
import { concurrencyConformance } from "./conformance-concurrency.ts";
import { decisionConformance } from "./conformance-decisions.ts";
import { identityConformance } from "./conformance-identity.ts";
import { jobConformance } from "./conformance-jobs.ts";
import { modelConformance } from "./conformance-model.ts";
import { recordConformance } from "./conformance-records.ts";
import { requestConformance } from "./conformance-requests.ts";
import { transactionConformance } from "./conformance-transactions.ts";
import type { Current, OpenEmpty, StoreUnderTest } from "./store-under-test.ts";

export function storeConformance(name: string, openEmpty: OpenEmpty): void {
  describe(`the store on ${name}`, () => {
    let open: StoreUnderTest | null = null;
    beforeEach(async () => {
      open = await openEmpty();
    });
    afterEach(async () => {
      await open?.dispose();
      open = null;
    });
    const current: Current = () => {
      if (open === null) throw new Error("no store is open outside a test");
      return open;
    };
    transactionConformance(current);
    identityConformance(current);
    requestConformance(current);
    decisionConformance(current);
    jobConformance(current);
    auditConformance(current);
    recordConformance(current);
    concurrencyConformance(current);
    modelConformance(current);
  });
}
