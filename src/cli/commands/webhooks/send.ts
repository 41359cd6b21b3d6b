import { randomBytes } from "node:crypto";
import type { EventType } from "../../../contract/event-types.ts";
import { createIdGenerator, type IdGenerator } from "../../../contract/ids.ts";
import { problemDetail } from "../../../contract/errors.ts";
import { isSuccess } from "../../../contract/is-success.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import { systemClock } from "../../../network/clock.ts";
import { saidMistake } from "../../../receiver-check/signing-mistake.ts";
import { idIn, mediaTypeOf, newId, sampleEvent, Template, TemplateError } from "../../../receiver-check/samples.ts";
import { hintForResponse } from "../../../relay/forward-failure.ts";
import { headerPairs } from "../../../relay/forward-headers.ts";
import { Forwarder, type ForwardResult, type Outgoing } from "../../../relay/forwarder.ts";
import { type Scheme, SCHEMES } from "../../../webhooks/schemes.ts";
import type { Pair } from "../../arguments/repeated.ts";
import type { Context } from "../../context.ts";
import { EXIT_CODES, orAborted, SilentExit, UsageError } from "../../errors.ts";
import { hostKind } from "../../forwarding/options.ts";
import { eventTypeOf, parseAddress, type SamplePayload, samplePayload, withValues } from "../../receivers/check.ts";
import { type SchemeFlag, schemeNamed } from "../../receivers/scheme.ts";
import { type SecretFlags, secretsOf } from "../../receivers/secrets.ts";
import { printable, printableLines } from "../../terminal/printable.ts";
import { formatDuration } from "../../terminal/time.ts";
import { colorStatus } from "../../terminal/traffic.ts";
import { foldText } from "../../terminal/spans.ts";
import { wrapWords } from "../../terminal/wrap.ts";
import { type Sent, SENT } from "./sent.ts";
import { deliveryHeaders, mergeHeaders, readHeaders, signatureHeaders } from "./signed-headers.ts";

interface SendFlags extends SecretFlags, SchemeFlag {
  type?: string;
  payload?: string;
  set: Pair[];
  count: number;
  header: string[];
  /** Milliseconds. */
  timeout: number;
  skipVerify: boolean;
}

interface Delivery extends Outgoing {
  /** Undefined if it contains none. */
  id: string | undefined;
}

/** Import this module lazily: it loads the HTTP client. Everything is validated before anything is sent. */
export async function runSend(context: Context, address: string, flags: SendFlags): Promise<void> {
  const { signal } = context;
  const url = parseAddress(address, "url");
  const scheme = await schemeNamed(flags.scheme ?? "service", context);
  const own = readHeaders(flags.header, scheme);
  const secrets = await secretsOf(flags, context);
  const type = eventTypeOf(flags, scheme);
  const ids = createIdGenerator(randomBytes);
  const sample =
    flags.payload === undefined
      ? (samplePayload(flags.scheme ?? "service", scheme, context, flags.type) ?? eventOf(type, ids, context))
      : undefined;
  const given = mergeHeaders(sample?.headers ?? [], own);
  const bytes = sample?.bytes ?? (await context.readInput(flags.payload!, "--payload"));
  const isJson = warnUnlessJson(bytes, scheme, context);
  // Receivers ignore a sample whose ID they have already processed. A given ID is sent unchanged, as a deliberate
  // duplicate.
  const isGiven = flags.set.some(([path]) => path === scheme.id?.path);
  const isRepeated = !isGiven && (flags.count > 1 || flags.payload === undefined);
  const payloads = payloadsOf(bytes, { scheme, changes: flags.set, isRepeated, ids });
  // Whatever is invalid is reported before anything is announced or sent.
  const first = payloads(context.now());
  signatureHeaders({ scheme, secrets, payload: first.bytes, id: "none", now: context.now() });
  const notices = [
    sample?.notice ?? exampleNotice(scheme, own),
    flags.count === 1 ? undefined : sameNotice(first, flags, { scheme, isGiven }),
  ];
  for (const notice of notices) if (notice !== undefined) context.output.notice(notice);
  const next = (): Delivery => {
    const now = context.now();
    const { bytes: payload, id: own } = payloads(now);
    const id = scheme.id?.header === undefined ? own : newId(scheme, ids, now);
    return { id, body: payload, headers: deliveryHeaders({ scheme, secrets, payload, id, now }, given) };
  };
  if (context.globals.dryRun) {
    for (let i = 0; i < flags.count; i += 1) await show(next(), url, context);
    return context.output.note("Nothing was sent.");
  }
  const print = context.output.stream(SENT, (sent) => linesOf(sent, context));
  const forwarder = new Forwarder({
    url,
    clock: systemClock,
    timeoutMs: flags.timeout,
    skipVerify: flags.skipVerify,
    host: hostKind(context.platform),
  });
  let failed = 0;
  let unreached = 0;
  let sent = 0;
  try {
    for (; sent < flags.count; sent += 1) {
      signal.throwIfAborted();
      const delivery = next();
      const answered = new Promise<ForwardResult>((resolve) => forwarder.forward(delivery, resolve));
      const result = await orAborted(answered, signal);
      if (!isSuccess(result.status)) failed += 1;
      // As `webhooks check` decides: a receiver that accepts a connection and does not respond is reachable.
      if (result.failure !== undefined && result.failure.code !== "timeout") unreached += 1;
      const hint = isJson || result.status === undefined ? hintFor(result, address, flags, scheme) : NOT_JSON;
      await print(sentOf(delivery, result, url, hint && context.output.runnable(hint)));
    }
  } catch (error) {
    if (signal.aborted) context.output.notice(`Sent ${sent} of ${flags.count} deliveries`);
    throw error;
  } finally {
    forwarder.close();
  }
  if (failed > 0) throw new SilentExit(unreached === flags.count ? EXIT_CODES.unreachable : EXIT_CODES.failed);
}

