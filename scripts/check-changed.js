// `npm run check:changed [COMMIT]`: checks the format, style, lint and types of what differs from a commit (default: from where
// the branch left origin/main), and runs the tests of the mirrored folders that have the name of a changed file or of its
// folder. After a change of the tables of resources and types of fields, it runs those that concern every resource, too.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { RESOURCE_TESTS } from "./resource-tests.js";

const MANY = 10;
const root = fileURLToPath(new URL("..", import.meta.url));
const lines = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
const [since = lines("merge-base", "origin/main", "HEAD")[0]] = process.argv.slice(2);
const changed = [...lines("diff", "--name-only", since), ...lines("ls-files", "--others", "--exclude-standard")];
const present = changed.filter((file) => existsSync(join(root, file)));
const sources = present.filter((file) => /\.(ts|tsx|js)$/.test(file));
const allTests = lines("ls-files", "--cached", "--others", "--exclude-standard", "test/**/*.test.ts");
const tests = new Set(sources.flatMap((file) => (allTests.includes(file) ? file : [])));
if (changed.some((file) => /^src\/contract\/(resources|field-types)\.ts$/.test(file)))
  for (const test of [...RESOURCE_TESTS, ...allTests.filter((test) => test.endsWith("/customers.test.ts"))])
    tests.add(test);
for (const file of changed) if (file.startsWith("src/")) for (const test of testsOf(file)) tests.add(test);

console.log(`${changed.length} changed files, ${tests.size} test files`);
const programs = "node_modules/.bin";
const checks = [
  present.length > 0 && [join(programs, "oxfmt"), "--check", "--no-error-on-unmatched-pattern", ...present],
  sources.length > 0 && [join(programs, "oxlint"), "--deny-warnings", "--type-aware", ...sources],
  ["npm", "run", "--silent", "style"],
  ["npm", "run", "--silent", "types"],
  tests.size > 0 && ["npm", "run", "--silent", "build"],
  tests.size > 0 && [join(programs, "vitest"), "run", ...tests],
];
for (const [program, ...args] of checks.filter(Boolean)) {
  const { status } = spawnSync(program, args, { cwd: root, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) process.exit(status ?? 1);
}

/** Returns the tests in the nearest mirrored folder that are named for a source file or its folder; else all of a few. */
function testsOf(file) {
  const names = [basename(file).replace(/\.tsx?$/, ""), basename(dirname(file))];
  for (let folder = dirname(file).replace(/^src/, "test"); folder !== "test"; folder = dirname(folder)) {
    const here = allTests.filter((test) => dirname(test) === folder);
    const named = here.filter((test) => names.some((name) => new RegExp(`^${name}[.-]`).test(basename(test))));
    if (named.length > 0) return named;
    if (here.length > 0 && (folder.split("/").length > 2 || here.length < MANY)) return here;
  }
  return [];
}
