// @ts-check
/** Purpose: the layer table of the house as data. CONTRIBUTING.md shows it; check-layers.mjs enforces it. */

/** Which packages each package may import. A request walks down this list once and never back up. */
const LAYERS = {
  contract: [],
  policy: ["contract"],
  context: ["contract"],
  gate: ["contract", "policy"],
  store: ["contract"],
  service: ["contract", "policy", "gate", "store"],
  client: ["contract"],
  runtime: ["contract", "policy", "context", "gate", "client"],
  guard: ["contract", "policy", "context", "gate"],
  sandbox: ["contract", "gate"],
  server: ["contract", "policy", "store", "service", "runtime"],
  console: ["contract", "client"],
  adapters: ["contract", "runtime", "client"],
};

/** The one package that people install stands on all of them. */
export const MAY_IMPORT = Object.freeze({ ...LAYERS, sallyport: Object.keys(LAYERS) });

/** Packages that may use only these names from npm; every other package uses what its package.json declares. */
export const ONLY_FROM_NPM = Object.freeze({ contract: ["zod", "ipaddr.js"], policy: [] });

/** Packages that are shipped as one bundle: what they import is built in, so it may be a dependency for development. */
export const BUNDLED = Object.freeze(["console"]);

/** Packages without I/O: no Node built-ins. */
export const PURE = Object.freeze(["contract", "policy"]);

/** The service sees the port of the store, never an engine; its tests run on real engines. */
export const ENGINES = Object.freeze({
  hiddenFrom: "service",
  files: /^packages\/store\/src\/(?:sqlite|postgres)\//,
});

/** What the tests of a package may import beside what the package may. */
export const TEST_TOOLS = Object.freeze(["vitest", "fast-check"]);

export const TEST_FILE = /\.test(?:-d)?\.tsx?$|^packages\/[^/]+\/src\/testing\//;

/** @param {string} folder the folder under packages/ @returns {string} the name it is imported by */
export const packageName = (folder) => (folder === "sallyport" ? "sallyport" : `@sallyport/${folder}`);
