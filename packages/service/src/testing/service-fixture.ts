/** A service on a real SQLite store in a folder of its own, and callers for it. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Access,
  BLANK_CALLER,
  type Subject,
  parseAccess,
  parseSubject,
  whatwgUrl,
} from "@sallyport/contract";
import type { AccessStore } from "@sallyport/store";
import { openSqliteStore } from "@sallyport/store/sqlite";
import { AccessService } from "../access-service.ts";
import type { AccessServiceOptions } from "../service-options.ts";
import { ActionRegistry } from "../actions.ts";
import { eventOfRow } from "../audit/event-chain.ts";
import type { Ask, CallerContext } from "../caller-context.ts";
import type { NodeClock } from "../node-clock.ts";
import { parseKeyRing } from "../seal/key-ring.ts";

export const parseUrl = whatwgUrl;

export function subject(type: string, name: string): Subject {
  const parsed = parseSubject(type, name);
  if (!parsed.ok) throw new TypeError(parsed.message);
  return parsed.value;
}

export function access(resourceType: string, operation: string, target: string): Access {
  const parsed = parseAccess({ resourceType, operation, target }, parseUrl);
  if (!parsed.ok) throw new TypeError(parsed.message);
  return parsed.value;
}

export const READER = subject("tool", "demo.read_file");
export const SYSTEM = subject("module", "system");
export const DEMO = subject("module", "demo");
export const CORE = subject("core", "core");

export const receive = (target: string): Access => access("network", "receive", target);
export const read = (target: string): Access => access("filesystem", "read", target);

export function frame(who: Subject, contracts: readonly string[] = [], entry: "host" | "guarded" = "host") {
  return { subject: who, phase: "runtime", entry, contracts } as const;
}

/** Guarded code of user 21 in session `sess-21`. */
export function callerOf(who: Subject = READER, changes: Partial<CallerContext> = {}): CallerContext {
  return {
    ...BLANK_CALLER,
    frames: [frame(who, ["contract-demo"])],
    user: { id: 21, roles: ["member"], accessLevel: null },
    organizationId: 7,
    sessionKey: "sess-21",
    taskId: "task-1",
    interactive: true,
    ...changes,
  };
}

/** A person who may decide. */
export function adminOf(id: number | string = 1, changes: Partial<CallerContext> = {}): CallerContext {
  return callerOf(READER, {
    frames: [],
    user: { id, roles: ["super"], accessLevel: null },
    organizationId: null,
    sessionKey: null,
    taskId: null,
    credential: "host",
    ...changes,
  });
}

export function ask(what: Access, changes: Partial<Ask> = {}): Ask {
  return { access: what, attestedBy: "service", enforced: false, ...changes };
}

export class TestClock implements NodeClock {
  atMs = Date.parse("2026-01-31T09:00:00Z");
  #elapsedMs = 0;

  nowMs(): number {
    return this.atMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  advance(byMs: number): void {
    this.atMs += byMs;
    this.#elapsedMs += byMs;
  }

  /** Wall time only. */
  step(byMs: number): void {
    this.atMs += byMs;
  }
}

export interface Fixture {
  readonly service: AccessService;
  readonly store: AccessStore;
  readonly actions: ActionRegistry;
  readonly folder: string;
  readonly options: AccessServiceOptions;
  close(): Promise<void>;
}

export const seed: AccessServiceOptions["seed"] = [1, 2];

export interface FixtureOptions extends Partial<Omit<AccessServiceOptions, "store">> {
  readonly wrap?: ((store: AccessStore) => AccessStore) | undefined;
  /** A folder that exists and is left alone at the end. */
  readonly folder?: string | undefined;
  /** A store that is open already, in place of one on SQLite. It is closed at the end. */
  readonly opened?: AccessStore | undefined;
}

/** One for all, so that another process can open what this one sealed. */
const RING = JSON.stringify({
  format: 1,
  keys: [
    {
      id: "00112233445566aa",
      state: "active",
      created_at: "2026-01-31T09:00:00Z",
      material: Buffer.alloc(32, 5).toString("base64"),
    },
  ],
});

export async function openFixture(fixed: FixtureOptions = {}): Promise<Fixture> {
  const { wrap, folder: given, opened: prepared, ...changes } = fixed;
  const folder = given ?? realpathSync(mkdtempSync(join(tmpdir(), "sallyport-service-")));
  const opened = prepared ?? (await openSqliteStore({ path: join(folder, "store.db") }));
  const store = wrap?.(opened) ?? opened;
  const actions =
    changes.actions ?? new ActionRegistry((who) => (who.name.startsWith("demo.") ? "demo" : undefined));
  const parsed = parseKeyRing(RING);
  if (!parsed.ok) throw new TypeError(parsed.message);
  const { ring } = parsed;
  const options: AccessServiceOptions = {
    store,
    nodeId: "node-a",
    seed,
    parseUrl,
    keyRing: () => ring,
    maskingKey: new Uint8Array(32).fill(7),
    actions,
    ownPlaces: { folders: [folder], sockets: [], apiPorts: [4180], apiHosts: [], apiOrigins: [] },
    runsResumes: false,
    rate: { burst: 100_000, perSecond: 100_000 },
    ...changes,
  };
  const service = new AccessService(options);
  service.applyHost({
    kind: "contract_set",
    contract: {
      id: "contract-demo",
      access: [
        { resourceType: "network", operation: "receive", target: "https://declared.example.com" },
        { resourceType: "filesystem", operation: "modify", target: "/srv/declared/" },
      ],
    },
  });
  service.applyHost({
    kind: "subject_registered",
    registration: { subject: READER, contracts: ["contract-demo"] },
  });
  await service.start();
  return {
    service,
    store,
    actions,
    folder,
    options,
    close: async () => {
      await service.stop();
      await opened.close();
      if (given === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What the approver would click on. */
export async function shown(service: AccessService, requestId: string | undefined) {
  const record = await service.list.request(adminOf(), requestId ?? "");
  if (record === null) throw new Error("there is no such request");
  return { requestId: record.id, digest: record.digest };
}

/** What is wrong with the log: the chain, or an event that its own schema refuses. */
export async function logFaults(fixture: Fixture): Promise<readonly string[]> {
  const rows = await eventsOf(fixture);
  const report = await fixture.service.audit.verify();
  const faults = rows.map((row) => eventOfRow(row)).flatMap((event) => (event.ok ? [] : [event.message]));
  return report.ok ? faults : [report.message, ...faults];
}

/** Closes it; throws where something is wrong with the log. */
export async function closeSound(fixture: Fixture): Promise<void> {
  let faults: readonly string[];
  try {
    faults = await logFaults(fixture);
  } finally {
    await fixture.close();
  }
  if (faults.length > 0) throw new Error(faults.join("\n"));
}

/** Every event of the log, oldest first. */
export async function eventsOf({ service, store }: Fixture) {
  await service.audit.flush();
  const { rows } = await store.read((tx) => tx.events.search({}, { limit: 1000, order: "oldest" }));
  return rows;
}
