/** Spans and metrics as a provider of the OpenTelemetry API gets them. */
import {
  type Attributes,
  type MeterProvider,
  type Span,
  type TracerProvider,
  createNoopMeter,
} from "@opentelemetry/api";
import { afterEach, describe, expect, it } from "vitest";
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

let fixture: Fixture;
afterEach(() => fixture.close());

interface Told {
  readonly name: string;
  readonly attributes: Attributes;
}

/** Keeps what it is told. */
function recorder(): { readonly told: Told[]; readonly tracerProvider: TracerProvider } {
  const told: Told[] = [];
  const startSpan = (name: string): Span => {
    const attributes: Attributes = {};
    const span = {
      isRecording: () => true,
      setAttributes: (more: Attributes) => Object.assign(attributes, more),
      setAttribute: (key: string, value: string) => Object.assign(attributes, { [key]: value }),
      setStatus: () => undefined,
      end: () => told.push({ name, attributes }),
    };
    return span as unknown as Span;
  };
  const tracer = { startSpan, startActiveSpan: () => undefined };
  return { told, tracerProvider: { getTracer: () => tracer } as unknown as TracerProvider };
}

function counter(): { readonly told: Told[]; readonly meterProvider: MeterProvider } {
  const told: Told[] = [];
  const meter = Object.assign(createNoopMeter(), {
    createCounter: (name: string) => ({
      add: (_: number, attributes: Attributes = {}) => told.push({ name, attributes }),
    }),
    createHistogram: (name: string) => ({
      record: (value: number) => told.push({ name, attributes: { value } }),
    }),
  });
  return { told, meterProvider: { getMeter: () => meter } };
}

describe("telemetry", () => {
  it("has a span for every verb, with its code and a masked target, and no person in it", async () => {
    const { told: finished, tracerProvider } = recorder();
    fixture = await openFixture({ telemetry: { tracerProvider } });
    const { service } = fixture;
    fixture.actions.register({ name: "demo.resume", module: "demo", handler: () => undefined });
    const target = receive("https://unknown.example.com/v1?token=s3cr3t-value-1234");
    const { requestId } = await service.require(callerOf(), { ...ask(target), resumeAction: "demo.resume" });
    await service.approvePermanently(adminOf(), await shown(service, requestId));
    await service.executor.runDue();
    await service.revokeApproval(adminOf(), { id: "approval-none" });
    await service.wait(callerOf(), requestId ?? "", { timeoutMs: 10 });
    expect(new Set(finished.map(({ name }) => name))).toEqual(
      new Set(["check", "require", "decide", "resume", "revoke", "wait"].map((name) => `sallyport.${name}`)),
    );
    const check = finished.find(({ name }) => name === "sallyport.check");
    expect(check?.attributes).toMatchObject({
      "sallyport.subject.type": "tool",
      "sallyport.subject.name": "demo.read_file",
      "sallyport.resource.operation": "receive",
      "sallyport.outcome": "approval_required",
    });
    const told = JSON.stringify(finished.map(({ attributes }) => attributes));
    expect(told).not.toContain("s3cr3t");
    expect(told).not.toContain("sess-21");
  });

  it("counts checks by code, decisions and batches", async () => {
    const { told, meterProvider } = counter();
    fixture = await openFixture({ telemetry: { meterProvider } });
    const { service } = fixture;
    await service.check(callerOf(), ask(read("/srv/a")));
    await service.check(callerOf(), ask(receive("https://declared.example.com/x")));
    await service.deny(adminOf(), { subject: READER, access: read("/srv/b") });
    await service.audit.flush();
    expect(told).toContainEqual({ name: "sallyport.checks", attributes: { code: "approval_required" } });
    expect(told).toContainEqual({ name: "sallyport.checks", attributes: { code: "allowed_sandbox" } });
    const decision = { action: "deny", outcome: "ok" };
    expect(told).toContainEqual({ name: "sallyport.decisions", attributes: decision });
    expect(told.map(({ name }) => name)).toContain("sallyport.audit.batch.rows");
  });

  it("changes nothing where no provider is registered", async () => {
    fixture = await openFixture();
    expect(await fixture.service.check(callerOf(), ask(read("/srv/a")))).toMatchObject({
      code: "approval_required",
    });
  });
});
