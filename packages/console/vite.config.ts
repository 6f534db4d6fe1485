/** Purpose: the console as static files in `dist-web`, for the server to hand out. Nothing is inlined: its policy forbids that. */
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: { conditions: ["source", "module", "browser", "development|production"] },
  build: {
    outDir: "dist-web",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
