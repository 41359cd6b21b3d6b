// `npm run bench [part …]`: every performance claim as a ratio against a baseline of the same run, in one table. All
// parts together are written to bench/RESULTS.md. `--compare COMMIT` alternates with the build of another commit,
// `--check` with that of the last release, and fails if a figure lost more than a tenth; `--record` makes this commit
// that release. `--json` prints the rows.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { benchApi } from "./api.js";
import { benchBudgets } from "./budgets.js";
import { checkAgainstBaseline, compare, recordBaseline } from "./compare.js";
import { benchDashboard } from "./dashboard.js";
import { benchDeliveries } from "./deliveries.js";
import { benchGrowth } from "./growth.js";
import { benchLists } from "./lists.js";
import { ROOT } from "./measure.js";
import { benchPeers } from "./peers.js";
import { benchPostgres } from "./postgres.js";
import { benchQueues } from "./queues.js";
import { benchCapture, benchRelay } from "./relay.js";
import { benchResets } from "./resets.js";
import { benchStartup } from "./startup.js";
import { tableOf } from "./table.js";
import { benchWebhooks } from "./webhooks.js";

const PARTS = {
  startup: benchStartup,
  api: benchApi,
  relay: benchRelay,
  capture: benchCapture,
  peers: benchPeers,
  deliveries: benchDeliveries,
  queues: benchQueues,
  lists: benchLists,
  budgets: benchBudgets,
  growth: benchGrowth,
  resets: benchResets,
  dashboard: benchDashboard,
  postgres: benchPostgres,
  webhooks: benchWebhooks,
};

const { values: flags, positionals: chosen } = parseArgs({
  allowPositionals: true,
  options: {
    compare: { type: "string" },
    check: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (flags.help) {
  process.stdout.write(`npm run bench -- [part …] [--json]          ratios against baselines of the same run
npm run bench -- [part …] --compare COMMIT  in turn with the build of another commit
npm run bench -- [part …] --check           in turn with the last release; fails if a figure lost more than a tenth
npm run bench -- [part …] --record          makes this commit that release

Parts: ${Object.keys(PARTS).join(", ")}
`);
  process.exit(0);
}
const unknown = chosen.find((name) => !(name in PARTS));
if (unknown !== undefined) throw new Error(`no part ${unknown}; there are ${Object.keys(PARTS).join(", ")}`);
/** Their figures are steady enough to judge a release by. */
const GUARDED = ["startup", "api", "relay", "deliveries", "webhooks"];
const names = chosen.length > 0 ? chosen : flags.check || flags.record ? GUARDED : Object.keys(PARTS);

const say = (text) => process.stderr.write(`${text}\n`);
if (flags.compare !== undefined) {
  process.stdout.write(`${compare(flags.compare, names, say)}\n`);
  process.exit(0);
}
if (flags.check) {
  const { table, lost } = checkAgainstBaseline(names, say);
  process.stdout.write(`${table}\n`);
  for (const name of lost) say(`slower than the last release by more than a tenth: ${name}`);
  process.exit(lost.length === 0 ? 0 : 1);
}
const rows = [];
const took = [];
for (const name of names) {
  say(`${name} …`);
  const began = performance.now();
  rows.push(...(await PARTS[name](say)));
  took.push(`${name} ${Math.round((performance.now() - began) / 1000)} s`);
  say(took.at(-1));
}

if (flags.json) {
  process.stdout.write(`${JSON.stringify(rows)}\n`, () => process.exit(0));
  await new Promise(() => {});
}

if (flags.record) recordBaseline(rows);

const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: ROOT, encoding: "utf8" }).trim();
const machine = `${cpus().length} cores (${cpus()[0].model}), Node ${process.version}, ${process.platform}`;
const report = `${new Date().toISOString().slice(0, 10)}, ${commit}, ${machine}. Medians; each ratio is of rounds that alternate
with their baseline. Machines drift: trust the ratios. A goal is of the ratio, unless it names a unit.
Took ${took.join(", ")}.

${tableOf(rows)}
`;
process.stdout.write(report);
if (chosen.length === 0) {
  const limits = readFileSync(join(ROOT, "bench/limits.md"), "utf8");
  writeFileSync(join(ROOT, "bench/RESULTS.md"), `# Results\n\n${report}\n${limits}`);
}
// A benchmark that failed half-way, or a peer, may have left handles open.
process.exit(0);
