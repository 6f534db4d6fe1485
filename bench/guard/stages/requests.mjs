// @ts-check
/** Purpose: CPU of an HTTP request on a kept connection, in turns and in short rounds; against a server in this process. */
import { createServer } from "node:http";
import { obtainDeno } from "../deno.mjs";
import { driven, openWorld } from "../world.mjs";

/** @typedef {Readonly<Record<"http" | "fetch", number>>} PerClient nanoseconds of CPU of one request, all threads */
/** @typedef {{ bare: PerClient, guarded: PerClient, permission: PerClient, deno: PerClient | null }} Requests */

const CLIENTS = /** @type {const} */ (["http", "fetch"]);

/** @param {{ rounds: number, times: number }} options @returns {Promise<Requests>} */
export async function run({ rounds, times }) {
  const server = createServer((_, response) => response.end("ok"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const origin = `http://127.0.0.1:${port}`;
  const world = await openWorld([{ resource_type: "network", operation: "receive", target: origin }]);
  const deno = await obtainDeno();
  const file = "http-calls.mjs";
  const start = () =>
    Object.entries({
      bare: driven(world.bare(file)),
      guarded: driven(world.guarded(file)),
      permission: driven(world.permission(file)),
      ...("absent" in deno ? {} : { deno: driven(world.deno(deno.command, file)) }),
    });
  /** @type {Record<string, Record<"http" | "fetch", number>>} */
  const best = {};
  try {
    for (let set = 0; set < SETS; set++) await measure(start(), rounds);
  } finally {
    await world.close();
    server.closeAllConnections();
    server.close();
  }
  const { bare = NONE, guarded = NONE, permission = NONE, deno: denoBest = null } = best;
  return { bare, guarded, permission, deno: denoBest };

  /** @param {[string, ReturnType<typeof driven>][]} programs @param {number} count */
  async function measure(programs, count) {
    try {
      for (let round = -WARMING; round < count; round++) {
        for (const client of CLIENTS) {
          for (const [name, program] of programs) {
            const ns = Number(await program.ask({ client, url: `${origin}/a`, times }));
            const figures = (best[name] ??= {
              http: Number.POSITIVE_INFINITY,
              fetch: Number.POSITIVE_INFINITY,
            });
            if (round >= 0) figures[client] = Math.min(figures[client], ns);
          }
        }
      }
    } finally {
      for (const [, program] of programs) await program.end();
    }
  }
}

/** WHY several processes of each kind: what V8 inlines differs from one to the next by more than the gate. */
const SETS = 3;
/** Rounds that are the compiler's. */
const WARMING = 20;
const NONE = Object.freeze({ http: Number.NaN, fetch: Number.NaN });
