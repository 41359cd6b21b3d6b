import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  clockOf,
  eventTypeOf,
  newSecret,
  parseAddress,
  performCheck,
  type SamplePayload,
  samplePayload,
  withValues,
} from "../../../receivers/check.ts";
import { checkLine, printReport, testCasesOf } from "../../../terminal/check-report.ts";
import { writeJunit } from "../../../terminal/junit.ts";
import { parseHeaders } from "../../../arguments/headers.ts";
import type { Pair } from "../../../arguments/repeated.ts";
import { type SchemeFlag, schemeNamed } from "../../../receivers/scheme.ts";
import { NO_SECRET, SECRET_VARIABLE, type SecretFlags, secretsIfKnown } from "../../../receivers/secrets.ts";
import type { Context } from "../../../context.ts";
import { BrokenPipeError, EXIT_CODES, SilentExit, UsageError, UserError } from "../../../errors.ts";
import { formatSpan } from "../../../terminal/time.ts";
import { type Observer, ObserverError, openSink, probeAt, type Sink } from "../../../../receiver-check/observer.ts";
import { LARGEST_PAYLOAD } from "../../../../receiver-check/samples.ts";
import { RULES } from "../../../../receiver-check/check.ts";
import { CHECK_COUNT, type ReceiverReport } from "../../../../receiver-check/run.ts";

export interface CheckFlags extends SecretFlags, SchemeFlag {
  payload?: string;
  header: string[];
  probe?: string;
  effects?: true;
  sink: { host: string; port: number };
  type?: string;
  set: Pair[];
  junit?: string;
  /** Seconds. */
  wait?: number;
  /** Milliseconds. */
  timeout?: number;
  skipVerify?: true;
}

const WAIT_FOR_SECRET_SECONDS = 300;
/** Waiting longer for a port on which nothing listens would hide the mistake. */
const REACH_SECONDS = 10;

/** Import this module lazily: it loads the engine of the check. */
export async function runCheck(context: Context, address: string, flags: CheckFlags): Promise<void> {
  const { output } = context;
  if (flags.probe !== undefined && flags.effects) throw new UsageError("--probe cannot be combined with --effects");
  const url = parseAddress(address, "url");
  const probe = flags.probe === undefined ? undefined : parseAddress(flags.probe, "--probe");
  const scheme = await schemeNamed(flags.scheme ?? "service", context);
  const own = parseHeaders(flags.header);
  const given = await secretsIfKnown(flags, context);
  if (given === undefined && flags.wait === undefined && !context.interactive) {
    throw new UsageError(NO_SECRET, {
      hint: "To have the check print a new secret and wait for your receiver, pass --wait 5m.",
    });
  }
  const eventType = eventTypeOf(flags, scheme);
  if (flags.junit !== undefined && !existsSync(dirname(resolve(context.cwd, flags.junit)))) {
    throw new UsageError(`--junit: the folder of ${flags.junit} does not exist`, { code: "input_file" });
  }
  const sample =
    flags.payload === undefined ? samplePayload(flags.scheme ?? "service", scheme, context, flags.type) : undefined;
  const payload = sample === undefined ? await payloadOf(flags, context) : withValues(sample.bytes, flags.set);
  const headers = [...typeHeaders(sample, own), ...own];
  if (sample !== undefined) context.output.notice(sample.notice);
  const probing = probe && probeAt(probe, { clock: clockOf(context), signal: context.signal });
  const sink = flags.effects ? await openEffects(flags, context) : undefined;
  try {
    const secrets = given ?? [newSecret(scheme)];
    const waitSeconds = flags.wait ?? (given === undefined ? WAIT_FOR_SECRET_SECONDS : 0);
    if (probing !== undefined) await assertCounts(probing, waitSeconds > 0);
    if (given === undefined) announceSecret(secrets[0]!, waitSeconds, context);
    const bar = output.progress(CHECK_COUNT, "checks");
    const streams = !output.terminal && !output.json && !output.quiet && !output.chosen;
    let report: ReceiverReport;
    try {
      report = await performCheck(
        {
          url,
          scheme,
          payload,
          headers,
          secrets,
          eventType,
          observer: sink ?? probing,
          timeoutMs: flags.timeout,
          waitSeconds,
          reachSeconds: flags.wait ?? REACH_SECONDS,
          skipVerify: flags.skipVerify === true,
          onWaiting: (seen) => bar.interrupt(() => output.notice(`Waiting: the delivery was not accepted: ${seen}`)),
          rejectedFix: given === undefined ? NO_SECRET_FIX : undefined,
          onResult: (result) => {
            bar.advance();
            if (streams && result.status !== "skipped") output.line(checkLine(result));
          },
        },
        context,
      );
    } catch (error) {
      // The output ended before the receiver could pass.
      if (context.signal.reason instanceof BrokenPipeError) throw new SilentExit(EXIT_CODES.failed);
      throw error;
    } finally {
      bar.end();
    }
    const name = report.url;
    if (flags.junit !== undefined) {
      const suite = { name: `webhooks check ${name}`, milliseconds: report.duration_ms, cases: testCasesOf(report) };
      await writeJunit(flags.junit, suite, context);
    }
    await printReport(report, { label: "Receiver", name, groups: Object.keys(RULES) }, output, { isStreamed: true });
    if (!report.passed) throw new SilentExit(EXIT_CODES.failed);
  } finally {
    sink?.close();
  }
}

