// Runs parts for the build of another commit and for this tree in turn, so that a change is distinguishable from the
// machine's noise. `--compare COMMIT` shows the changes. `--check` fails if something is slower than in the last release,
// which bench/baseline.json names with its figures; `--record` makes this tree that release.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BIN, median, ROOT, temporaryFolder } from "./measure.js";

const ROUNDS = 3;
const BASELINE = join(ROOT, "bench/baseline.json");
/** A release may lose this much of a figure, because runs differ. */
const MAX_LOSS = 1.1;

/** Returns the table of both commits: the figures of each, and the change. */
export function compare(commit, parts, say) {
  return withBuildOf(commit, say, (before) => tableOf(commit, changesOf(before, parts, say)));
}

/**
 * Compares with the last release. What lost too much is measured a second time. Returns the table, and the names of
 * what lost too much both times.
 */
export function checkAgainstBaseline(parts, say) {
  if (!existsSync(BASELINE)) return { table: "No release has recorded its figures with --record yet.", lost: [] };
  const { commit } = JSON.parse(readFileSync(BASELINE, "utf8"));
  return withBuildOf(commit, say, (before) => {
    const changes = changesOf(before, parts, say);
    const suspects = lossesIn(changes);
    if (suspects.length === 0) return { table: tableOf(commit, changes), lost: [] };
    say(`measured again: ${suspects.map(({ name }) => name).join("; ")}`);
    const again = lossesIn(changesOf(before, [...new Set(suspects.map(({ part }) => part))], say));
    const lost = suspects.filter(({ name }) => again.some((change) => change.name === name));
    return { table: tableOf(commit, changes), lost: lost.map(({ name }) => name) };
  });
}

/** Stores the figures of this commit, which later ones are checked against. */
export function recordBaseline(rows) {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" }).trim();
  const figures = rows.flatMap(figuresOf).map(({ name, number }) => [name, Number(number.toPrecision(3))]);
  const baseline = { version, commit, figures: Object.fromEntries(figures) };
  writeFileSync(BASELINE, `${JSON.stringify(baseline, null, 2)}\n`);
}

/** Builds a commit beside this tree for as long as a task runs. */
function withBuildOf(commit, say, task) {
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
    return task(join(other, "bin/service.js"));
  } finally {
    git("worktree", "remove", "--force", other);
  }
}

/** Runs parts with both builds. Returns of each figure the medians and the median change. */
function changesOf(bin, parts, say) {
  return parts.flatMap((part) => {
    const rounds = [];
    for (let round = 1; round <= ROUNDS; round++) {
      say(`${part}, round ${round} of ${ROUNDS} …`);
      rounds.push({ before: run(part, bin), now: run(part, BIN) });
    }
    return rounds[0].now.flatMap(({ name, better }) => {
      const of = (side) => rounds.map((round) => round[side].find((figure) => figure.name === name)?.number);
      const [before, now] = [of("before"), of("now")];
      if ([...before, ...now].includes(undefined)) return [];
      const change = median(now.map((value, round) => value / before[round]));
      return [{ part, name, better, before: median(before), now: median(now), change }];
    });
  });
}

/** Runs a part of this tree's benchmarks with a built command. Returns its figures. */
function run(part, bin) {
  const args = ["bench/run.js", "--json", part];
  const env = { ...process.env, BENCH_BIN: bin };
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`);
  return JSON.parse(String(stdout)).flatMap(figuresOf);
}

/** The numbers of a row: its ratio or, if it has none, its value; and the processor time of a unit. */
function figuresOf({ name, ratio, value, microseconds, goal }) {
  const number = ratio ?? value;
  return [
    ...(number === undefined ? [] : [{ name, number, better: goal?.better }]),
    ...(microseconds === undefined
      ? []
      : [{ name: `${name}: processor time in µs`, number: microseconds, better: "less" }]),
  ];
}

function lossesIn(changes) {
  return changes.filter(({ better, change }) => {
    if (better === undefined) return false;
    return (better === "less" ? change : 1 / change) > MAX_LOSS;
  });
}

function tableOf(commit, changes) {
  const lines = changes.map(
    ({ name, before, now, change }) =>
      `| ${name} | ${before.toFixed(2)} | ${now.toFixed(2)} | × ${change.toFixed(2)} |`,
  );
  return [`| Figure | ${commit.slice(0, 12)} | This tree | Change |`, "| --- | --- | --- | --- |", ...lines].join("\n");
}
