import { Capture } from "../../../relay/capture.ts";
import { headerPairs } from "../../../relay/forward-headers.ts";
import type { ReceivedReport } from "../../../relay/report.ts";
import { SignatureError } from "../../../webhooks/index.ts";
import { type Scheme, SCHEMES, verify } from "../../../webhooks/schemes.ts";
import type { Context } from "../../context.ts";
import { portOwner } from "../../process/port-owner.ts";
import { EnvironmentClock } from "../../environment-time.ts";
import { endStream, UsageError, UserError } from "../../errors.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import { compactJson } from "../../terminal/json.ts";
import { openDisplay, sinksOf } from "../../forwarding/display.ts";
import { Recorder } from "../../forwarding/files.ts";
import { type Receivers, readForwardingOptions } from "../../forwarding/options.ts";
import { isLoopback, portOf } from "../../../network/connect-options.ts";
import { labelled, layoutFor } from "../../forwarding/lines.ts";
import { sayWaiting } from "../../forwarding/interruption.ts";
import type { Feed } from "../../forwarding/ui/feed.ts";
import { type SchemeFlag, schemeNamed, schemeNameIn } from "../../receivers/scheme.ts";
import { type SecretFlags, secretsIfNamed } from "../../receivers/secrets.ts";
import { mergeHeaders, signatureHeaders } from "./signed-headers.ts";

interface CaptureFlags extends SecretFlags, SchemeFlag {
  port: number;
  forwardTo?: string;
  record?: string;
  /** Milliseconds. */
  timeout: number;
  skipVerify: boolean;
  /** False for plain lines on a terminal. */
  ui: boolean;
}

/** How deliveries are verified, and signed again. */
interface Signing {
  scheme: Scheme;
  secrets: readonly string[];
}

/** Captures deliveries until Ctrl-C. Import this module lazily: it loads the relay. */
export async function runCapture(context: Context, flags: CaptureFlags): Promise<void> {
  const { output, signal } = context;
  const scheme = await schemeNamed(flags.scheme ?? "service", context);
  const secrets = await secretsIfNamed(flags, context);
  const signing = secrets && { scheme, secrets };
  if (signing !== undefined) assertSecrets(signing);
  const { receivers, options } = readForwardingOptions(flags, context);
  const { target } = receivers;
  if (target !== undefined && isLoopback(target.hostname) && portOf(target) === flags.port) {
    throw new UsageError(`--forward-to: ${target.host} is the address at which this command captures`, {
      hint: "Pass the address of your application, or capture at another --port.",
    });
  }
  const clock = new EnvironmentClock(context);
  const display = await openDisplay(context, receivers, { runsCommand: false, ui: flags.ui, clock });
  let failure: Error | undefined;
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const onFailure = (error: UserError): void => {
    failure = error;
    capture.abort();
    end();
  };
  const warn = (text: string): void => output.warn(text);
  const recording = { platform: context.platform, warn, onFailure };
  const recorder =
    flags.record === undefined ? undefined : new Recorder(flags.record, "complete deliveries", recording);
  const capture = new Capture({
    ...options,
    port: flags.port,
    scheme: flags.scheme === undefined ? undefined : scheme,
    now: () => context.now(),
    ...(signing === undefined ? {} : { verify: verifierOf(signing, context) }),
    received: (delivery) => recorder?.add(delivery),
    report: (report) => display.print(report),
  });
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    const port = await start(capture, flags.port);
    const facts = factsOf(receivers, signing, flags);
    if (display.begin === undefined) announce(port, { facts, signing, receivers }, context);
    else display.begin(feedOf(capture, port, { facts, signing, receivers, flags }, context));
    await ended;
    // A second Ctrl-C ends the process at once, and must not leave the terminal raw.
    display.stop?.();
    const stopped = capture.stop();
    sayWaiting(capture, options.timeoutMs, context);
    await stopped;
  } finally {
    recorder?.close();
    display.stop?.();
    await display.settle?.();
  }
  if (failure !== undefined) throw failure;
  endStream(signal.reason);
}

/** A secret that cannot verify anything is reported at once. */
function assertSecrets({ scheme, secrets }: Signing): void {
  for (const secret of secrets) {
    signatureHeaders({ scheme, secrets: [secret], payload: new Uint8Array(), id: "1", now: 0 });
  }
}

function verifierOf({ scheme, secrets }: Signing, context: Context) {
  return (payload: Uint8Array, flat: readonly string[]): ReceivedReport["verified"] => {
    try {
      const now = Math.floor(context.now() / 1000);
      verify({ scheme, payload, headers: new Headers(headerPairs(flat)), secrets, now });
      return true;
    } catch (error) {
      if (!(error instanceof SignatureError)) throw error;
      const provider = error.code.endsWith("_missing") ? schemeNameIn(flat) : undefined;
      if (provider === undefined || SCHEMES[provider] === scheme) return { code: error.code, message: error.message };
      const { name: signer } = SCHEMES[provider];
      const message = `this is a signature of ${signer}, not of ${scheme.name}: pass --scheme ${provider}`;
      return { code: error.code, message, signer };
    }
  };
}

