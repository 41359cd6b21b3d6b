// `npm run test:repeat -- 10 [file …]`: runs the suite this many times, files and tests in random order, every second
// time with a load that takes all processors. Lists what failed. Exits with 0 if nothing did.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const [count = "10", ...files] = process.argv.slice(2);
if (!/^[1-9]\d*$/.test(count)) throw new Error("usage: npm run test:repeat -- <runs> [file …]");

const root = fileURLToPath(new URL("..", import.meta.url));
const vitest = join(root, "node_modules/vitest/vitest.mjs");
const folder = mkdtempSync(join(tmpdir(), "service-repeat-"));
/** Child processes to stop when this one exits. */
const children = new Set();
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
/** The runs in which a test failed, by its file and name. */
const failures = new Map();

for (let run = 1; run <= Number(count); run++) {
  const hasLoad = run % 2 === 0;
  const seed = Date.now() % 1_000_000;
  const load = hasLoad ? startLoad() : [];
  const began = performance.now();
  const { code, output, report } = await runSuite(seed);
  for (const child of load) child.kill("SIGKILL");
  for (const child of load) children.delete(child);
  const seconds = Math.round((performance.now() - began) / 1000);
  const title = `run ${run}${hasLoad ? ", under load" : ""}, seed ${seed}`;
  const log = join(tmpdir(), `service-repeat-${seed}.log`);
  if (code !== 0) writeFileSync(log, output);
  const counts =
    report === undefined ? "no report" : `${report.numPassedTests} passed, ${report.numFailedTests} failed`;
  process.stdout.write(`${title}: ${counts} in ${seconds} s${code === 0 ? "" : `, output in ${log}`}\n`);
  const failed = report === undefined ? [] : failedTests(report);
  if (code !== 0 && failed.length === 0) failed.push("(no test: see the output)");
  for (const name of failed) failures.set(name, [...(failures.get(name) ?? []), title]);
}

for (const [name, runs] of failures) process.stdout.write(`\n✗ ${name}\n${runs.map((run) => `  ${run}\n`).join("")}`);
process.stdout.write(failures.size === 0 ? "\nNothing failed.\n" : `\n${failures.size} failed at least once.\n`);
process.exitCode = failures.size === 0 ? 0 : 1;

/** Keeps every processor busy until the processes are killed. */
function startLoad() {
  return Array.from({ length: availableParallelism() }, () => start(["-e", "for (;;);"]));
}

function start(args) {
  const child = spawn(process.execPath, args, { cwd: root, env: { TEST_SECONDS: "300", ...process.env } });
  children.add(child);
  return child;
}

async function runSuite(seed) {
  const file = join(folder, `${seed}.json`);
  const order = ["--sequence.shuffle.files", "--sequence.shuffle.tests", `--sequence.seed=${seed}`];
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const child = start([vitest, "run", ...order, ...reporters, ...files]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  const [code] = await once(child, "close");
  children.delete(child);
  // A run that was interrupted has written none.
  return { code, output, report: existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined };
}

function failedTests({ testResults }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const path = relative(root, name);
    const failed = assertionResults.filter((test) => test.status === "failed").map(({ fullName }) => fullName);
    if (status === "failed" && failed.length === 0) failed.push(message.split("\n")[0]);
    return failed.map((test) => `${path}: ${test}`);
  });
}
