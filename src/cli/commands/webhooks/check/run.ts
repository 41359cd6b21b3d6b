import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { clockOf, newSecret, parseAddress, performCheck } from "../../../receivers/check.ts";
import { checkLine, gradeLine, junitOf, reportLines } from "../../../terminal/check-report.ts";
import { parseHeaders } from "../../../arguments/headers.ts";
import { type SchemeFlag, schemeNamed } from "../../../receivers/scheme.ts";
import { SECRET_VARIABLE, type SecretFlags, secretsIfGiven } from "../../../receivers/secrets.ts";
import type { Context } from "../../../context.ts";
import { EXIT_CODES, SilentExit, UsageError, UserError } from "../../../errors.ts";
import { formatSpan } from "../../../terminal/time.ts";
import { type Observer, openSink, probeAt, type Sink } from "../../../../receiver-check/observer.ts";
import { SCHEMES } from "../../../../webhooks/schemes.ts";
import { RULES } from "../../../../receiver-check/check.ts";
import { CHECK_COUNT, type CheckResult, type ReceiverReport } from "../../../../receiver-check/run.ts";

export interface CheckFlags extends SecretFlags, SchemeFlag {
  payload?: string;
  header: string[];
  probe?: string;
  effects?: true;
  sink: { host: string; port: number };
  event: string;
  junit?: string;
  /** Seconds. */
  wait?: number;
  skipVerify?: true;
}

const WAIT_FOR_SECRET_SECONDS = 300;
/** Waiting longer for a port on which nothing listens would hide the mistake. */
const REACH_SECONDS = 10;

/** Import this module lazily: it loads the engine of the check. */
export async function runCheck(address: string, flags: CheckFlags, context: Context): Promise<void> {
  const { output } = context;
  if (flags.probe !== undefined && flags.effects) throw new UsageError("--probe cannot be combined with --effects");
  const url = parseAddress(address, "url");
  const probe = flags.probe === undefined ? undefined : parseAddress(flags.probe, "--probe");
  const scheme = await schemeNamed(flags.scheme ?? "service", context);
  if (flags.payload === undefined && scheme !== SCHEMES.service) {
    throw new UsageError(`--scheme ${flags.scheme} needs --payload: a file with the body of a delivery`);
  }
  const headers = parseHeaders(flags.header);
  const given = await secretsIfGiven(flags, context);
  const payload = flags.payload === undefined ? undefined : await context.readInput(flags.payload, "--payload");
  const sink = flags.effects ? await openEffects(flags, context) : undefined;
  try {
    const secrets = given ?? [newSecret(scheme)];
    const waitSeconds = flags.wait ?? (given === undefined ? WAIT_FOR_SECRET_SECONDS : 0);
    if (given === undefined) announceSecret(secrets[0]!, waitSeconds, context);
    const bar = output.progress(CHECK_COUNT, "checks");
    const streams = !output.terminal && !output.json && !output.quiet;
    let report: ReceiverReport;
    try {
      report = await performCheck(
        {
          url,
          scheme,
          payload,
          headers,
          secrets,
          eventType: flags.event,
          observer: sink ?? probeOf(probe, context),
          waitSeconds,
          reachSeconds: flags.wait ?? REACH_SECONDS,
          skipVerify: flags.skipVerify === true,
          rejectedFix: given === undefined ? NO_SECRET_FIX : undefined,
          onResult: (result: CheckResult) => {
            bar.advance();
            if (streams) output.line(checkLine(result));
          },
        },
        context,
      );
    } finally {
      bar.end();
    }
    if (flags.junit !== undefined) await writeJunit(flags.junit, report, context);
    await print(report, context);
    if (!report.passed) throw new SilentExit(EXIT_CODES.failed);
  } finally {
    sink?.close();
  }
}

async function print(report: ReceiverReport, { output }: Context): Promise<void> {
  if (output.json) return await output.document(report);
  if (output.quiet) {
    for (const { id, status } of report.checks) if (status === "failed") output.line(id);
    return;
  }
  if (output.terminal) for (const line of linesOf(report, output)) output.line(line);
  else output.line(gradeLine(report));
}

function linesOf(report: ReceiverReport, { styles, width }: Context["output"]): string[] {
  return reportLines(report, { label: "Receiver", name: report.url, groups: Object.keys(RULES) }, styles, width);
}

function probeOf(url: URL | undefined, context: Context): Observer | undefined {
  return url === undefined ? undefined : probeAt(url, { clock: clockOf(context), signal: context.signal });
}

async function openEffects({ sink: address }: CheckFlags, { output }: Context): Promise<Sink> {
  try {
    const sink = await openSink(address);
    output.note(`Configure the receiver to call ${sink.url} once for each processed event.`);
    return sink;
  } catch (error) {
    throw new UserError(`--effects: cannot listen on ${address.host}:${address.port}`, {
      hint: "Choose another address with --sink.",
      cause: error,
    });
  }
}

const NO_SECRET_FIX = `Pass the secret that the receiver has (--secret-file or ${SECRET_VARIABLE}), or start it with the one that this check printed.`;

function announceSecret(secret: string, waitSeconds: number, { output }: Context): void {
  const lines = [
    "No secret was given. To check the receiver with the secret that it has, press",
    `Ctrl-C and pass --secret-file, or set ${SECRET_VARIABLE}.`,
    "",
    "Or start the receiver with this secret, which is for this check only. Do not",
    "change the secret of a real endpoint.",
    "",
    `  ${output.noteStyles.accent(secret)}`,
    "",
    `The check starts with the first delivery that the receiver accepts, within ${formatSpan(waitSeconds)}.`,
  ];
  output.instruct(lines, { event: "secret", secret });
}

async function writeJunit(file: string, report: ReceiverReport, { cwd }: Context): Promise<void> {
  try {
    await writeFile(resolve(cwd, file), junitOf(report, `webhooks check ${report.url}`));
  } catch (error) {
    throw new UserError(`--junit: cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
}
