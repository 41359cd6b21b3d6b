// `npm run bench -- --compare COMMIT [part …]`: builds another commit beside this tree and runs the parts for both in
// turn, so that a change is distinguishable from the machine's noise.
import { execFileSync, spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { BIN, median, ROOT, temporaryFolder } from "./measure.js";

const ROUNDS = 3;

/** Returns the table of both commits: of each figure the ratio to its baseline, and the change. */
export function compare(commit, parts, say) {
  const other = join(temporaryFolder(), "tree");
  const git = (...args) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" });
  git("worktree", "add", "--quiet", "--detach", other, commit);
  try {
    const inOther = { cwd: other, stdio: ["ignore", "ignore", "inherit"] };
    if (git("diff", "--name-only", commit, "--", "package-lock.json") === "") {
      symlinkSync(join(ROOT, "node_modules"), join(other, "node_modules"));
    } else {
      say(`installing the dependencies of ${commit} …`);
      execFileSync("npm", ["ci", "--prefer-offline", "--no-audit", "--no-fund"], inOther);
    }
    execFileSync(process.execPath, ["scripts/build.js"], inOther);
    const rounds = [];
    for (let round = 1; round <= ROUNDS; round++) {
      say(`round ${round} of ${ROUNDS} …`);
      rounds.push({ before: run(parts, join(other, "bin/service.js")), now: run(parts, BIN) });
    }
    return tableOf(commit, rounds);
  } finally {
    git("worktree", "remove", "--force", other);
  }
}

/** Runs the benchmarks of this tree with a built command. Returns the rows. */
function run(parts, bin) {
  const args = ["bench/run.js", "--json", ...parts];
  const env = { ...process.env, BENCH_BIN: bin };
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`);
  return JSON.parse(String(stdout));
}

function tableOf(commit, rounds) {
  const lines = rounds[0].now.flatMap(({ name }) => {
    const of = (side) => rounds.map((round) => numberOf(round[side].find((row) => row.name === name)));
    const [before, now] = [of("before"), of("now")];
    if ([...before, ...now].includes(undefined)) return [];
    const change = median(now.map((value, round) => value / before[round]));
    return [`| ${name} | ${median(before).toFixed(2)} | ${median(now).toFixed(2)} | × ${change.toFixed(2)} |`];
  });
  return [`| Figure | ${commit} | This tree | Change |`, "| --- | --- | --- | --- |", ...lines].join("\n");
}

const numberOf = (row) => row?.ratio ?? row?.value;
