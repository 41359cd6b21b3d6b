// Builds the dashboard: files with hashed names, each next to its compressed form, and a manifest that lists the first
// ones.
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { buildGuides } from "./build-guides.js";

const FONTS = "src/dashboard/fonts";
const OUTDATED_MILLISECONDS = 3_600_000;

/** Returns the build's metadata. A development build has a page more, which shows all components. */
export async function buildDashboard(root, folder, { isDevelopment = false } = {}) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      main: "src/dashboard/main.tsx",
      style: "src/dashboard/styles/index.css",
      icon: "src/dashboard/icon.svg",
      reference: "src/dashboard/reference/main.ts",
      "reference-style": "src/dashboard/reference/style.css",
    },
    outdir: folder,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    loader: { ".svg": "copy" },
    external: ["/dashboard/assets/*"],
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: ["es2022"],
    jsx: "automatic",
    jsxImportSource: "preact",
    define: { __DEVELOPMENT__: String(isDevelopment) },
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
    write: false,
  });
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of outputFiles) {
    writeFileSync(path, contents);
    writeFileSync(`${path}.gz`, gzipSync(contents, { level: 9 }));
  }
  // Every page names them, also those that know no hash.
  const fonts = readdirSync(join(root, FONTS)).filter((name) => name.endsWith(".woff2"));
  for (const name of fonts) copyFileSync(join(root, FONTS, name), join(folder, name));
  const outputs = Object.entries(metafile.outputs);
  const main = outputs.find(([, { entryPoint }]) => entryPoint === "src/dashboard/main.tsx");
  const named = (start, end = "") =>
    outputFiles.map(({ path }) => basename(path)).find((name) => name.startsWith(start) && name.endsWith(end));
  const manifest = {
    script: basename(main[0]),
    style: named("style-"),
    icon: named("icon-"),
    // Without what pages load when they are opened.
    preload: main[1].imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => basename(path)),
    reference: { script: named("reference-", ".js"), style: named("reference-style-") },
  };
  await buildGuides(root, join(folder, "guides"));
  removeOutdated(folder, new Set([...fonts, ...outputFiles.map(({ path }) => basename(path))]));
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  return { metafile };
}

/** Files of earlier builds stay for an hour, because an open page may still request them. */
function removeOutdated(folder, current) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const isCurrent = current.has(name.replace(/\.gz$/, "")) || ["manifest.json", "guides"].includes(name);
    if (!isCurrent && Date.now() - statSync(file).mtimeMs > OUTDATED_MILLISECONDS) rmSync(file);
  }
}
