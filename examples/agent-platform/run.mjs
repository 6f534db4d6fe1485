// @ts-check
/**
 * One evening on the platform, as a program: a pipeline has an agent read a document with a tool, an engine summarize
 * it, and an MCP server keep a note. Then a user asks for a file that nobody declared; a person approves, and the work
 * goes on by itself. Cooperative: everything here asks through the SDK.
 *
 *     node examples/agent-platform/run.mjs
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AccessPendingError, PermissionError, createSallyport } from "sallyport";
import { DIGEST, LIBRARY, NOTES, READER, READ_DOCUMENT, SUMMARIZER, registerPlatform } from "./platform.mjs";

/** @param {string} who @param {string} what */
const say = (who, what) => console.log(`${who}: ${what}`);

// A place to work in, and two services on this machine: the engine's endpoint, and the MCP server.
const place = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-platform-")));
const folders = { library: join(place, "library"), summarizer: join(place, "summarizer") };
for (const folder of ["library/documents", "library/digests", "summarizer", "customers"])
  mkdirSync(join(place, folder), { recursive: true });
writeFileSync(
  join(folders.library, "documents", "tides.txt"),
  "The tide comes in twice a day. It goes out as often.",
);
const customers = join(place, "customers", "list.csv");
writeFileSync(customers, "id,name\n1,Ada\n2,Grace\n");
const summarizer = await serve((text) => `${text.split(".")[0]}.`);
const notes = await serve((text) => `noted ${text.length} characters`);

// 1. The host embeds Sallyport and registers who there is.
const sallyport = await createSallyport({ dataFolder: join(place, "data") });
const { runtime } = sallyport;
registerPlatform(sallyport, folders, { summarizer: summarizer.url, notes: notes.url });

// 2. A user starts the pipeline. Each step is entered by the host as whoever does it.
const user = { user: { id: 21 }, organizationId: 7, sessionKey: "sess-21", interactive: true };
await runtime.run(DIGEST, user, async (sdk) => {
  const text = await runtime.run(READER, {}, () =>
    runtime.run(READ_DOCUMENT, {}, (tool) =>
      tool.fs.readFile(join(folders.library, "documents/tides.txt"), "utf8"),
    ),
  );
  say("tool", `read ${text.length} characters that it declared`);
  const summary = await runtime.run(SUMMARIZER, {}, async (engine) => {
    const answer = await engine.http.fetch(summarizer.url, { method: "POST", body: text });
    return answer.text();
  });
  say("engine", `summarized at its configured endpoint: ${summary}`);
  const note = await runtime.run(NOTES, {}, async (server) => {
    const answer = await server.http.fetch(notes.url, { method: "POST", body: summary });
    return answer.text();
  });
  say("mcp server", note);
  await sdk.fs.writeFile(join(folders.library, "digests/tides.txt"), summary);
  say("pipeline", "wrote the digest that it declared");
});

// 3. What one may do, another may not: the agent around the tool has no files, the engine no notes.
for (const [subject, url] of /** @type {const} */ ([
  [READER, summarizer.url],
  [SUMMARIZER, notes.url],
])) {
  const access = await runtime.run(subject, user, (sdk) =>
    sdk.access.checkExternalAccess(sdk.access.network.send(url), { registerRequest: false }),
  );
  say(subject.type, `may not use what another subject declared (${access.code})`);
}

// 4. A file that nobody declared. The module says how the work goes on, and stops.
const resumed = new Promise((resolve) => {
  runtime.run(LIBRARY, {}, (sdk) =>
    sdk.actions.register("library.resume_import", {
      schema: { parse: importContext },
      handler: async ({ path }, run) => resolve(await run.sdk.fs.readFile(path, "utf8")),
    }),
  );
});
const blocked = await runtime.run(LIBRARY, user, async (sdk) => {
  const access = await sdk.access.requireExternalAccess({
    resourceType: sdk.access.EXTERNAL_RESOURCE_FILESYSTEM,
    operation: "read",
    target: customers,
    resumeAction: "library.resume_import",
    resumeContext: { path: customers },
  });
  try {
    access.orThrow();
  } catch (error) {
    if (error instanceof AccessPendingError) say("module", "stopped: the customers' file needs an approval");
  }
  // Guarded code cannot approve itself, whoever it runs for.
  await sdk.access.approvePermanently({ requestId: access.requestId ?? "", digest: "" }).catch((error) => {
    if (error instanceof PermissionError) say("module", "may not approve its own request");
  });
  return access;
});

// 5. A person decides by what is shown, and the module goes on as the user who asked.
const admin = { user: { id: 1, roles: ["super"] } };
await runtime.runAsHost(admin, async (sdk) => {
  const shown = await sallyport.service.list.request(runtime.caller(), blocked.requestId ?? "");
  if (shown === null) throw new Error("the request is gone");
  const { resource, subject } = shown;
  say("person", `approves ${resource.type} ${resource.operation} for ${subject.type}:${subject.name}`);
  await sdk.access.approveForSession({ requestId: shown.id, digest: shown.digest });
});
say(
  "module",
  `went on and imported ${
    String(await resumed)
      .trim()
      .split("\n").length - 1
  } customers`,
);

// 6. All of it is on record, and the record is sound.
const report = await runtime.runAsHost(admin, () => sallyport.service.trail.verify(runtime.caller()));
say("audit", report.ok ? "the log is sound" : report.message);
say("digest", readFileSync(join(folders.library, "digests/tides.txt"), "utf8"));

await sallyport.close();
for (const { close } of [summarizer, notes]) await close();
rmSync(place, { recursive: true });

/** @param {unknown} value */
function importContext(value) {
  const { path } = /** @type {{ path?: unknown }} */ (value);
  if (typeof path !== "string") throw new TypeError("the context of an import holds a path");
  return { path };
}

/**
 * A service that answers with what it makes of the text that it is sent.
 * @param {(text: string) => string} answer
 * @returns {Promise<{ url: string, close: () => Promise<unknown> }>}
 */
async function serve(answer) {
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", () => response.end(answer(text)));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/`, close: () => new Promise((resolve) => server.close(resolve)) };
}
