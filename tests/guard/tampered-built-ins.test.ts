/** The whole guard, preloaded into a real process, while every writable built-in is a hostile version. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { type Server, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GuardedWorld, openWorld, start } from "./guarded-process.ts";
import { preloadOfFile } from "./world-of-file.ts";

const ENTRY = fileURLToPath(new URL("./programs/tampered-calls.ts", import.meta.url));
let source: string;
const preload = preloadOfFile();
beforeAll(async () => {
  const build = await rolldown({ input: ENTRY, platform: "node", logLevel: "silent" });
  const { output } = await build.generate({ format: "cjs" });
  source = output[0].code;
  await build.close();
});

interface Said {
  readonly replaced: number;
  readonly before: Readonly<Record<string, unknown>>;
  readonly during: Readonly<Record<string, unknown>>;
}

describe.each(["attacker", "throw"] as const)(
  "attack: every writable built-in is replaced (%s)",
  (hostility) => {
    let world: GuardedWorld;
    let server: Server;
    let connections = 0;
    let said: Said;
    beforeAll(async () => {
      world = await openWorld(preload);
      server = createServer((socket) => {
        connections++;
        socket.destroy();
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as { port: number };
      const env = { HOSTILITY: hostility, CLOSED_PORT: String(port) };
      const ended = await start(world, source, { env, waitMs: 0 }).ended;
      if (ended.stdout === "") throw new Error(`the program said nothing: ${ended.code} ${ended.stderr}`);
      said = JSON.parse(ended.stdout) as Said;
    });
    afterAll(async () => {
      server.close();
      await world.close();
    });

    it("replaces hundreds of them, and the calls mean what they should before", () => {
      expect(said.replaced).toBeGreaterThan(1000);
      expect(said.before["read what is declared"]).toBe("reads a");
      expect(said.before["read"]).toBe("approval_required");
    });

    it("and no call that was blocked gets through", () => {
      const { before, during } = said;
      const blocked = Object.keys(before).filter((name) => before[name] === "approval_required");
      expect(blocked.length).toBeGreaterThan(10);
      const through = blocked.filter(
        (name) => during[name] !== "approval_required" && during[name] !== "failed",
      );
      expect(through).toEqual([]);
    });

    it("nor leaves a trace on the disk or the wire", () => {
      const { secret, all } = world.places;
      expect(readFileSync(join(secret, "a.txt"), "utf8")).toBe("secret a");
      expect(readdirSync(secret)).toEqual(["a.txt"]);
      expect(["copy.txt", "moved.txt"].filter((name) => existsSync(join(all, name)))).toEqual([]);
      expect(connections).toBe(0);
    });

    it("and what is declared goes on", () => {
      const names = ["look for what is declared", "stat what is declared", "open what is declared"];
      expect(names.map((name) => said.during[name])).toEqual([true, true, "done"]);
      // WHY: Node itself asks `Buffer.isEncoding`, which is one of the hostile ones.
      expect(["reads a", "failed"]).toContain(said.during["read what is declared"]);
    });
  },
);
