/** Purpose: the console as static files in `dist-web`, for the server to hand out. Nothing is inlined: its policy forbids that. */
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { type Plugin, defineConfig } from "vite";

/**
 * What comes by the same doors as what the first view needs, and is not needed by it. INVARIANT: nothing of the first view
 * imports these; the test of the bundle looks whether its script stands alone.
 */
const LATE =
  /\/client\/src\/(?:admin-client|people-client)\.ts|\/contract\/src\/(?:call\/remote-call|admin\/(?:trial|person-token|use-view|credential-view|decision-batch))\.ts/;

/**
 * Leaves out of the page what writes JSON Schemas: the page reads by its schemas and publishes none. WHY here: every schema of
 * the library names it in a method of its own, so no bundler can see that nothing calls it.
 */
function withoutJsonSchema(): Plugin {
  return {
    name: "without-json-schema",
    transform: {
      filter: { id: /\/zod\/v4\/core\/(?:to-json-schema|json-schema-processors)\.js$/ },
      handler: (code) => {
        const names = [...code.matchAll(/^export (?:function|const) (\w+)/gm)].map(([, name]) => name);
        return `const left = () => undefined;\nexport { ${names.map((name) => `left as ${name}`).join(", ")} };`;
      },
    },
  };
}

export default defineConfig({
  plugins: [react(), tailwindcss(), withoutJsonSchema()],
  resolve: { conditions: ["source", "module", "browser", "development|production"] },
  build: {
    outDir: "dist-web",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      treeshake: {
        propertyReadSideEffects: false,
        unknownGlobalSideEffects: false,
        moduleSideEffects: [{ test: /\/ipaddr\.js\//, sideEffects: false }],
      },
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          // WHY in one: what the first view needs is fetched and packed at once.
          groups: [{ name: "first", tags: ["$initial"], test: (id) => !LATE.test(id) }],
        },
      },
    },
  },
});
