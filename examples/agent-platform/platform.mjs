// @ts-check
/**
 * A small agent platform: who there is, and what each may do. A module with its documents, an engine that is configured
 * with an endpoint, an agent, a tool and a pipeline of the module, and an MCP server. Every one is a subject of its own:
 * what one declares, no other may do.
 */
import { readFileSync } from "node:fs";

/** @typedef {import("sallyport").Sallyport} Sallyport */

export const LIBRARY = /** @type {const} */ ({ type: "module", name: "library" });
export const SUMMARIZER = /** @type {const} */ ({ type: "engine", name: "summarizer" });
export const READER = /** @type {const} */ ({ type: "agent", name: "library.reader" });
export const READ_DOCUMENT = /** @type {const} */ ({ type: "tool", name: "library.read_document" });
export const DIGEST = /** @type {const} */ ({ type: "pipeline", name: "library.digest" });
export const NOTES = /** @type {const} */ ({ type: "tool", name: "mcp.notes" });

/** @param {string} name */
const manifest = (name) => readFileSync(new URL(`${name}-manifest.json`, import.meta.url), "utf8");

/**
 * @param {Sallyport} sallyport
 * @param {{ library: string, summarizer: string }} folders
 * @param {{ summarizer: string, notes: string }} urls
 */
export function registerPlatform({ registry }, folders, urls) {
  const answers = [
    registry.registerModule({ root: folders.library, manifest: manifest("library") }),
    registry.registerEngine({
      root: folders.summarizer,
      manifest: manifest("summarizer"),
      config: { endpoint: urls.summarizer },
    }),
    // An agent thinks and touches nothing; a tool touches what it says; a pipeline writes what comes out.
    registry.registerAgent({ name: READER.name, module: LIBRARY.name, definition: { access: [] } }),
    registry.registerTool({
      name: READ_DOCUMENT.name,
      module: LIBRARY.name,
      definition: { access: [{ resource_type: "filesystem", operation: "read", target: "documents/" }] },
    }),
    registry.registerPipeline({
      name: DIGEST.name,
      module: LIBRARY.name,
      definition: { access: [{ resource_type: "filesystem", operation: "create", target: "digests/" }] },
    }),
    registry.registerMcpServer({ server: "notes", url: urls.notes }),
  ];
  for (const answer of answers) if (!answer.ok) throw new Error(answer.message);
}
