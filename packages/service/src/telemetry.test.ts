/** Spans and metrics as the SDK of OpenTelemetry gets them. */
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Telemetry } from "./telemetry.ts";
import { bundledProgram } from "./testing/bundled-program.ts";
import { FaultyStore } from "./testing/faulty-store.ts";
import type * as Sdk from "./testing/open-telemetry.ts";
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

const DECLARED = receive("https://declared.example.com/x");
const SECRET = "s3cr3t-value-1234";
const LOST = 25;
/** What the log holds while it cannot be written. */
const ROOM = 10_000;

let sdk: typeof Sdk;
let bundle: string;
beforeAll(async () => {
  bundle = await bundledProgram("open-telemetry.ts");
  sdk = (await import(pathToFileURL(bundle).href)) as typeof Sdk;
});
afterAll(() => rmSync(dirname(bundle), { recursive: true, force: true }));

let fixture: Fixture;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  sdk.trace.disable();
  sdk.metrics.disable();
  for (const close of closing.splice(0)) await close();
  await fixture.close();
});

interface Point {
  readonly attributes: object;
  readonly value: unknown;
}

/** A collector of the SDK that keeps what it is told. */
function collector() {
  const exporter = new sdk.InMemorySpanExporter();
  const tracerProvider = new sdk.BasicTracerProvider({
    spanProcessors: [new sdk.SimpleSpanProcessor(exporter)],
  });
  const reader = new sdk.PeriodicExportingMetricReader({
    exporter: new sdk.InMemoryMetricExporter(sdk.AggregationTemporality.CUMULATIVE),
    exportIntervalMillis: 3_600_000,
  });
  const meterProvider = new sdk.MeterProvider({ readers: [reader] });
  closing.push(
    () => tracerProvider.shutdown(),
    () => meterProvider.shutdown(),
  );
  return {
    tracerProvider,
    meterProvider,
    spans: () => exporter.getFinishedSpans(),
    points: async (): Promise<ReadonlyMap<string, readonly Point[]>> => {
      const { resourceMetrics, errors } = await reader.collect();
      expect(errors).toEqual([]);
      const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
      return new Map(
        all.map(({ descriptor, dataPoints }) => [
          descriptor.name,
          dataPoints.map(({ attributes, value }) => ({ attributes, value })),
        ]),
      );
    },
  };
}

/** One of everything that is watched. */
async function useAll({ service, actions }: Fixture): Promise<void> {
  const runs = { failed: false };
  actions.register({
    name: "demo.resume",
    module: "demo",
    handler: () => {
      if (runs.failed) return;
      runs.failed = true;
      throw new Error(`it failed with ${SECRET}`);
    },
  });
  const target = receive(`https://unknown.example.com/v1?token=${SECRET}`);
  const { requestId } = await service.require(callerOf(), {
    ...ask(target),
    resumeAction: "demo.resume",
    resumeContext: { password: SECRET },
  });
  await service.wait(callerOf(), requestId ?? "", { timeoutMs: 10 });
  const words = { reason: `because of ${SECRET}` };
  const seen = await shown(service, requestId);
  await service.approvePermanently(adminOf(), seen, words);
  await service.deny(adminOf(2), seen, words);
  await service.wait(callerOf(), requestId ?? "", { timeoutMs: 10_000 });
  await service.executor.runDue();
  await service.deny(adminOf(), { subject: READER, access: read("/srv/b") });
  await service.check(callerOf(), ask(read("/srv/b")));
  await service.check(callerOf(), ask(read("/srv/a")));
  await service.check(callerOf(), ask(DECLARED));
  await service.check(callerOf(), ask(DECLARED));
  await service.revokeApproval(adminOf(), { id: "approval-none" });
  await service.audit.flush();
}

