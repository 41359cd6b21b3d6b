import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const OXLINT = join(ROOT, "node_modules/oxlint/bin/oxlint");

/** Imports that the linter must reject: the importing file and the imported one. */
const FORBIDDEN: [file: string, specifier: string][] = [
  ["platform/storage/postgres/a.ts", "../../domain/b.ts"],
  ["platform/storage/a.ts", "../http/b.ts"],
  ["platform/storage/a.ts", "../security/b.ts"],
  ["platform/storage/a.ts", "../../client/b.ts"],
  ["platform/security/a.ts", "../http/b.ts"],
  ["platform/time/a.ts", "../delivery/b.ts"],
  ["platform/security/a.ts", "../listen/b.ts"],
  ["platform/domain/a.ts", "../http/b.ts"],
  ["platform/domain/a.ts", "../delivery/b.ts"],
  ["platform/domain/a.ts", "../oauth/b.ts"],
  ["platform/domain/a.ts", "../../receiver-check/b.ts"],
  ["platform/domain/a.ts", "fastify"],
  ["platform/observability/a.ts", "../http/b.ts"],
  ["platform/api/openapi/a.ts", "../../listen/b.ts"],
  ["platform/http/a.ts", "../api/b.ts"],
  ["platform/http/pages/a.ts", "../../oauth/b.ts"],
  ["platform/api/a.ts", "../delivery/b.ts"],
  ["platform/domain/a.ts", "../security/rate-limit.ts"],
  ["platform/http/a.ts", "../delivery/b.ts"],
  ["platform/http/a.ts", "../../relay/b.ts"],
  ["platform/delivery/a.ts", "../http/b.ts"],
  ["platform/delivery/a.ts", "../listen/b.ts"],
  ["platform/delivery/a.ts", "../oauth/b.ts"],
  ["platform/listen/a.ts", "../delivery/b.ts"],
  ["platform/listen/a.ts", "../oauth/b.ts"],
  ["platform/oauth/a.ts", "../delivery/b.ts"],
  ["platform/oauth/a.ts", "../listen/b.ts"],
  ["platform/oauth/a.ts", "../../cli/b.ts"],
  ["platform/maintenance/a.ts", "../../cli/b.ts"],
  ["contract/a.ts", "../platform/b.ts"],
  ["client/a.ts", "../platform/b.ts"],
  ["relay/a.ts", "../client/b.ts"],
  ["testing/a.ts", "../cli/b.ts"],
  ["explain/a.ts", "../client/b.ts"],
  ["cli/commands/a.ts", "./b.ts"],
  ["cli/commands/listen/a.ts", "../trigger/b.ts"],
  ["cli/commands/listen/a.ts", "../clock.ts"],
  ["cli/commands/keys/scan/a.ts", "../../login/b.ts"],
  ["cli/commands/serve/a.ts", "../listen/b.ts"],
  ["cli/commands/serve/a.ts", "../../../platform/start.ts"],
  ["cli/commands/db/a.ts", "../../../platform/storage/b.ts"],
  ["cli/database/a.ts", "../../platform/storage/b.ts"],
  ["cli/forwarding/a.ts", "../commands/listen/b.ts"],
  ["cli/terminal/a.ts", "../commands/listen/b.ts"],
  ["cli/mcp/a.ts", "../../platform/mcp/b.ts"],
];

const ALLOWED: [file: string, specifier: string][] = [
  ["platform/domain/c.ts", "../storage/b.ts"],
  ["platform/http/c.ts", "../domain/b.ts"],
  ["platform/api/c.ts", "../http/b.ts"],
  ["platform/domain/c.ts", "../security/vault.ts"],
  ["platform/delivery/c.ts", "../storage/b.ts"],
  ["platform/listen/c.ts", "../http/b.ts"],
  ["cli/commands/serve/c.ts", "../../../platform/index.ts"],
  ["cli/commands/listen/c.ts", "../../forwarding/b.ts"],
  ["cli/commands/listen/c.ts", "./b.ts"],
  ["cli/commands/keys/scan/c.ts", "../b.ts"],
  ["cli/database/c.ts", "../../platform/index.ts"],
];

describe("the linter", () => {
  const folder = mkdtempSync(join(tmpdir(), "layers-"));
  let rejected: Set<string>;

  beforeAll(() => {
    copyFileSync(join(ROOT, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
    for (const [index, [file, specifier]] of [...FORBIDDEN, ...ALLOWED].entries()) {
      const path = join(folder, "src", pathOf(file, index));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `import type { B } from "${specifier}";\n\nexport type A = B;\n`);
    }
    const { stdout } = spawnSync(process.execPath, [OXLINT, "--format", "json", "src"], {
      cwd: folder,
      encoding: "utf8",
    });
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] };
    rejected = new Set(
      diagnostics.filter(({ code }) => code.includes("no-restricted-imports")).map(({ filename }) => filename),
    );
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each(FORBIDDEN.map((pair, index) => [...pair, index] as const))(
    "rejects in src/%s an import of %s",
    (file, _, index) => {
      expect(rejected).toContain(`src/${pathOf(file, index)}`);
    },
  );

  it("accepts imports from lower folders", () => {
    const allowed = ALLOWED.map(([file], index) => `src/${pathOf(file, FORBIDDEN.length + index)}`);
    expect(allowed.filter((path) => rejected.has(path))).toEqual([]);
  });
});

/** Each import has a separate file. */
function pathOf(file: string, index: number): string {
  return file.replace(/\.ts$/, `-${index}.ts`);
}

describe("the source", () => {
  // The linter finds only cycles of static imports.
  it("has no circular imports, including types and dynamic imports", () => {
    const circles: string[] = [];
    const done = new Set<string>();
    const follow = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" → "));
      if (done.has(file)) return;
      done.add(file);
      for (const next of importsOf(file)) follow(next, [...path, file]);
    };
    const files = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
    for (const file of files.filter((name) => /\.tsx?$/.test(name))) follow(join("src", file), []);
    expect(done.size).toBeGreaterThan(300);
    expect(circles).toEqual([]);
  });
});

/** Returns the files that a file imports, relative to the root of the repository. */
function importsOf(file: string): string[] {
  const source = readFileSync(join(ROOT, file), "utf8");
  return [...source.matchAll(/(?:\bfrom|\bimport\(|^import) ?"(\.[^"]+\.tsx?)"/gm)].map(([, specifier]) =>
    relative(ROOT, resolve(ROOT, dirname(file), specifier!)),
  );
}
