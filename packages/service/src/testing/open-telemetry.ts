/**
 * The SDK of OpenTelemetry in one file. WHY: its modules for bundlers cannot be imported by Node. Its copy of the API
 * shares the registered providers with the service's, through a symbol of the process.
 */
export { metrics, trace } from "@opentelemetry/api";
export {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
export {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