describe("telemetry", () => {
  it("has a span for every verb, with its code and a masked target", async () => {
    const { spans, tracerProvider } = collector();
    fixture = await openFixture({ telemetry: { tracerProvider } });
    await useAll(fixture);
    expect(new Set(spans().map(({ name }) => name))).toEqual(
      new Set(["check", "require", "decide", "resume", "revoke", "wait"].map((name) => `sallyport.${name}`)),
    );
    const required = spans().find(({ name }) => name === "sallyport.require");
    expect(required?.attributes).toEqual({
      "sallyport.subject.type": "tool",
      "sallyport.subject.name": "demo.read_file",
      "sallyport.resource.type": "network",
      "sallyport.resource.operation": "receive",
      "sallyport.resource.target": expect.stringMatching(
        /^https:\/\/unknown\.example\.com\/v1\?token=/,
      ) as string,
      "sallyport.outcome": "approval_required",
    });
    expect(spans().every(({ ended }) => ended)).toBe(true);
    const outcomes = spans()
      .filter(({ name }) => name === "sallyport.wait")
      .map(({ attributes }) => attributes["sallyport.outcome"]);
    expect(outcomes).toEqual(["timed_out", "settled"]);
  });

  it("marks a span whose work failed, and says no more than the name of the error", async () => {
    const { spans, tracerProvider } = collector();
    fixture = await openFixture({ telemetry: { tracerProvider } });
    const refused = fixture.service.approvePermanently(callerOf(), { subject: READER, access: DECLARED });
    await expect(refused).rejects.toThrow(/may not/);
    const failed = spans().find(({ name }) => name === "sallyport.decide");
    expect(failed?.status).toEqual({ code: 2 });
    expect(failed?.attributes).toEqual({
      "sallyport.action": "approve_permanently",
      "error.type": "PermissionError",
    });
    expect(failed?.events).toEqual([]);
  });

  it("tells nothing of a credential, a person, a session, a reason or a context", async () => {
    const { spans, points, tracerProvider, meterProvider } = collector();
    fixture = await openFixture({ telemetry: { tracerProvider, meterProvider } });
    await useAll(fixture);
    const told = JSON.stringify([
      spans().map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
      [...(await points())],
    ]);
    expect(told).toContain("unknown.example.com");
    for (const word of ["s3cr3t", "sess-21", "because", "password", "it failed", "user"])
      expect(told).not.toContain(word);
  });

  it("counts checks by code, decisions, resumes and what waits, and measures waits and batches", async () => {
    const { points, meterProvider } = collector();
    fixture = await openFixture({ telemetry: { meterProvider } });
    await useAll(fixture);
    const told = await points();
    const counts = (name: string) => new Set(told.get(name));
    expect(counts("sallyport.checks")).toEqual(
      new Set([
        { attributes: { code: "approval_required" }, value: 2 },
        { attributes: { code: "allowed_sandbox" }, value: 2 },
        { attributes: { code: "resource_disabled" }, value: 1 },
      ]),
    );
    expect(counts("sallyport.decisions")).toEqual(
      new Set([
        { attributes: { action: "approve_permanently", outcome: "ok" }, value: 1 },
        { attributes: { action: "deny", outcome: "ok" }, value: 1 },
        { attributes: { action: "deny", outcome: "already_decided" }, value: 1 },
        { attributes: { action: "revoke_approval", outcome: "ok" }, value: 1 },
      ]),
    );
    expect(counts("sallyport.resume.attempts")).toEqual(
      new Set([{ attributes: { outcome: "ran" }, value: 1 }]),
    );
    expect(told.get("sallyport.requests.pending")).toEqual([{ attributes: {}, value: 1 }]);
    const waits = new Map(
      told.get("sallyport.wait.duration")?.map((point) => [outcomeOf(point), point.value]),
    );
    expect(waits.get("timed_out")).toMatchObject({ count: 1 });
    expect(waits.get("settled")).toMatchObject({ count: 1 });
    const [rows] = told.get("sallyport.audit.batch.rows") ?? [];
    const [lag] = told.get("sallyport.audit.batch.lag") ?? [];
    expect(rows).toBeDefined();
    const { count, sum } = (rows as Point).value as { readonly count: number; readonly sum: number };
    expect(count).toBeGreaterThan(0);
    expect(sum).toBeGreaterThanOrEqual(count);
    expect(lag?.value).toMatchObject({ count });
    expect(told.get("sallyport.audit.lost") ?? []).toEqual([]);
  });

  it("hands on durations in milliseconds and sizes in rows", async () => {
    const { points, meterProvider } = collector();
    fixture = await openFixture();
    const telemetry = new Telemetry({ meterProvider });
    telemetry.waited(1234, "settled");
    telemetry.batch(7, 30);
    const told = await points();
    expect(told.get("sallyport.wait.duration")).toMatchObject([{ value: { sum: 1234 } }]);
    expect(told.get("sallyport.audit.batch.rows")).toMatchObject([{ value: { sum: 7 } }]);
    expect(told.get("sallyport.audit.batch.lag")).toMatchObject([{ value: { sum: 30 } }]);
  });

  it("counts the plain allows that could not be recorded", async () => {
    const { points, meterProvider } = collector();
    let store: FaultyStore | undefined;
    const wrap = (real: Fixture["store"]) => (store = new FaultyStore(real));
    fixture = await openFixture({ wrap, telemetry: { meterProvider }, batchAgeMs: 60_000 });
    (store as FaultyStore).failsWrites = true;
    const plain = ask(DECLARED);
    for (let at = 0; at < ROOM + LOST; at++) await fixture.service.check(callerOf(), plain);
    (store as FaultyStore).failsWrites = false;
    const lost = (await points()).get("sallyport.audit.lost");
    expect(lost).toEqual([{ attributes: {}, value: LOST }]);
    expect(fixture.service.audit.lost).toBe(LOST);
  });

  it("leaves a gap where what waits cannot be counted", async () => {
    const { points, meterProvider } = collector();
    let store: FaultyStore | undefined;
    const wrap = (real: Fixture["store"]) => (store = new FaultyStore(real));
    fixture = await openFixture({ wrap, telemetry: { meterProvider } });
    (store as FaultyStore).failsReads = true;
    expect((await points()).get("sallyport.requests.pending") ?? []).toEqual([]);
    (store as FaultyStore).failsReads = false;
    expect((await points()).get("sallyport.requests.pending")).toEqual([{ attributes: {}, value: 0 }]);
  });

  it("goes to the registered providers where none are given", async () => {
    const { spans, points, tracerProvider, meterProvider } = collector();
    expect(sdk.trace.setGlobalTracerProvider(tracerProvider)).toBe(true);
    expect(sdk.metrics.setGlobalMeterProvider(meterProvider)).toBe(true);
    fixture = await openFixture();
    await fixture.service.check(callerOf(), ask(DECLARED));
    expect(spans().map(({ name }) => name)).toEqual(["sallyport.check"]);
    expect((await points()).get("sallyport.checks")).toMatchObject([{ value: 1 }]);
  });

  it("changes nothing and keeps nothing where no provider is registered", async () => {
    fixture = await openFixture();
    await useAll(fixture);
    expect(await fixture.service.check(callerOf(), ask(read("/srv/c")))).toMatchObject({
      code: "approval_required",
    });
    const { spans, points, tracerProvider, meterProvider } = collector();
    sdk.trace.setGlobalTracerProvider(tracerProvider);
    sdk.metrics.setGlobalMeterProvider(meterProvider);
    expect(spans()).toEqual([]);
    expect([...(await points()).keys()]).toEqual([]);
  });
});

function outcomeOf({ attributes }: Point): string {
  return (attributes as { readonly outcome: string }).outcome;
}
