import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { EventType } from "../../../contract/event-types.ts";
import type { Condition } from "../../arguments/conditions.ts";
import type { Context } from "../../context.ts";
import { SilentExit, UserError } from "../../errors.ts";
import { assertJq } from "../../terminal/jq.ts";
import { ChildCommand, type ChildEnd } from "../listen/child.ts";
import { type Expectation, type FailureCode, judge, Watch } from "./expectation.ts";
import { eventLine, hintLines, junitOf, reportOf } from "./report.ts";

/** Flags of `service expect`. */
export interface ExpectFlags {
  within: number;
  count?: number;
  where?: Condition[];
  delivered?: true;
  junit?: string;
}

const POLL_MILLISECONDS = 250;

/**
 * Watches events until the expectation is met or cannot be met any more. Throws UserError if it was not met, or
 * SilentExit with the exit code of the command.
 */
export async function runExpect(
  type: EventType,
  flags: ExpectFlags,
  command: readonly string[],
  context: Context,
): Promise<void> {
  const { output } = context;
  const jq = context.globals.selection;
  if (jq !== undefined) await assertJq(jq);
  const expectation: Expectation = {
    type,
    conditions: flags.where ?? [],
    jq,
    count: flags.count,
    isDelivered: flags.delivered === true,
  };
  const client = await context.client();
  const beganAt = performance.now();
  const watch = await Watch.begin(client, expectation);
  const end = command.length === 0 ? undefined : await new ChildCommand(command, {}, context).ended;
  if (end?.error !== undefined) context.stderr.write(`Error: ${end.error.message}\n`);
  // A command that failed decides the exit code, so nothing is waited for.
  const seconds = end === undefined || end.exitCode === 0 ? flags.within : 0;
  const code = await output.spinner.during(`Waiting for ${type}`, observe(watch, expectation, seconds, context));
  const durationMs = performance.now() - beganAt;
  const report = reportOf(expectation, watch.observation, { code, seconds, durationMs });
  if (flags.junit !== undefined) {
    const conditions = [...expectation.conditions.map(({ text }) => text), ...(jq === undefined ? [] : [jq])];
    await writeReport(flags.junit, junitOf([type, ...conditions].join(" "), report), context);
  }
  if (output.json) await output.document(report);
  else for (const event of report.events) output.line(output.quiet ? event.id : eventLine(event));
  assertCommandSucceeded(end);
  if (report.message !== null) {
    throw new UserError(report.message, { hint: hintLines(report).join("\n"), code: report.code ?? "failed" });
  }
  output.success(`${type} as expected`);
}

/** Its own exit code is passed on: test failures take precedence over missing events. */
function assertCommandSucceeded(end: ChildEnd | undefined): void {
  if (end !== undefined && end.exitCode !== 0) throw new SilentExit(end.exitCode);
}

/** Returns why the expectation was not met, or null. */
async function observe(
  watch: Watch,
  expectation: Expectation,
  seconds: number,
  context: Context,
): Promise<FailureCode | null> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    // Read before the last poll, so that events within the time are seen.
    const isOver = performance.now() >= deadline;
    await watch.look();
    const verdict = judge(expectation, watch.observation, isOver);
    if (verdict.state === "met") return null;
    if (verdict.state === "failed") return verdict.code;
    await context.sleep(Math.max(1, Math.min(POLL_MILLISECONDS, deadline - performance.now())));
  }
}

async function writeReport(file: string, text: string, { cwd }: Context): Promise<void> {
  try {
    await writeFile(resolve(cwd, file), text);
  } catch (error) {
    throw new UserError(`--junit: cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
}
