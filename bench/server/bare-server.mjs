// @ts-check
/**
 * Purpose: what a check over HTTP is held against: one route of the same framework on the same HTTP server, which parses
 * the same body as JSON and answers JSON of the size of a check's answer. It decides nothing, knows nobody and checks nothing.
 */
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";

export async function startBare() {
  const app = new Hono();
  /** @type {unknown} */
  let sample = {};
  app.post("/check", async (c) => {
    const asked = await c.req.json();
    return c.json(asked === null ? null : sample);
  });
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    origin: `http://127.0.0.1:${port}`,
    calls: {
      sample: (/** @type {{ answer: unknown }} */ { answer }) => {
        sample = answer;
      },
      stop: () => void server.close(),
    },
  };
}
