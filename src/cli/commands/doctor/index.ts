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
import { connectionOf, examine } from "./examine.ts";
import { type Check, failed, type Finding, skipped, type Verdict } from "./finding.ts";
import { machineChecks } from "./machine.ts";
import { connectionChecks, NOT_REACHED, webhookChecks } from "./platform.ts";
import { counted } from "../../../contract/words.ts";

const TIMEOUT_MILLISECONDS = 6000;
const CONNECT_MILLISECONDS = 3000;
const INVALID_PROJECT = `${PROJECT_FILE} has errors`;

/** JSON of one check. */
type Result = Awaited<ReturnType<typeof runCheck>>;

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
  about: "Diagnose problems with this machine, the platform and the credential. Exits with 1 if a check failed.",
  fields: RESULTS,
  examples: [
    "service doctor",
    "service doctor --live --profile shop",
    "service doctor --json --jq '.[] | select(.status == \"failed\")'",
  ],
  run: runDoctor,
};

/** `service status`: the checks of doctor that every command needs. */
export const status: CommandDefinition = {
  name: "status",
  about:
    "Check the platform, its latency and versions, the local clock and the credential: a short `service doctor`. Exits with 7 if the platform is unreachable, with 4 if you are not signed in.",
  fields: RESULTS,
  examples: [
    "service status",
    "service status --live --profile shop",
    "service status --json --jq '.[] | select(.id == \"platform\").detail'",
  ],
  run: runStatus,
};

async function runDoctor(context: Context): Promise<void> {
  const { limit, bounded } = withinLimit(context);
  const examination = examine(bounded);
  const checks = [
    ...machineChecks(bounded, CONNECT_MILLISECONDS),
    ...connectionChecks(examination, bounded),
    ...webhookChecks(examination, bounded),
  ];
  const results = await diagnose(checks, limit, context);
  if (results.some(({ status }) => status === "failed")) throw new SilentExit(EXIT_CODES.failed);
}

async function runStatus(context: Context): Promise<void> {
  // Wrong flags and settings are errors of the command, not of the platform.
  await connectionOf(context);
  const { limit, bounded } = withinLimit(context);
  const examination = examine(bounded);
  const [platform] = await diagnose(connectionChecks(examination, bounded), limit, context);
  if (platform?.status === "failed") throw new SilentExit(EXIT_CODES.unreachable);
  const { state } = (await examination).credential;
  if (state === "unknown") throw new SilentExit(EXIT_CODES.failed);
  if (state !== "works") throw new SilentExit(EXIT_CODES.notSignedIn);
}

function withinLimit(context: Context): { limit: AbortSignal; bounded: Context } {
  const limit = AbortSignal.timeout(TIMEOUT_MILLISECONDS);
  // Each check listens for it.
  setMaxListeners(0, limit);
  return { limit, bounded: context.withSignal(AbortSignal.any([context.signal, limit])) };
}

/** Runs checks until the limit, and prints their results. */
async function diagnose(checks: readonly Check[], limit: AbortSignal, { output, signal }: Context): Promise<Result[]> {
  const results = await output.spinner.during(`Running ${checks.length} checks`, () =>
    Promise.all(checks.map((check) => runCheck(check, limit))),
  );
  signal.throwIfAborted();
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
  return results;
}

/** A check that throws is a finding too. */
async function runCheck({ id, title, run }: Check, limit: AbortSignal) {
  let finding: Finding;
  try {
    finding = await orAborted(Promise.resolve(run()), limit);
  } catch (error) {
    if (limit.aborted)
      finding = failed(`timed out after ${TIMEOUT_MILLISECONDS / 1000} s`, "Check the network and try again.");
    // One cause is one failure: that of the platform.
    else if (id !== "platform" && error instanceof UserError && error.code === "unreachable")
      finding = skipped(NOT_REACHED);
    else if (error instanceof UserError && error.code === "project_file") finding = skipped(INVALID_PROJECT);
    else finding = failed((error as Error).message, adviceOf(error));
  }
  return { id, title, status: finding.status, detail: finding.detail, advice: finding.advice ?? null };
}

function adviceOf(error: unknown): string {
  const hint = error instanceof UserError || error instanceof NetworkError ? error.hint : undefined;
  return hint ?? "Run the command again with --debug.";
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
