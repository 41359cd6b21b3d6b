// `npm run test:one FILE [flag …]`: builds if a source changed since the last build, and runs one file of tests.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { changedSinceBuild } from "./build-state.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const args = process.argv.slice(2);
if (args.length === 0) throw new Error("usage: npm run test:one <file> [vitest flag …]");

if (changedSinceBuild() !== undefined) run("scripts/build.js");
run("node_modules/vitest/vitest.mjs", "run", ...args);

/** Exits with the program's code if it fails. */
function run(program, ...programArgs) {
  const { status } = spawnSync(process.execPath, [join(root, program), ...programArgs], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}
