// Builds `service-cli/testing`: ESM, CommonJS, types. It starts the command of the same package.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { emitDeclarations, writeDeclaration } from "./build-webhooks.js";

/** The modules whose declarations users see. */
const DECLARED = ["index", "api"];

/** Writes it into the folder `to`. */
export async function buildTesting(root, to) {
  const bundle = (format, extension, settings) =>
    build({
      absWorkingDir: root,
      entryPoints: ["src/testing/index.ts"],
      outfile: join(to, `index.${extension}`),
      bundle: true,
      format,
      platform: "node",
      target: "node20.19",
      logLevel: "warning",
      ...settings,
    });
  await Promise.all([
    bundle("esm", "js"),
    bundle("cjs", "cjs", {
      define: { "import.meta.url": "moduleUrl" },
      banner: { js: `const moduleUrl = require("node:url").pathToFileURL(__filename).href;` },
    }),
  ]);
  const folder = mkdtempSync(join(tmpdir(), "service-declarations-"));
  emitDeclarations(root, "src/testing/tsconfig.json", folder);
  mkdirSync(to, { recursive: true });
  for (const name of DECLARED) {
    writeDeclaration(join(to, `${name}.d.ts`), readFileSync(join(folder, "testing", `${name}.d.ts`), "utf8"));
  }
  rmSync(folder, { recursive: true });
}
