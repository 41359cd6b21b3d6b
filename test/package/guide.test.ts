import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { RESOURCE_TESTS } from "../../scripts/resource-tests.js";
import { MIGRATIONS } from "../../src/platform/storage/migrations/index.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const NOT_COPIED = new Set(["node_modules", "dist", ".git", "test-results"].map((name) => join(ROOT, name)));
const TESTS = [...RESOURCE_TESTS, "test/package/rebates.test.ts"];

/** What the example changes. */
const CHANGED = ["src/contract", "src/platform/domain", "src/platform/storage", "test/package/rebates.test.ts"];

let copy: string;

/** Adds the resource that CONTRIBUTING.md describes to a copy of the repository, step by step. */
beforeAll(async () => {
  copy = mkdtempSync(join(tmpdir(), "service-guide-"));
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !NOT_COPIED.has(path) });
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  const guide = readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8");
  const [entry, migration, rule] = [...guide.matchAll(/^ {3}```ts\n([^]*?)^ {3}```$/gm)].map(([, code]) =>
    code!.replaceAll(/^ {3}/gm, ""),
  ) as [string, string, string];
  change("src/contract/resources.ts", "\n  event: {", `\n${entry}\n  event: {`);
  const number = MIGRATIONS.length + 1;
  const file = `${String(number).padStart(3, "0")}-rebates.ts`;
  write(`src/platform/storage/migrations/${file}`, migration.replace(/number: \d+/, `number: ${number}`));
  write("src/platform/domain/rules/rebate.ts", rule);
  change("src/platform/domain/rules/index.ts", /^/, 'import { rebate } from "./rebate.ts";\n');
  change("src/platform/domain/rules/index.ts", /(\w?) ?\};\n$/, (_end, last) => `${last && `${last},`} rebate };\n`);
  renameSync(join(copy, "test/package/children/rebates.ts"), join(copy, "test/package/rebates.test.ts"));
  change("test/package/rebates.test.ts", /"\.\.\/\.\.\//g, '"../');
  expect(await run("scripts/write-references.js")).toBe("");
  expect(await run("scripts/build.js")).toBe("");
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

function write(name: string, text: string): void {
  writeFileSync(join(copy, name), text);
}

function change(name: string, from: string | RegExp, to: string | ((...found: string[]) => string)): void {
  const before = readFileSync(join(copy, name), "utf8");
  const after = before.replace(from, to as string);
  expect(after, `${name} has no ${from}`).not.toBe(before);
  write(name, after);
}

/** Runs a program in the copy. Returns its output if it fails. */
async function run(program: string, args: readonly string[] = [], more: Record<string, string> = {}): Promise<string> {
  const { PATH, HOME, CHROMIUM, TEST_SECONDS } = process.env;
  // Beside the folder of this run, which other users, such as that of PostgreSQL, may not enter.
  const env = { PATH, HOME, CHROMIUM, TEST_SECONDS, TMPDIR: dirname(tmpdir()), ...more };
  const child = spawn(process.execPath, [join(copy, program), ...args], { cwd: copy, env });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const [code] = await once(child, "close");
  return code === 0 ? "" : `${basename(program)} ${args.join(" ")}\n${output}`;
}

it("the example in CONTRIBUTING.md is listed in the tables of objects and event types", () => {
  const page = readFileSync(join(copy, "docs/concepts.md"), "utf8");
  expect(page).toMatch(/^\| Rebate +\| `reb_` +\| `pending`, /m);
  expect(page).toMatch(/^\| `rebate\.succeeded` +\| A rebate succeeded +\| Rebate, `succeeded` +\|$/m);
});

it("the example in CONTRIBUTING.md passes the linter and the compiler", async () => {
  const types = ["--noEmit", "--incremental", "false"];
  expect(
    await Promise.all([
      run("node_modules/oxlint/bin/oxlint", ["--deny-warnings", "--type-aware", ...CHANGED]),
      run("node_modules/typescript/bin/tsc", types).then(
        async (failure) => failure || run("node_modules/typescript/bin/tsc", [...types, "--project", "src/dashboard"]),
      ),
    ]),
  ).toEqual(["", ""]);
});

it("the example in CONTRIBUTING.md passes the tests that cover every resource", async () => {
  // In one process, because each would take seconds to load the platform. The fuzz test ends once it has seen every
  // operation succeed and fail.
  const more = { FUZZ_REQUESTS: "1" };
  expect(await run("node_modules/vitest/vitest.mjs", ["run", "--maxWorkers=1", ...TESTS], more)).toBe("");
});
