// @ts-check
/**
 * Purpose: the process of the gateway: holds the gate of its subject, starts the program bare and confined, and has both do
 * the same in turns.
 */
import { spawn } from "node:child_process";
import { Socket } from "node:net";
import { dirname } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connectGate, openPrivateRealm } from "@sallyport/gate";
import { GATE_FD_VARIABLE } from "@sallyport/runtime";
import { gateNetwork, openSandbox } from "@sallyport/sandbox";
import { driven } from "../../../guard/world.mjs";

/** @typedef {import("./client.mjs").Words & { name: string }} Case */

const CLIENT = fileURLToPath(new URL("./client.mjs", import.meta.url));
const STDIO = /** @type {["pipe", "pipe", "inherit"]} */ (["pipe", "pipe", "inherit"]);

const sandbox = await openSandbox();
const gate = await connectGate(new Socket({ fd: Number(process.env[GATE_FD_VARIABLE]) }), {
  realm: openPrivateRealm({ seed: [1, 2] }),
});

/** @param {{ access: readonly { resource_type: string, operation: string, target: string }[], authority: string }} words */
function startConfined({ access, authority }) {
  const folders = [
    "/usr/",
    "/etc/",
    "/proc/",
    "/dev/",
    `${dirname(process.execPath)}/`,
    `${dirname(CLIENT)}/`,
  ];
  const compiled = sandbox.compile({
    allow: /** @type {import("@sallyport/contract").ExpandedRule[]} */ ([
      ...folders.map((target) => ({ resourceType: "filesystem", operation: "read", target })),
      { resourceType: "filesystem", operation: "execute", target: process.execPath },
      ...access.map(({ resource_type: resourceType, ...rest }) => ({ resourceType, ...rest })),
    ]),
    trapSet: "writes",
    network: "gateway",
  });
  if (!compiled.ok) throw new Error(compiled.faults.map(({ message }) => message).join("; "));
  const decider = gateNetwork(gate, {
    subject: { type: "module", name: "bench" },
    waitMs: () => undefined,
    watch: () => () => undefined,
  });
  return sandbox.spawn(process.execPath, [CLIENT], {
    confinement: compiled.confinement,
    decide: async () => "deny",
    cwd: dirname(CLIENT),
    stdio: STDIO,
    egress: { decider, authorities: [authority] },
  }).child;
}

/** @param {{ cases: readonly Case[], rounds: number, access: never, authority: string }} words */
async function measure({ cases, rounds, access, authority }) {
  const bare = driven(spawn(process.execPath, [CLIENT], { stdio: STDIO }));
  const confined = driven(startConfined({ access, authority }));
  /** @type {Record<string, Record<string, Record<string, number>>>} */
  const best = {};
  for (let round = -1; round < rounds; round++) {
    for (const { name, ...one } of cases) {
      const seen = (best[name] ??= { bare: {}, confined: {} });
      least(seen["bare"], await bare.ask({ ...one, authority }), round);
      const before = process.cpuUsage();
      // WHY without it where TLS is ended: the program then trusts what its surroundings tell it.
      const own = name.endsWith("Ended") ? {} : { authority };
      const figures = await confined.ask({ ...one, ...own });
      const { user, system } = process.cpuUsage(before);
      const gatewayCpuUs = (user + system) / one.times;
      least(seen["confined"], { .../** @type {object} */ (figures), gatewayCpuUs }, round);
    }
  }
  await bare.end();
  await confined.end();
  return best;
}

/** The first round warms up and does not count. @param {Record<string, number> | undefined} best @param {unknown} figures @param {number} round */
function least(best, figures, round) {
  if (best === undefined || round < 0) return;
  for (const [name, value] of Object.entries(/** @type {Record<string, number>} */ (figures)))
    best[name] = Math.min(best[name] ?? Infinity, value);
}

for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await measure(JSON.parse(line)))}\n`);
gate.close();