/** Returns the header that names the type of a sample, unless `-H` sets it. */
function typeHeaders(sample: SamplePayload | undefined, own: readonly (readonly [string, string])[]) {
  const [name, value] = sample?.headers ?? [];
  const isGiven = own.some(([one]) => one.toLowerCase() === name?.toLowerCase());
  return name === undefined || value === undefined || isGiven ? [] : [[name, value] as const];
}

/** Returns undefined for events of the platform. */
async function payloadOf({ payload, set }: CheckFlags, context: Context): Promise<Buffer | undefined> {
  if (payload === undefined) {
    if (set.length > 0) throw new UsageError("--set needs --payload, or --scheme with the name of a provider");
    return undefined;
  }
  const bytes = withValues(await context.readInput(payload, "--payload"), set);
  if (bytes.length <= LARGEST_PAYLOAD) return bytes;
  throw new UsageError("--payload: larger than 25 MiB, the largest delivery of any provider");
}

/** Throws UserError unless the probe counts, or may still start. */
async function assertCounts(probe: Observer, isWaiting: boolean): Promise<void> {
  try {
    await probe.count([]);
  } catch (error) {
    if (!(error instanceof ObserverError)) throw error;
    if (error.isReached || !isWaiting) throw new UserError(`--probe: ${error.message}`, { cause: error });
  }
}

async function openEffects({ sink: address }: CheckFlags, { output }: Context): Promise<Sink> {
  try {
    const sink = await openSink(address);
    output.note(`Configure the receiver to call ${sink.url} once for each processed event.`);
    return sink;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "EADDRINUSE" ? "the port is in use" : message;
    throw new UserError(`--effects: cannot listen on ${address.host}:${address.port}: ${reason}`, {
      hint: "Choose another address with --sink.",
      cause: error,
    });
  }
}

const NO_SECRET_FIX = `Pass the secret that the receiver has (--secret-file or ${SECRET_VARIABLE}), or start it with the one that this check printed.`;

function announceSecret(secret: string, waitSeconds: number, { output }: Context): void {
  const lines = [
    "No secret given. If your receiver already has one, stop with Ctrl-C and pass it",
    `with --secret-file or ${SECRET_VARIABLE}.`,
    "",
    "Or start the receiver with this secret, which is for this check only. Do not",
    "change the secret of a real endpoint.",
    "",
    `  ${output.noteStyles.accent(secret)}`,
    "",
    `Waiting up to ${formatSpan(waitSeconds)} for your receiver to accept a delivery.`,
  ];
  output.instruct(lines, { event: "secret", secret });
}