const NOT_JSON = "The payload is not JSON: the receiver may have rejected it for that, not for its signature.";

/** Returns false for a payload that the provider would not send. Bodies of GitHub and Slack may be forms. */
function warnUnlessJson(bytes: Uint8Array, scheme: Scheme, { output }: Context): boolean {
  const isKnown = Object.values<Scheme>(SCHEMES).includes(scheme);
  const type = mediaTypeOf(bytes);
  const isForm = type === "application/x-www-form-urlencoded";
  if (!isKnown || type === "application/json" || (isForm && (scheme === SCHEMES.github || scheme === SCHEMES.slack)))
    return true;
  output.warn(`The payload is not JSON, but those of ${scheme.name} are: a receiver may reject it for that.`);
  return false;
}

function eventOf(type: EventType, ids: IdGenerator, context: Context): SamplePayload {
  const notice = `Sending a sample: ${type}. To send your own payload, pass --payload.`;
  return { bytes: Buffer.from(JSON.stringify(sampleEvent(type, ids, context.now()))), headers: [], notice };
}

/** Says which type the headers of the sample give a payload, unless `-H` sets it. */
function exampleNotice({ headers = {} }: Scheme, given: readonly string[]): string | undefined {
  const [name, value] = Object.entries(headers)[0] ?? [];
  if (name === undefined || given.some((text, i) => i % 2 === 0 && text.toLowerCase() === name.toLowerCase())) {
    return undefined;
  }
  return `Sending as ${name}: ${value}. For another event, pass -H '${name}: …'.`;
}

/** Says that several deliveries have the same ID, or none. */
function sameNotice(
  { id }: { id: string | undefined },
  { count }: SendFlags,
  { scheme, isGiven }: { scheme: Scheme; isGiven: boolean },
): string | undefined {
  if (scheme.id?.header !== undefined) return undefined;
  if (id === undefined)
    return `All ${count} deliveries are the same: a form of ${scheme.name} has no ID of a delivery.`;
  return isGiven ? `All ${count} deliveries have the ID ${printable(id)}, as --set says.` : undefined;
}

function hintFor(
  { status, failure, ...response }: ForwardResult,
  address: string,
  { scheme: name, payload, header, secret, secretFile, skipVerify }: SendFlags,
  scheme: Scheme,
): string | undefined {
  if (status === undefined) return failure?.hint;
  return hintForResponse({ status, ...response }, () => {
    const said = saidMistake(response.excerpt, scheme);
    if (said !== undefined) return said;
    const other =
      name === undefined ? "If the receiver expects the signature of another provider, pass --scheme. " : "";
    const flags = [
      ...(name === undefined ? [] : ["--scheme", name]),
      ...(payload === undefined ? [] : ["--payload", payload === "-" ? "event.json" : payload]),
      ...header.flatMap((line) => (CREDENTIAL_HEADER.test(line) ? [] : ["-H", line])),
      ...(secretFile === undefined || secretFile === "-" ? [] : ["--secret-file", secretFile]),
      ...(skipVerify ? ["--skip-verify"] : []),
    ];
    const withSecret = secret.length === 0 ? "" : " (with the same --secret)";
    return `${other}Check that the receiver uses the same secret and verifies the raw body. To find the mistake: ${shellCommand`service webhooks check ${address} ${flags}`.trim()}${withSecret}`;
  });
}

