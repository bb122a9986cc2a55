import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Names of files are stable: the hash of the build is in the path that the server gives them, so that
// changes of dist are small, and old and new builds never mix.
export default defineConfig({
  base: "./",
  plugins: [react()],
  build: {
    outDir: "node_modules/.dist",
    emptyOutDir: true,
    sourcemap: false,
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    target: "es2023",
    rollupOptions: {
      input: "src/main.tsx",
      output: {
        entryFileNames: "assets/[name].js",
        chunkFileNames: "assets/[name].js",
        assetFileNames: (file) => (file.names.some((n) => n.endsWith(".css")) ? "assets/console.css" : "assets/[name][extname]"),
      },
    },
  },
});
