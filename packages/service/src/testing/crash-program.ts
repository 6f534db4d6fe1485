/**
 * Does one thing on the store in the folder of its first argument, or at the URL of its second, and dies before the
 * call of its last; where it lives on it says so on its standard output, and how many calls it took.
 */
import { appendFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DeadlyStore } from "./deadly-store.ts";
import { CRASH_TARGET, crashFixture } from "./crash-scenario.ts";
import { READER, adminOf, ask, callerOf, shown } from "./service-fixture.ts";

const [folder = "", url = "", scenario = "", deadlyCall = "0"] = process.argv.slice(2);
let deadly: DeadlyStore | undefined;
const { service } = await crashFixture(
  { folder, url: url === "" ? null : url },
  {
    wrap: (real) => (deadly = new DeadlyStore(real)),
    ran: (line) => appendFileSync(join(folder, "runs"), `${line}\n`),
  },
);
const pending = (await service.list.requests(adminOf(), { status: "pending" })).rows[0];
const approval = (await service.list.approvals(adminOf())).rows[0];
const seen = pending === undefined ? { requestId: "", digest: "" } : await shown(service, pending.id);
deadly?.arm(Number(deadlyCall));

const work: Readonly<Record<string, () => Promise<unknown>>> = {
  register: () =>
    service.require(callerOf(READER), {
      ...ask(CRASH_TARGET),
      resumeAction: "demo.resume",
      resumeContext: { page: 3 },
    }),
  approve: () => service.approvePermanently(adminOf(), seen),
  approve_for_session: () => service.approveForSession(adminOf(), seen),
  deny: () => service.deny(adminOf(), seen),
  block: () => service.block(adminOf(), seen),
  revoke: () => service.revokeApproval(adminOf(), { id: approval?.id ?? "" }),
  resume: () => service.executor.runDue(),
};
const answer = await work[scenario]?.();
// INVARIANT: written to the file descriptor at once; what was acknowledged must be seen even by a death right after.
writeSync(1, JSON.stringify({ acknowledged: answer, calls: deadly?.calls ?? 0 }));
process.kill(process.pid, "SIGKILL");