const CREDENTIAL_HEADER = /^[^:]*(?:auth|cookie|token|key|secret)/i;

/** Prints a delivery that is not sent, with its signature. */
async function show({ headers, body }: Delivery, url: URL, { output }: Context): Promise<void> {
  const request = {
    method: "POST",
    url: url.href,
    headers: headerPairs(headers),
    body: new TextDecoder().decode(body),
  };
  if (output.json) return await output.record({ dry_run: true, ...request });
  output.line(`${output.styles.strong(request.method)} ${printable(request.url)}`);
  for (const [name, value] of request.headers) {
    output.line(`${output.styles.dim(`${name}:`)} ${printable(value)}`);
  }
  output.line(`\n${printableLines(request.body)}`);
}

function sentOf({ id, headers }: Delivery, result: ForwardResult, url: URL, hint: string | undefined): Sent {
  const { status, failure, durationMs, excerpt, responseHeaders } = result;
  return {
    id: id ?? null,
    url: url.href,
    status: status ?? null,
    duration_ms: Math.round(durationMs * 100) / 100,
    headers: headerPairs(headers),
    response_headers: Object.fromEntries(responseHeaders ?? []),
    body: excerpt,
    error: failure === undefined ? null : { code: failure.code, message: failure.message },
    hint,
  };
}

const MAX_LINES = 10;

/** Renders a delivery for a terminal. */
function linesOf({ id, status, duration_ms: duration, body, error, hint }: Sent, { output }: Context): string {
  const { styles } = output;
  const outcome = status === null ? styles.bad(error!.code) : colorStatus(status, styles);
  const sentence = (text: string): string[] => wrapWords(printable(text), output.width - 2);
  const response = problemDetail(body) ?? body;
  const lines = response.trim() === "" ? [] : response.trimEnd().split("\n");
  const more = lines.length - MAX_LINES;
  return [
    `${outcome} in ${formatDuration(duration)}${id === null ? "" : `  ${styles.dim(printable(id))}`}`,
    ...[
      ...(error === null ? [] : sentence(error.message)),
      ...lines.slice(0, MAX_LINES).flatMap((line) => foldText(line, output.width - 2)),
      ...(more > 0 ? [`… ${more} more lines; for all of it, pass --json`] : []),
      ...(hint === undefined
        ? []
        : sentence(`hint ${hint}`).map((line) => line.replace(/^hint/, styles.accent("hint")))),
    ].map((line) => `  ${line}`),
  ].join("\n");
}

/** A delivery's body, and the ID that it contains. */
interface Payload {
  bytes: Uint8Array;
  id: string | undefined;
}

interface PayloadOptions {
  scheme: Scheme;
  /** The values of `--set`. */
  changes: readonly Pair[];
  /** More than one delivery: each gets an ID of its own. */
  isRepeated: boolean;
  ids: IdGenerator;
}

/**
 * Returns a function that makes the payload of each delivery: the bytes as given, unless values of the JSON change. Its
 * argument is Unix milliseconds. Throws UsageError if they cannot.
 */
function payloadsOf(given: Buffer, { scheme, changes, isRepeated, ids }: PayloadOptions): (at: number) => Payload {
  const bytes = withValues(given, changes);
  const { path } = scheme.id ?? {};
  if (path === undefined) return () => ({ bytes, id: undefined });
  if (!isRepeated) return () => ({ bytes, id: idIn(bytes, scheme) });
  const template = templateOf(scheme, bytes, ids);
  return (at) => {
    const { id, body } = template.sample(at);
    return { id: template.hasId ? id : undefined, bytes: Buffer.from(body as Uint8Array) };
  };
}

function templateOf(scheme: Scheme, bytes: Buffer, ids: IdGenerator): Template {
  try {
    return new Template(scheme, bytes, ids);
  } catch (error) {
    if (error instanceof TemplateError) throw new UsageError(`--count: the payload ${error.message}`, { cause: error });
    throw error;
  }
}
