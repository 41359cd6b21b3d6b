// `npm run bench [part …]`: every performance claim as a ratio against a baseline of the same run.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { benchApi } from "./api.js";
import { benchDashboard } from "./dashboard.js";
import { benchDeliveries } from "./deliveries.js";
import { benchLists } from "./lists.js";
import { ROOT } from "./measure.js";
import { benchPostgres } from "./postgres.js";
import { benchRelay } from "./relay.js";
import { benchStartup } from "./startup.js";

const PARTS = {
  postgres: benchPostgres,
  startup: benchStartup,
  api: benchApi,
  relay: benchRelay,
  deliveries: benchDeliveries,
  dashboard: benchDashboard,
  lists: benchLists,
};

const chosen = process.argv.slice(2);
const unknown = chosen.find((name) => !(name in PARTS));
if (unknown !== undefined) throw new Error(`no part ${unknown}; there are ${Object.keys(PARTS).join(", ")}`);
const names = chosen.length === 0 ? Object.keys(PARTS) : chosen;

const rows = [];
for (const name of names) {
  process.stderr.write(`${name} …\n`);
  rows.push(...(await PARTS[name]()));
}

const table = [
  "| What | Figure | Baseline | Ratio | Goal |",
  "|---|---|---|---|---|",
  ...rows.map(
    ({ name, figure, baseline, ratio, goal }) =>
      `| ${name} | ${figure} | ${baseline} | ${ratio === undefined ? "" : ratio.toFixed(2)} | ${goal} |`,
  ),
].join("\n");
console.log(table);

if (chosen.length === 0) {
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: ROOT, encoding: "utf8" }).trim();
  const machine = `${cpus().length} cores (${cpus()[0].model}), Node ${process.version}, ${process.platform}`;
  const notes =
    "Medians; each ratio is of rounds that alternate with their baseline. Machines drift: trust the ratios.";
  const limits = readFileSync(join(ROOT, "bench/limits.md"), "utf8");
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(
    join(ROOT, "bench/RESULTS.md"),
    `# Results\n\n${date}, ${commit}, ${machine}. ${notes}\n\n${table}\n\n${limits}`,
  );
}
