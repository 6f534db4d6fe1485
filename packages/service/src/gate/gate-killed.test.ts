import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type ChildPrograms,
  GatedChild,
  buildChildPrograms,
  buildHostProgram,
} from "../testing/gate-fixture.ts";

const network = (target: string) => ({ resourceType: "network", operation: "receive", target });
const APPROVED = network("https://unknown.example.com/a");
const DECLARED = network("https://declared.example.com/a");

let programs: ChildPrograms;
let host: string;
beforeAll(async () => {
  programs = await buildChildPrograms();
  host = await buildHostProgram();
});
afterAll(() => {
  programs.remove();
  rmSync(dirname(host), { recursive: true, force: true });
});

describe("a service that is killed in the middle", () => {
  it.each(["async", "sync"] as const)(
    "leaves its child without approvals and with its allowlist (%s)",
    async (mode) => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-killed-")));
      const child = new GatedChild(programs, mode);
      const ready = child.ready();
      const service = spawn(process.execPath, [host, folder, APPROVED.target], {
        stdio: ["ignore", "pipe", "inherit", child.socket],
      });
      try {
        await ready;
        // WHY: this process must not hold the service's end open once the service is gone.
        child.socket.destroy();
        expect(await child.code(APPROVED)).toBe("allowed_permanent");
        expect(await child.foreseen(APPROVED)).toBe("allowed_permanent");
        const exited = once(service, "exit");
        service.kill("SIGKILL");
        await exited;
        await expect.poll(() => child.run("is_live")).toBe(false);
        expect(await child.foreseen(APPROVED)).toBe("unavailable");
        expect(await child.code(APPROVED)).toBe("unavailable");
        expect(await child.code(DECLARED)).toBe("allowed_sandbox");
      } finally {
        service.kill("SIGKILL");
        await child.kill();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});
