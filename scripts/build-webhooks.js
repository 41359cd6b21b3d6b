// Builds the webhooks library as the separate package `service-webhooks`: ESM, CommonJS, types, manifest and README.
// `service-cli/webhooks` exports the same files.
import { execFileSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/** Writes the package into the folder `to`, ready for `npm pack` and `npm publish`. */
export async function buildWebhooks(root, to) {
  const bundle = (entry, format, extension) =>
    build({
      absWorkingDir: root,
      entryPoints: [`src/webhooks/${entry}.ts`],
      outfile: join(to, `${entry}.${extension}`),
      bundle: true,
      format,
      platform: "neutral",
      target: "es2022",
      logLevel: "warning",
      plugins: entry === "index" ? [] : [takeErrorsFrom(`./index.${extension}`)],
    });
  await Promise.all(["index", "schemes"].flatMap((entry) => [bundle(entry, "esm", "js"), bundle(entry, "cjs", "cjs")]));
  writeDeclarations(root, to);
  for (const [from, name] of [
    ["src/webhooks/README.md", "README.md"],
    ["LICENSE", "LICENSE"],
  ]) {
    copyFileSync(join(root, from), join(to, name));
  }
  writeFileSync(join(to, "package.json"), `${JSON.stringify(manifestOf(root), null, 2)}\n`);
}

/** The class of errors must exist once, or `instanceof` is false for errors of the other file. */
function takeErrorsFrom(path) {
  return {
    name: "take errors",
    setup({ onResolve }) {
      onResolve({ filter: /\/signature-error\.ts$/ }, () => ({ path, external: true }));
    },
  };
}

function manifestOf(root) {
  const { version, license, engines, repository, homepage, bugs } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  return {
    name: "service-webhooks",
    version,
    description: "Verifies and signs webhooks: typed events, adapters, every JavaScript runtime, no dependencies",
    keywords: ["webhooks", "signature", "hmac", "verify", "edge"],
    license,
    repository,
    homepage,
    bugs,
    type: "module",
    main: "./index.cjs",
    module: "./index.js",
    types: "./index.d.cts",
    typesVersions: { "*": { schemes: ["./schemes.d.cts"] } },
    exports: {
      ".": exportOf("index"),
      "./schemes": exportOf("schemes"),
      "./package.json": "./package.json",
    },
    sideEffects: false,
    engines,
  };
}

function exportOf(entry) {
  return {
    import: { types: `./${entry}.d.ts`, default: `./${entry}.js` },
    require: { types: `./${entry}.d.cts`, default: `./${entry}.cjs` },
  };
}

function writeDeclarations(root, to) {
  emitDeclarations(root, "src/webhooks/tsconfig.json", to);
  for (const name of readdirSync(to, { recursive: true })) {
    if (name.endsWith(".d.ts")) writeDeclaration(join(to, name), readFileSync(join(to, name), "utf8"));
  }
}

/** Has the compiler write the declarations of a project into a folder. */
export function emitDeclarations(root, project, to) {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "--project", project, "--outDir", to], { cwd: root, stdio: "inherit" });
}

/** Writes a declaration twice, for `import` and for `require`: each refers to files of its own kind. */
export function writeDeclaration(file, text) {
  const referringTo = (extension) => text.replaceAll(/(from "\.[^"]*)\.(?:ts|js)"/g, `$1.${extension}"`);
  writeFileSync(file, referringTo("js"));
  writeFileSync(file.replace(/\.d\.ts$/, ".d.cts"), referringTo("cjs"));
}
