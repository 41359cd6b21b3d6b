import { randomInt } from "node:crypto";
import type { FaultCreate } from "../../../../contract/schemas/fault.ts";
import type { RequestLog, RequestLogDetail } from "../../../../contract/schemas/request-log.ts";
import { type Platform, startPlatform } from "../../../../testing/index.ts";
import { seededRandom } from "../../../../relay/chaos.ts";
import type { ParsedCommand } from "../../../command.ts";
import type { Context } from "../../../context.ts";
import { requireDriver } from "../../../database/driver.ts";
import { EXIT_CODES, SilentExit, UsageError, UserError } from "../../../errors.ts";
import { ChildCommand } from "../../../process/foreground.ts";
import { countsOf } from "../../../../receiver-check/check.ts";
import { type Check, printReport, testCasesOf } from "../../../terminal/check-report.ts";
import { writeJunit } from "../../../terminal/junit.ts";
import { GROUPS, judgeRuns, type Run } from "./judge.ts";

interface CheckFlags {
  seed?: number;
  runs: number;
  junit?: string;
}

const MAX_SEED = 1_000_000;

/**
 * Runs a command against an empty platform of its own, several times with different faults, and judges the requests
 * that it sent. Import this module lazily. Throws SilentExit with 1 if a check failed.
 */
export async function runCheck(
  context: Context,
  words: readonly string[],
  flags: CheckFlags,
  { programArgs: command }: ParsedCommand,
): Promise<void> {
  const { output } = context;
  if (words.length > 0) {
    const hint = "Put the command after --, such as service faults check -- npm test";
    throw new UsageError(`Unexpected argument "${words[0]!}"`, { hint });
  }
  if (command.length === 0) {
    throw new UsageError("No command to run", { hint: "For example: service faults check -- npm test" });
  }
  await requireDriver(context);
  const seed = flags.seed ?? randomInt(MAX_SEED);
  output.note(`Seed ${seed}. To repeat these faults, pass --seed ${seed}.`);
  const startedAt = performance.now();
  let unauthorized = 0;
  const platform = await startPlatform({
    // The request log of the account has no requests without its key.
    log: (line) => (unauthorized += (JSON.parse(line) as { status?: number }).status === 401 ? 1 : 0),
  });
  const runs: Run[] = [];
  try {
    for (let index = 0; index < flags.runs; index++) {
      output.notice(`Run ${index + 1} of ${flags.runs}, with faults of seed ${seed + index}:`);
      const run = await runOnce(platform, seed + index, command, context);
      context.signal.throwIfAborted();
      if (index === 0 && run.exitCode !== 0) await assertSucceeds(platform, command, context);
      runs.push(run);
    }
  } finally {
    await platform.close();
  }
  if (runs.every(({ requests }) => requests.length === 0)) throw nothingToJudge(unauthorized);
  const report = reportOf(runs, { command, seed, milliseconds: performance.now() - startedAt });
  const name = command.join(" ");
  if (flags.junit !== undefined) {
    const suite = { name: `faults check ${name}`, milliseconds: report.duration_ms, cases: testCasesOf(report) };
    await writeJunit(flags.junit, suite, context);
  }
  await printReport(report, { label: "Client", name, groups: GROUPS }, output);
  if (!report.passed) throw new SilentExit(EXIT_CODES.failed);
}

/** Throws UserError for a command that fails without faults: they prove nothing about it. */
async function assertSucceeds(platform: Platform, command: readonly string[], context: Context): Promise<void> {
  context.output.notice("Run without faults:");
  const { exitCode, requests } = await runOnce(platform, undefined, command, context);
  context.signal.throwIfAborted();
  if (exitCode === 0 || requests.length === 0) return;
  const failed = requests.findLast(({ status }) => status >= 400);
  const last =
    failed && `, after ${failed.method} ${failed.path} got ${failed.status} ${failed.error_code ?? ""}`.trimEnd();
  throw new UserError(`The command fails without faults, too: it exited with ${exitCode}${last ?? ""}`, {
    hint: "Make it succeed first. Its output is above.",
    code: "command_failed",
  });
}

function nothingToJudge(unauthorized: number): UserError {
  const message =
    unauthorized === 0
      ? "The command sent no request to the platform"
      : `The command sent no request with the platform's key: ${unauthorized === 1 ? "1 got" : `${unauthorized} got`} 401`;
  const hint = "It must use the URL in SERVICE_BASE_URL and the key in SERVICE_API_KEY.";
  return new UserError(message, { hint, code: unauthorized === 0 ? "no_requests" : "unauthorized" });
}

/** Without a seed, there are no faults. */
async function runOnce(
  platform: Platform,
  seed: number | undefined,
  command: readonly string[],
  context: Context,
): Promise<Run> {
  await platform.reset();
  for (const fault of seed === undefined ? [] : planFaults(seed)) await platform.request("POST", "/v1/faults", fault);
  const { SERVICE_BASE_URL: url = "", SERVICE_API_KEY: key = "" } = platform.env;
  const { exitCode, error } = await new ChildCommand(command, { SERVICE_BASE_URL: url, SERVICE_API_KEY: key }, context)
    .ended;
  if (error !== undefined) throw error;
  await platform.request("DELETE", "/v1/faults");
  return { seed: seed ?? 0, exitCode, requests: await requestsOf(platform) };
}

