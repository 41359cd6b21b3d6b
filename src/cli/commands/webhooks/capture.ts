import { Capture } from "../../../relay/capture.ts";
import { headerPairs } from "../../../relay/forward-headers.ts";
import type { ReceivedReport } from "../../../relay/report.ts";
import { SignatureError } from "../../../webhooks/index.ts";
import { type Scheme, verify } from "../../../webhooks/schemes.ts";
import type { Context } from "../../context.ts";
import { EnvironmentClock } from "../../environment-time.ts";
import { isCtrlC, UsageError, type UserError } from "../../errors.ts";
import { compactJson } from "../../terminal/json.ts";
import { openDisplay } from "../listen/display.ts";
import { openFileWarning, Recorder } from "../listen/files.ts";
import { readForwardingOptions } from "../listen/forwarding-options.ts";
import { labelled, layoutFor } from "../listen/lines.ts";
import { type SchemeFlag, schemeNamed } from "./scheme.ts";
import { type SecretFlags, secretsIfNamed } from "./secrets.ts";
import { signatureHeaders } from "./signed-headers.ts";

export interface CaptureFlags extends SecretFlags, SchemeFlag {
  port: number;
  forwardTo?: string;
  record?: string;
  /** Milliseconds. */
  timeout: number;
  skipVerify: boolean;
}

const FORWARDING = { route: [], header: [], concurrency: 16, ordered: false, retries: 0 };

/** Captures deliveries until Ctrl-C. Import this module lazily: it loads the relay. */
export async function runCapture(flags: CaptureFlags, context: Context): Promise<void> {
  const { output, signal } = context;
  output.rejectFilters();
  const scheme = await schemeNamed(flags.scheme ?? "service", context);
  const secrets = await secretsIfNamed(flags, context);
  if (secrets !== undefined) assertSecrets(secrets, scheme);
  const { receivers, options } = readForwardingOptions({ ...FORWARDING, ...flags }, context);
  const clock = new EnvironmentClock(context);
  const baseUrl = new URL("http://127.0.0.1");
  const display = await openDisplay(context, receivers, { runsCommand: false, ui: false, baseUrl, clock });
  let failure: Error | undefined;
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const recorder = openRecording(flags.record, context, (error) => {
    failure = error;
    capture.abort();
    end();
  });
  const capture = new Capture({
    ...options,
    port: flags.port,
    scheme: flags.scheme === undefined ? undefined : scheme,
    now: () => context.now(),
    ...(secrets === undefined ? {} : { verify: verifierOf(secrets, scheme, context) }),
    received: (delivery) => recorder?.add(delivery),
    report: (report) => display.print(report),
  });
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    const port = await start(capture, flags.port);
    recorder?.begin();
    announce(`http://127.0.0.1:${port}/`, flags, secrets && scheme, receivers.target, context);
    await ended;
    await capture.stop();
  } finally {
    recorder?.close();
    await display.settle();
  }
  if (failure !== undefined) throw failure;
  if (!isCtrlC(signal.reason)) throw signal.reason;
}

/** A secret that cannot verify anything is reported at once. */
function assertSecrets(secrets: readonly string[], scheme: Scheme): void {
  for (const secret of secrets) {
    signatureHeaders({ scheme, secrets: [secret], payload: new Uint8Array(), id: "1", now: 0 });
  }
}

function verifierOf(secrets: readonly string[], scheme: Scheme, context: Context) {
  return (payload: Uint8Array, flat: readonly string[]): ReceivedReport["verified"] => {
    try {
      verify({
        scheme,
        payload,
        headers: new Headers(headerPairs(flat)),
        secrets,
        now: Math.floor(context.now() / 1000),
      });
      return true;
    } catch (error) {
      if (error instanceof SignatureError) return { code: error.code, message: error.message };
      throw error;
    }
  };
}

function openRecording(
  file: string | undefined,
  { output, platform }: Context,
  onFailure: (error: UserError) => void,
): Recorder | undefined {
  if (file === undefined) return undefined;
  const recorder = new Recorder(file, onFailure);
  const warning = openFileWarning(file, "complete deliveries", platform);
  if (warning !== undefined) output.warn(warning);
  return recorder;
}

async function start(capture: Capture, port: number): Promise<number> {
  try {
    return await capture.start();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "EADDRINUSE" ? "another program listens there" : message;
    throw new UsageError(`Cannot listen on 127.0.0.1:${port}: ${reason}`, {
      hint: "Choose another port with --port.",
      cause: error,
    });
  }
}

function announce(
  url: string,
  { record }: CaptureFlags,
  scheme: Scheme | undefined,
  target: URL | undefined,
  context: Context,
): void {
  const { output } = context;
  if (output.json) {
    const verifies = scheme?.name ?? null;
    const time = new Date(context.now()).toISOString();
    return output.line(compactJson({ event: "ready", url, forward_to: target?.href ?? null, verifies, time }));
  }
  if (output.quiet) return;
  const facts: [label: string, text: string][] = [
    ["forward", target?.href ?? "none: deliveries are printed (to forward them, pass --forward-to)"],
    ["verify", scheme === undefined ? "no: pass --scheme and --secret-file" : `signatures of ${scheme.name}`],
    ...(record === undefined ? [] : [["record", record] as [string, string]]),
  ];
  const { styles } = output;
  const layout = layoutFor(output.terminal ? output.width : undefined, undefined);
  output.line(`${styles.good("✓")} ${styles.strong("Ready.")} Capturing at ${styles.strong(url)}`);
  for (const [label, text] of facts) for (const line of labelled(label, text, layout)) output.line(line);
  output.line(styles.dim("  Press Ctrl-C to stop"));
  output.line("");
}