async function start(capture: Capture, port: number): Promise<number> {
  try {
    return await capture.start();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "EADDRINUSE" ? `the port is in use by ${portOwner(port) ?? "another program"}` : message;
    throw new UserError(`Cannot listen on 127.0.0.1:${port}: ${reason}`, {
      hint: "Choose another port with --port.",
      cause: error,
    });
  }
}

/** Rules that genuine deliveries can break, too. */
const AUTHENTIC: ReadonlySet<string> = new Set(["timestamp_too_old", "timestamp_in_future"]);

interface About {
  facts: Feed["facts"];
  signing: Signing | undefined;
  receivers: Receivers;
}

function factsOf({ target }: Receivers, signing: Signing | undefined, { record, scheme }: CaptureFlags): Feed["facts"] {
  const others = scheme === undefined ? " (for those of a provider, pass --scheme)" : "";
  return [
    ["forward", target?.href ?? "none: deliveries are printed (to forward them, pass --forward-to)"],
    [
      "verify",
      signing === undefined ? "no: pass --scheme and --secret-file" : `signatures of ${signing.scheme.name}${others}`,
    ],
    ...(record === undefined ? [] : [["record", record] as const]),
  ];
}

const urlAt = (port: number): string => `http://127.0.0.1:${port}/`;

function announce(port: number, { facts, signing, receivers: { target } }: About, context: Context): void {
  const { output } = context;
  const url = urlAt(port);
  if (output.json) {
    const verifies = signing?.scheme.name ?? null;
    const time = new Date(context.now()).toISOString();
    return output.line(compactJson({ event: "ready", url, forward_to: target?.href ?? null, verifies, time }));
  }
  if (output.quiet) return;
  const { sink } = sinksOf(context);
  const { styles } = sink;
  const layout = layoutFor(sink.width(), undefined);
  sink.write(`${styles.good("✓")} ${styles.strong("Ready.")} Capturing at ${styles.strong(url)}`);
  for (const [label, text] of facts) for (const line of labelled(label, text, layout)) sink.write(line);
  sink.write(styles.dim("  Press Ctrl-C to stop"));
  sink.write("");
}

function feedOf(
  capture: Capture,
  port: number,
  { facts, signing, receivers, flags }: About & { flags: CaptureFlags },
  context: Context,
): Feed {
  const { output } = context;
  const { scheme = "service", secretFile } = flags;
  // A secret in a flag, a variable or a pipe is not shown again.
  const secret = ["--secret-file", secretFile === undefined || secretFile === "-" ? "FILE" : secretFile];
  // There is no sample of a scheme of service.yaml.
  const payload = Object.hasOwn(SCHEMES, scheme) ? [] : ["--payload", "event.json"];
  const send = shellCommand`service webhooks send ${String(port)} --scheme ${scheme} ${[...payload, ...secret]}`.trim();
  /** A forged delivery must not get a valid signature. */
  const keepsSignature: Feed["keepsSignature"] = ({ verified = true }) =>
    verified !== true && !AUTHENTIC.has(verified.code);
  /** Signs again if there is a secret. The ID stays, so that the receiver recognizes the delivery. */
  const sign: Feed["sign"] = (event, headers) => {
    if (signing === undefined || keepsSignature(event)) return headers;
    const { id, body, bytes } = event;
    const payload = bytes ?? Buffer.from(body);
    return mergeHeaders(headers, signatureHeaders({ ...signing, payload, id, now: context.now() }));
  };
  return {
    state: "Capturing",
    origin: `at ${urlAt(port)}`,
    shortOrigin: `:${port}`,
    receivers,
    facts: [["address", urlAt(port)], ...facts],
    example: { command: signing === undefined ? `curl --data-binary @event.json ${urlAt(port)}` : send, unmet: [] },
    runnable: (text) => output.runnable(text),
    filteredOut: () => 0,
    archive: "To keep all of them, pass --record.",
    platform: undefined,
    signs: signing !== undefined,
    pause: () => capture.pause(),
    resume: () => capture.resume(),
    keepsSignature,
    resend: (event, attempt) => capture.resend(event, sign(event, event.headers ?? []), attempt),
    assertEditable(event) {
      if (event.bytes !== undefined) throw new UserError("Cannot edit: the payload is not text in UTF-8");
      const name = schemeNameIn(event.headers);
      if (name === undefined || SCHEMES[name] === signing?.scheme) return;
      const lack = signing === undefined ? "there is no secret" : `the secret is that of ${signing.scheme.name}`;
      throw new UserError(
        `Cannot edit: ${SCHEMES[name].name} signs this delivery, but ${lack}. Start again with --scheme ${name} --secret-file FILE`,
      );
    },
    edited: ({ id, type, headers }, body) => ({ id, type, headers, ...capture.identify(headers ?? [], body), body }),
    sign,
  };
}
