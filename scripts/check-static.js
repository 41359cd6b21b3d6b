// `npm run check:static`: runs all static checks, two at a time, and prints the output of those that fail. Exits with 0
// if all pass.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";

// Longest first.
const waiting = ["types", "lint", "docs:check", "dead-code", "format:check", "style", "package"];
const failed = [];

async function work() {
  for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
    const began = performance.now();
    const { code, output } = await run(check);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    process.stdout.write(`${code === 0 ? "✓" : "✗"} ${check} (${seconds} s)\n${code === 0 ? "" : output}`);
    if (code !== 0) failed.push(check);
  }
}

function run(check) {
  const child = spawn("npm", ["run", "--silent", check], { shell: process.platform === "win32" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
}

await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
if (failed.length > 0)
  process.stdout.write(`\nFailed: ${failed.join(", ")}. Run one alone with npm run ${failed[0]}.\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
