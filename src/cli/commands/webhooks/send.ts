import { isSuccess } from "../../../contract/is-success.ts";
import { randomBytes } from "node:crypto";
import { createIdGenerator } from "../../../contract/ids.ts";
import { newId } from "../../../receiver-check/samples.ts";
import { systemClock } from "../../../network/clock.ts";
import { headerPairs } from "../../../relay/forward-headers.ts";
import { hintForStatus } from "../../../relay/forward-failure.ts";
import { Forwarder, type ForwardResult, type Outgoing } from "../../../relay/forwarder.ts";
import type { Pair } from "../../arguments/repeated.ts";
import type { Context } from "../../context.ts";
import { EXIT_CODES, SilentExit } from "../../errors.ts";
import { printable } from "../../terminal/printable.ts";
import { formatDuration } from "../../terminal/time.ts";
import { wrapWords } from "../../terminal/wrap.ts";
import { colorStatus } from "../../terminal/traffic.ts";
import { hostKind } from "../../forwarding/options.ts";
import { parseAddress } from "../../receivers/check.ts";
import { type SchemeFlag, schemeNamed } from "../../receivers/scheme.ts";
import { type SecretFlags, secretsOf } from "../../receivers/secrets.ts";
import { payloadsOf } from "./send-payload.ts";
import { deliveryHeaders, readHeaders } from "./signed-headers.ts";

export interface SendFlags extends SecretFlags, SchemeFlag {
  payload: string;
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
export async function runSend(address: string, flags: SendFlags, context: Context): Promise<void> {
  const { signal } = context;
  const url = parseAddress(address, "url");
  const scheme = await schemeNamed(flags.scheme ?? "service", context);
  const given = readHeaders(flags.header, scheme);
  const secrets = await secretsOf(flags, context);
  const bytes = await context.readInput(flags.payload, "--payload");
  const ids = createIdGenerator(randomBytes);
  const payloads = payloadsOf(bytes, { scheme, changes: flags.set, isRepeated: flags.count > 1, ids });
  const next = (): Delivery => {
    const now = context.now();
    const { bytes: payload, id: own } = payloads(now);
    const id = scheme.id?.header === undefined ? own : newId(scheme, ids, now);
    return { id, body: payload, headers: deliveryHeaders({ scheme, secrets, payload, id, now }, given) };
  };
  const forwarder = new Forwarder({
    url,
    clock: systemClock,
    timeoutMs: flags.timeout,
    skipVerify: flags.skipVerify,
    host: hostKind(context.platform),
  });
  let failed = 0;
  try {
    for (let sent = 0; sent < flags.count; sent += 1) {
      const delivery = next();
      const result = await post(forwarder, delivery, signal);
      if (!isSuccess(result.status)) failed += 1;
      await print(delivery, { ...result, url, hint: hintFor(result, flags) }, context);
    }
  } finally {
    forwarder.close();
  }
  if (failed > 0) throw new SilentExit(EXIT_CODES.failed);
}

/** Rejects with the reason if the user interrupts. */
function post(forwarder: Forwarder, delivery: Delivery, signal: AbortSignal): Promise<ForwardResult> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    forwarder.forward(delivery, (result) => {
      signal.removeEventListener("abort", onAbort);
      resolve(result);
    });
  });
}

function hintFor({ status, failure, location }: ForwardResult, { scheme }: SendFlags): string | undefined {
  if (status === undefined) return failure?.hint;
  const rejected = () =>
    "If the receiver expects the signature of another provider, pass --scheme. Else check the secret.";
  return hintForStatus(status, location, scheme === undefined ? rejected : undefined);
}

const MAX_LINES = 10;

interface Result extends ForwardResult {
  url: URL;
  hint: string | undefined;
}

async function print({ id, headers }: Delivery, result: Result, { output }: Context): Promise<void> {
  const { url, status, failure, durationMs, excerpt, responseHeaders, hint } = result;
  if (output.json) {
    return await output.record({
      id: id ?? null,
      url: url.href,
      status: status ?? null,
      duration_ms: Math.round(durationMs * 100) / 100,
      headers: headerPairs(headers),
      response_headers: Object.fromEntries(responseHeaders ?? []),
      body: excerpt,
      error: failure === undefined ? null : { code: failure.code, message: failure.message },
      hint,
    });
  }
  if (output.quiet) return id === undefined ? undefined : output.line(printable(id));
  const { styles } = output;
  const shown = status === undefined ? styles.bad(failure!.code) : colorStatus(status, styles);
  const name = id === undefined ? "" : `  ${styles.dim(printable(id))}`;
  output.line(`${shown} in ${formatDuration(durationMs)}${name}`);
  const sentence = (text: string): string[] =>
    output.terminal ? wrapWords(printable(text), output.width - 2) : [printable(text)];
  if (failure !== undefined) for (const line of sentence(failure.message)) output.line(`  ${line}`);
  const lines = excerpt.trimEnd().split("\n");
  if (excerpt.trim() !== "") for (const line of lines.slice(0, MAX_LINES)) output.line(`  ${printable(line)}`);
  if (lines.length > MAX_LINES) output.line(`  … ${lines.length - MAX_LINES} more lines; for all of it, pass --json`);
  for (const line of hint === undefined ? [] : sentence(`hint ${hint}`)) {
    output.line(`  ${line.replace(/^hint/, styles.accent("hint"))}`);
  }
}
