/**
 * Owns the SQLite store in the folder of its first argument and runs a service on it; does what it is told over IPC.
 * `approve_all` answers once for every decision, after it was acknowledged.
 */
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
} from "./service-fixture.ts";

export type OwnerMessage =
  | { readonly do: "open" | "close" | "approve_all" | "find_approvals" | "fill" | "free" }
  | { readonly do: "protect"; readonly as: "read-only" | "writable" }
  | { readonly do: "request"; readonly count: number }
  | { readonly do: "check"; readonly target: string };

const [folder = ""] = process.argv.slice(2);
const ballast = join(folder, "ballast");
let fixture: Fixture | null = null;
let known: { readonly requestId: string; readonly digest: string }[] = [];

function opened(): Fixture {
  if (fixture === null) throw new Error("open the store first");
  return fixture;
}

async function obey(message: OwnerMessage): Promise<unknown> {
  switch (message.do) {
    case "open":
      fixture = await openFixture({ folder, batchAgeMs: 20 });
      fixture.actions.register({ name: "demo.resume", module: "demo", handler: () => undefined });
      await fixture.service.approvePermanently(adminOf(), {
        subject: READER,
        access: receive("https://approved.example.com/a"),
      });
      return "opened";
    case "close":
      await opened().close();
      fixture = null;
      return "closed";
    case "check": {
      const { service } = opened();
      return (await service.check(callerOf(), ask(receive(message.target)))).code;
    }
    case "request": {
      const { service } = opened();
      known = [];
      for (let index = 0; index < message.count; index++) {
        const words = {
          ...ask(read(`/srv/${index}`)),
          resumeAction: "demo.resume",
          resumeContext: { index },
        };
        const { requestId } = await service.require(callerOf(), words);
        known.push(await shown(service, requestId));
      }
      return "requested";
    }
    case "approve_all":
      for (const seen of known) {
        const { ok } = await opened().service.approvePermanently(adminOf(), seen);
        if (ok) process.send?.({ value: seen.requestId });
      }
      return "all";
    case "find_approvals": {
      const wanted = { code: "approve_permanently" };
      return (await opened().store.read((tx) => tx.events.search(wanted, { limit: 10 }))).rows.length;
    }
    case "fill":
      fill();
      return "full";
    case "free":
      rmSync(ballast, { force: true });
      return "free";
    case "protect":
      protect(message.as);
      return message.as;
  }
}

/** WHY: rights do not bind root, so as root this process is nobody while the store is read-only. */
function protect(as: "read-only" | "writable"): void {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(0);
  chmodSync(folder, as === "read-only" ? 0o555 : 0o700);
  chmodSync(join(folder, "store.db"), as === "read-only" ? 0o444 : 0o600);
  if (isRoot && as === "read-only") process.seteuid?.(65_534);
}

/** To the last byte. */
function fill(): void {
  for (const bytes of [65_536, 4096]) {
    try {
      for (;;) writeFileSync(ballast, Buffer.alloc(bytes), { flag: "a" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }
}

process.on("message", (message) => {
  obey(message as OwnerMessage).then(
    (value) => process.send?.({ value }),
    (error: unknown) => {
      const { name, message: text, code, owner } = error as Error & { code?: string; owner?: unknown };
      process.send?.({ error: { name, message: text, code, owner } });
    },
  );
});
