import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const script = fileURLToPath(new URL("../../scripts/write-references.js", import.meta.url));

it("docs/commands.md and docs/errors.md are what the source says", () => {
  execFileSync(process.execPath, [script, "--check"], { stdio: "pipe" });
});

it("every test that docs/security.md names exists", () => {
  const root = new URL("../../", import.meta.url);
  const page = readFileSync(new URL("docs/security.md", root), "utf8");
  const named = new Set(page.match(/test\/[\w./-]+/g));
  expect(named.size).toBeGreaterThan(50);
  expect([...named].filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});
