/**
 * Spans and metrics of one node through the OpenTelemetry API; without a provider every call is a no-op of that API.
 * Targets are masked before they become attributes; users, sessions, reasons and contexts never become any.
 * Must never decide, delay or fail what it watches.
 */
import {
  type Attributes,
  type Counter,
  type Histogram,
  type MeterProvider,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  context,
  createNoopMeter,
  metrics,
  trace,
} from "@opentelemetry/api";
import type { Subject } from "@sallyport/contract";
import { maskTarget } from "./audit/event-masking.ts";
import { type Ask, isAccess } from "./caller-context.ts";

const SCOPE = "@sallyport/service";

/** The global ones unless said. A meter is taken when the service is made: register a provider before. */
export interface TelemetryProviders {
  readonly tracerProvider?: TracerProvider | undefined;
  readonly meterProvider?: MeterProvider | undefined;
}

export interface Watched<T> {
  readonly name: `sallyport.${string}`;
  /** Asked for only where the span is recorded. */
  readonly attributes: () => Attributes;
  readonly outcome: (result: T) => string;
}

export class Telemetry {
  readonly #tracer: Tracer;
  readonly #checks: Counter;
  readonly #decisions: Counter;
  readonly #resumes: Counter;
  readonly #lost: Counter;
  readonly #waits: Histogram;
  readonly #batchRows: Histogram;
  readonly #batchLag: Histogram;
  readonly #observePending: (count: () => Promise<number>) => () => void;

  constructor({ tracerProvider, meterProvider }: TelemetryProviders = {}) {
    this.#tracer = (tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE);
    const meter = (meterProvider ?? metrics.getMeterProvider()).getMeter(SCOPE);
    this.#checks = meter.createCounter("sallyport.checks", { description: "checks by code" });
    this.#decisions = meter.createCounter("sallyport.decisions", { description: "acts of persons" });
    this.#resumes = meter.createCounter("sallyport.resume.attempts", { description: "runs of resumes" });
    this.#lost = meter.createCounter("sallyport.audit.lost", {
      description: "plain allows that could not be recorded",
    });
    this.#waits = meter.createHistogram("sallyport.wait.duration", { unit: "ms" });
    this.#batchRows = meter.createHistogram("sallyport.audit.batch.rows", { unit: "{row}" });
    this.#batchLag = meter.createHistogram("sallyport.audit.batch.lag", { unit: "ms" });
    const pending = meter.createObservableGauge("sallyport.requests.pending");
    this.#observePending = (count) => {
      const observe = async (result: { observe(value: number): void }): Promise<void> => {
        // WHY: a store that cannot be asked leaves a gap in the metric and nothing else.
        const value = await count().catch(() => null);
        if (value !== null) result.observe(value);
      };
      pending.addCallback(observe);
      return () => pending.removeCallback(observe);
    };
  }

  async span<T>({ name, attributes, outcome }: Watched<T>, work: () => Promise<T>): Promise<T> {
    const span = this.#tracer.startSpan(name);
    if (!span.isRecording()) return work();
    span.setAttributes(attributes());
    try {
      const result = await context.with(trace.setSpan(context.active(), span), work);
      span.setAttribute("sallyport.outcome", outcome(result));
      return result;
    } catch (error) {
      // WHY no message: it may hold words of a person or of a driver.
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute("error.type", error instanceof Error ? error.name : "unknown");
      throw error;
    } finally {
      span.end();
    }
  }

  checked(code: string): void {
    this.#checks.add(1, { code });
  }

  decided(action: string, outcome: string): void {
    this.#decisions.add(1, { action, outcome });
  }

  resumed(outcome: string): void {
    this.#resumes.add(1, { outcome });
  }

  waited(durationMs: number, outcome: string): void {
    this.#waits.record(durationMs, { outcome });
  }

  batch(rows: number, lagMs: number): void {
    this.#batchRows.record(rows);
    this.#batchLag.record(lagMs);
  }

  lost(): void {
    this.#lost.add(1);
  }

  /** Asked for when metrics are collected. Returns how to stop. */
  observePending(count: () => Promise<number>): () => void {
    return this.#observePending(count);
  }
}

export const NO_TELEMETRY = new Telemetry({ meterProvider: { getMeter: () => createNoopMeter() } });

export function subjectAttributes(subject: Subject | undefined): Attributes {
  if (subject === undefined) return {};
  return { "sallyport.subject.type": subject.type, "sallyport.subject.name": subject.name };
}

export function askAttributes({ access }: Pick<Ask, "access">, maskingKey: Uint8Array): Attributes {
  if (!isAccess(access)) return { "sallyport.fault": access.code };
  const { resourceType, operation, target } = access;
  return {
    "sallyport.resource.type": resourceType,
    "sallyport.resource.operation": operation,
    "sallyport.resource.target": maskTarget(resourceType, target.text, maskingKey),
  };
}
