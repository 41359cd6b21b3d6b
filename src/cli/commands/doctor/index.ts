import { setMaxListeners } from "node:events";
import { NetworkError } from "../../../client/errors.ts";
import type { CommandDefinition } from "../../command.ts";
import type { Context } from "../../context.ts";
import { EXIT_CODES, orAborted, SilentExit, UserError } from "../../errors.ts";
import { PROJECT_FILE } from "../../project/file.ts";
import { mapTexts } from "../../terminal/json.ts";
import type { Output } from "../../terminal/output.ts";
import { printable } from "../../terminal/printable.ts";
import type { Styles } from "../../terminal/styles.ts";
import type { ResourceView } from "../../terminal/view.ts";
import { wrapWords } from "../../terminal/wrap.ts";
import { connectionOf, type Examination, examine } from "./examine.ts";
import { type Check, failed, type Finding, skipped, type Verdict } from "./finding.ts";
import { machineChecks } from "./machine.ts";
import { connectionChecks, NOT_REACHED, webhookChecks } from "./platform.ts";
import { counted } from "../../../contract/words.ts";

const TIMEOUT_MILLISECONDS = 6000;
const CONNECT_MILLISECONDS = 3000;
const INVALID_PROJECT = `${PROJECT_FILE} has errors`;

const EXITS =
  "Exits with 7 if the platform is unreachable, else with 4 if you are not signed in, else with 1 if another check failed.";

/** JSON of one check. */
type Result = Awaited<ReturnType<typeof runCheck>>["result"];

const RESULTS: ResourceView<Result> = {
  noun: "check",
  fields: ["id", "title", "status", "detail", "advice"],
  columns: [
    { label: "Status", text: ({ status }) => status },
    { label: "Check", text: ({ id }) => id },
    { label: "Detail", text: ({ detail }) => detail },
    { label: "Advice", text: ({ advice }) => advice ?? "" },
  ],
};

/** `service doctor`. */
export const command: CommandDefinition = {
  name: "doctor",
  about: `Diagnose problems with this machine, the platform and the credential. ${EXITS}`,
  fields: RESULTS,
  examples: [
    "service doctor",
    "service doctor --live --profile shop # Check the live credential of a profile",
    "service doctor --json --jq '.[] | select(.status == \"failed\")' # Only the failed checks",
  ],
  run: (context: Context) =>
    runChecks(context, (examination, bounded) => [
      ...machineChecks(bounded, CONNECT_MILLISECONDS),
      ...connectionChecks(examination, bounded),
      ...webhookChecks(examination, bounded),
    ]),
};

/** `service status`: the checks of doctor that every command needs. */
export const status: CommandDefinition = {
  name: "status",
  about: `Check the platform, its latency and versions, the local clock and the credential: a short \`service doctor\`. ${EXITS}`,
  fields: RESULTS,
  examples: [
    "service status",
    "service status --live --profile shop # Check the live credential of a profile",
    "service status --json --jq '.[] | select(.id == \"platform\").detail' # Only the line of the platform",
  ],
  run: runStatus,
};

async function runStatus(context: Context): Promise<void> {
  // Wrong flags and settings are errors of the command, not of the platform.
  await connectionOf(context);
  await runChecks(context, (examination, bounded) => connectionChecks(examination, bounded));
}

/** Runs the checks that `list` returns. Throws SilentExit with the highest exit code of those that failed. */
async function runChecks(
  given: Context,
  list: (examination: Promise<Examination>, context: Context) => Check[],
): Promise<void> {
  // An error here is one of `examine`, too.
  const context = await given.whereSignedIn().catch(() => given);
  const limit = AbortSignal.timeout(TIMEOUT_MILLISECONDS);
  // Each check listens for it.
  setMaxListeners(0, limit);
  const bounded = context.withSignal(AbortSignal.any([context.signal, limit]));
  const exitCode = await diagnose(list(examine(bounded), bounded), limit, context);
  if (exitCode !== EXIT_CODES.ok) throw new SilentExit(exitCode);
}

