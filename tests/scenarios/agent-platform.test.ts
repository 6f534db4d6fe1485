/** The example application, run as a program: what it prints is what happened. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const SCRIPT = fileURLToPath(new URL("../../examples/agent-platform/run.mjs", import.meta.url));

it("shows every kind of subject within what it declared, and work that goes on after an approval", () => {
  const printed = execFileSync(process.execPath, [SCRIPT], { encoding: "utf8" });
  expect(printed.trim().split("\n")).toEqual([
    "tool: read 52 characters that it declared",
    "engine: summarized at its configured endpoint: The tide comes in twice a day.",
    "mcp server: noted 30 characters",
    "pipeline: wrote the digest that it declared",
    "agent: may not use what another subject declared (approval_required)",
    "engine: may not use what another subject declared (approval_required)",
    "module: stopped: the customers' file needs an approval",
    "module: may not approve its own request",
    "person: approves filesystem read for module:library",
    "module: went on and imported 2 customers",
    "audit: the log is sound",
    "digest: The tide comes in twice a day.",
  ]);
});
