/** `npm run test:arm64` where the machine lacks what it needs: it says what to install, and does nothing. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const TOOL = fileURLToPath(new URL("../../tools/arm64.mjs", import.meta.url));

test("without an emulator the packages to install are named, and nothing is fetched or made", () => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-arm64-test-"));
  const cache = join(folder, "cache");
  try {
    const env = { PATH: join(folder, "nothing-is-here"), SALLYPORT_CACHE: cache };
    const { status, stdout, stderr } = spawnSync(process.execPath, [TOOL], { env, encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "0 passed, 1 failed\n" });
    expect(stderr).toMatch(/as root run `apt-get install qemu-system-arm .*\bcpio\b/);
    expect(existsSync(cache)).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
