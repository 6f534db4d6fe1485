// @ts-check
/** Purpose: CPU of an HTTP request on a kept connection, in turns; against a server in this process. */
import { createServer } from "node:http";
import { obtainDeno } from "../deno.mjs";
import { driven, openWorld } from "../world.mjs";

/** @typedef {{ bareNs: number, guardedNs: number, permissionNs: number, denoNs: number | null }} Requests CPU of one request, all threads */

/** @param {{ rounds: number, times: number }} options @returns {Promise<Requests>} */
export async function run({ rounds, times }) {
  const server = createServer((_, response) => response.end("ok"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const origin = `http://127.0.0.1:${port}`;
  const world = await openWorld([{ resource_type: "network", operation: "receive", target: origin }]);
  const deno = await obtainDeno();
  const file = "http-calls.mjs";
  const programs = [
    driven(world.bare(file)),
    driven(world.guarded(file)),
    driven(world.permission(file)),
    ...("absent" in deno ? [] : [driven(world.deno(deno.command, file))]),
  ];
  const best = programs.map(() => Number.POSITIVE_INFINITY);
  try {
    for (let round = -1; round < rounds; round++) {
      for (const [index, program] of programs.entries()) {
        const ns = Number(await program.ask({ url: `${origin}/a`, times }));
        if (round >= 0) best[index] = Math.min(best[index] ?? ns, ns);
      }
    }
  } finally {
    for (const program of programs) await program.end();
    await world.close();
    server.closeAllConnections();
    server.close();
  }
  const [bareNs = Number.NaN, guardedNs = Number.NaN, permissionNs = Number.NaN, denoNs = null] = best;
  return { bareNs, guardedNs, permissionNs, denoNs };
}