/** Runs checks until the limit, and prints their results. Returns the exit code. */
async function diagnose(checks: readonly Check[], limit: AbortSignal, { output, signal }: Context): Promise<number> {
  const outcomes = await output.spinner.during(`Running ${checks.length} checks`, () =>
    Promise.all(checks.map((check) => runCheck(check, limit))),
  );
  signal.throwIfAborted();
  const results = outcomes.map(({ result }) => result);
  const isDrawn = output.terminal && !output.json && !output.quiet && !output.chosen;
  if (isDrawn) for (const line of drawResults(results, output)) output.line(line);
  else {
    // As of any check, `--quiet` prints what failed.
    const shown = output.quiet && !output.json ? results.filter(({ status }) => status === "failed") : results;
    await output.list(
      mapTexts(shown, (text) => output.runnable(text)),
      RESULTS,
    );
  }
  const count = (status: Result["status"]): number => results.filter((result) => result.status === status).length;
  output.note(`\n${summary(count("failed"), count("warning"))}`);
  return Math.max(...outcomes.map(({ exitCode }) => exitCode));
}

/** A check that throws is a finding too. */
async function runCheck({ id, title, run }: Check, limit: AbortSignal) {
  let finding: Finding;
  try {
    finding = await orAborted(Promise.resolve(run()), limit);
  } catch (error) {
    if (limit.aborted)
      finding = failed(
        `timed out after ${TIMEOUT_MILLISECONDS / 1000} s`,
        "Check the network and try again.",
        id === "platform" ? EXIT_CODES.unreachable : EXIT_CODES.failed,
      );
    // One cause is one failure: that of the platform.
    else if (id !== "platform" && error instanceof UserError && error.code === "unreachable")
      finding = skipped(NOT_REACHED);
    else if (error instanceof UserError && error.code === "project_file") finding = skipped(INVALID_PROJECT);
    else {
      const exitCode = error instanceof UserError ? error.exitCode : EXIT_CODES.failed;
      const hint = error instanceof UserError || error instanceof NetworkError ? error.hint : undefined;
      finding = failed((error as Error).message, hint ?? "Run the command again with --debug.", exitCode);
    }
  }
  const { status, detail, advice = null, exitCode = EXIT_CODES.ok } = finding;
  return { result: { id, title, status, detail, advice }, exitCode };
}

function summary(failures: number, warnings: number): string {
  if (failures + warnings === 0) return "All checks passed.";
  const words = [
    ...(failures > 0 ? [`${failures} failed`] : []),
    ...(warnings > 0 ? [counted(warnings, "warning")] : []),
  ];
  return `${words.join(", ")}.`;
}

const SIGNS: Readonly<Record<Verdict, { sign: string; style: keyof Styles }>> = {
  ok: { sign: "✓", style: "good" },
  warning: { sign: "!", style: "warn" },
  failed: { sign: "✗", style: "bad" },
  skipped: { sign: "–", style: "dim" },
};

const MIN_WIDTH = 30;

/** Renders the results: a symbol, a word and the title each, then the detail and how to fix it. */
function drawResults(results: readonly Result[], output: Output): string[] {
  const { styles, width } = output;
  const titleWidth = Math.max(...results.map(({ title }) => title.length));
  return results.flatMap(({ title, status, detail, advice }) => {
    const { sign, style } = SIGNS[status];
    const word = `${sign} ${status.padEnd(7)}`;
    const indent = word.length + titleWidth + 4;
    // On a narrow terminal, the detail is below the title.
    const isNarrow = width - indent < MIN_WIDTH;
    const room = width - (isNarrow ? NARROW_INDENT : indent);
    const lines = wrapWords(output.runnable(printable(detail)), room);
    if (advice !== null) {
      const advised = wrapWords(`→ ${output.runnable(printable(advice))}`, room);
      lines.push(...advised.map((line) => styles.accent(line)));
    }
    const head = `${styles[style](word)}  ${styles.strong(isNarrow ? title : title.padEnd(titleWidth))}`;
    if (isNarrow) return [head, ...lines.map((line) => " ".repeat(NARROW_INDENT) + line)];
    return lines.map((line, at) => (at === 0 ? `${head}  ${line}` : " ".repeat(indent) + line));
  });
}

const NARROW_INDENT = 4;
