/**
 * Whether the server lives, whether it can answer, and figures for a monitor. Names no subject, target or person.
 */
import type { AccessService } from "@sallyport/service";
import type { Hono } from "hono";
import { ANSWER_HEADERS, malformed, problemResponse } from "../problem.ts";
import { isSameSecret } from "../sign-in/secret-token.ts";
import type { Followers } from "./sse.ts";

export interface HealthParts {
  readonly service: AccessService;
  readonly followers: Followers;
  readonly origin: () => string;
  /** What a monitor has to send as `Authorization: Bearer`; without one figures are given on this machine only. */
  readonly metricsToken?: string | undefined;
}

/** How many answers went out, by class of status. */
export class AnswerCounts {
  readonly #counts = new Map<string, number>();

  add(status: number): void {
    const name = `${Math.floor(status / 100)}xx`;
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  get entries(): readonly (readonly [string, number])[] {
    return [...this.#counts].toSorted(([left], [right]) => (left < right ? -1 : 1));
  }
}

export function addHealthRoutes(app: Hono, parts: HealthParts): void {
  const counts = new AnswerCounts();
  app.use(async (c, next) => {
    await next();
    counts.add(c.res.status);
  });
  app.get("/healthz", () => text("ok\n"));
  app.get("/readyz", () => (parts.service.live ? text("ready\n") : text("not ready\n", 503)));
  app.get("/metrics", async (c) => {
    if (!mayRead(parts, c.req.raw.headers))
      return problemResponse(malformed("there is no such call here", 404).words);
    return text(await figures(parts, counts), 200, "text/plain; version=0.0.4; charset=utf-8");
  });
}

function mayRead({ origin, metricsToken }: HealthParts, headers: Headers): boolean {
  if (metricsToken === undefined) return new URL(origin()).protocol === "http:";
  const [, given = ""] = /^Bearer (\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
  return isSameSecret(given, metricsToken);
}

async function figures({ service, followers }: HealthParts, counts: AnswerCounts): Promise<string> {
  const { overview } = service;
  const { live, revision, freeze } = overview.stateUnchecked();
  const pending = await overview.countPending().catch(() => null);
  const { rss, heapUsed } = process.memoryUsage();
  const lines = [
    ...gauge("sallyport_live", "Whether approvals can be vouched for", live ? 1 : 0),
    ...gauge(
      "sallyport_frozen",
      "Whether everything outside the allowlist is refused",
      freeze.frozen ? 1 : 0,
    ),
    ...gauge("sallyport_revision", "Revision of policy that this node has reached", revision),
    ...(pending === null
      ? []
      : gauge("sallyport_pending_requests", "Requests that wait for a person", pending)),
    ...gauge("sallyport_followers", "Open streams of persons", followers.count),
    ...gauge("sallyport_process_resident_bytes", "Resident memory", rss),
    ...gauge("sallyport_process_heap_bytes", "Heap in use", heapUsed),
    "# HELP sallyport_http_answers_total Answers of the HTTP API by class of status",
    "# TYPE sallyport_http_answers_total counter",
    ...counts.entries.map(([status, count]) => `sallyport_http_answers_total{status="${status}"} ${count}`),
  ];
  return `${lines.join("\n")}\n`;
}

const gauge = (name: string, help: string, value: number): readonly string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} gauge`,
  `${name} ${value}`,
];

function text(body: string, status = 200, type = "text/plain; charset=utf-8"): Response {
  return new Response(body, { status, headers: { ...ANSWER_HEADERS, "content-type": type } });
}