/** Returns the requests of the command, oldest first. */
async function requestsOf(platform: Platform): Promise<RequestLogDetail[]> {
  const logs: RequestLog[] = [];
  for (let query = "limit=100"; query !== "";) {
    const page = await platform.request<{ data: RequestLog[]; next_cursor: string | null }>(
      "GET",
      `/v1/request_logs?${query}`,
    );
    logs.push(...page.data);
    query = page.next_cursor === null ? "" : `limit=100&cursor=${page.next_cursor}`;
  }
  const own = logs.filter(({ path }) => !/^\/v1\/(faults|sandbox)(\/|$)/.test(path));
  const details: RequestLogDetail[] = [];
  for (const { id } of own.toReversed()) details.push(await platform.request("GET", `/v1/request_logs/${id}`));
  return details;
}

type Grade = "A" | "B" | "C" | "D" | "F";

const VERDICTS: Readonly<Record<Grade, string>> = {
  A: "The client handles every fault.",
  B: "The client handles every fault that it met, but some checks did not run.",
  C: "The client breaks one rule.",
  D: "The client breaks two rules.",
  F: "The client creates objects twice.",
};

export type ClientReport = ReturnType<typeof reportOf>;

function reportOf(
  runs: readonly Run[],
  { command, seed, milliseconds }: { command: readonly string[]; seed: number; milliseconds: number },
) {
  const checks: Check[] = judgeRuns(runs);
  const failed = checks.filter(({ status }) => status === "failed");
  const best = checks.some(({ status }) => status === "skipped") ? "B" : "A";
  const createsTwice = failed.some(({ id }) => id === "creates-once");
  const grade: Grade = createsTwice ? "F" : (([best, "C", "D"] as const)[failed.length] ?? "F");
  const requests = runs.flatMap((run) => run.requests);
  return {
    object: "client_check",
    command,
    seed,
    runs: runs.length,
    requests: requests.length,
    faults: requests.filter(({ fault }) => fault !== null && fault.effect !== "delay").length,
    passed: failed.length === 0,
    grade,
    verdict: grade === "F" && !createsTwice ? `The client breaks ${failed.length} rules.` : VERDICTS[grade],
    counts: countsOf(checks),
    duration_ms: Math.round(milliseconds),
    checks,
  };
}

type Effect = Pick<FaultCreate, "effect" | "status" | "delay_ms">;
type Method = NonNullable<FaultCreate["match"]["method"]>;

const OUTAGES: readonly Effect[] = [
  { effect: "status", status: 503 },
  { effect: "status", status: 429 },
  { effect: "status", status: 500 },
  { effect: "status", status: 502 },
  { effect: "disconnect" },
];
/** What the requests of each method get: a lost response matters most where a request creates something. */
const EFFECTS: Readonly<Record<Method, readonly Effect[]>> = {
  POST: [...OUTAGES, { effect: "lose_response" }, { effect: "lose_response" }],
  GET: [...OUTAGES, { effect: "truncate" }],
  PATCH: [...OUTAGES, { effect: "lose_response" }],
  DELETE: [...OUTAGES, { effect: "lose_response" }],
};
/** The first fault of each method by seed: the runs, with seeds in a row, test each rule even with one request each. */
const FIRST: readonly Effect[] = [
  { effect: "lose_response" },
  { effect: "status", status: 503 },
  { effect: "disconnect" },
];
/** Faults per method. With the successful requests between them, they reach the sandbox's limit. */
const FAULTS_OF_A_METHOD = 12;
/** Stands for a request without a fault, because a used-up fault leaves the request to the next one. */
const NOTHING: Effect = { effect: "delay", delay_ms: 1 };

/**
 * Returns the faults of one run, in the order in which requests of their method get them, with one or two requests
 * between them that succeed. The same seed gives the same faults.
 */
function planFaults(seed: number): FaultCreate[] {
  const random = seededRandom(seed);
  const methods = Object.keys(EFFECTS) as Method[];
  return methods.flatMap((method) => {
    const match = { method, path: "/v1/*" };
    const effects: Effect[] = [FIRST[seed % FIRST.length]!];
    while (effects.length < FAULTS_OF_A_METHOD) effects.push(...shuffled(EFFECTS[method], random));
    return effects.slice(0, FAULTS_OF_A_METHOD).flatMap((effect, index): FaultCreate[] => {
      const between = index === 0 ? 0 : 1 + Math.floor(random() * 2);
      const fault = { match, ...effect, times: 1 };
      return between === 0 ? [fault] : [{ match, ...NOTHING, times: between }, fault];
    });
  });
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const left = [...items];
  return items.map(() => left.splice(Math.floor(random() * left.length), 1)[0]!);
}
