import { hintForOriginal } from "../../../relay/forward-failure.ts";
import { endToEndHeaders } from "../../../relay/forward-headers.ts";
import { type RecordedEvent, RecordingError } from "../../../relay/recording.ts";
import { type Scheme, type SchemeName, SCHEMES } from "../../../webhooks/schemes.ts";
import type { Context } from "../../context.ts";
import { printable } from "../../terminal/printable.ts";
import { type ForwardingFlags, readForwardingOptions } from "../../forwarding/options.ts";
import { replayFile } from "../../forwarding/replay-file.ts";
import { type SchemeFlag, schemeNamed, schemeNameIn } from "../../receivers/scheme.ts";
import { type SecretFlags, secretsIfNamed } from "../../receivers/secrets.ts";
import { deliveryHeaders, mergeHeaders, readHeaders, signatureHeaders } from "./signed-headers.ts";

interface ReplayFlags
  extends SecretFlags, SchemeFlag, Pick<ForwardingFlags, "concurrency" | "retries" | "timeout" | "skipVerify"> {
  forwardTo: string;
  header: string[];
  speed: number;
}

const KNOWN_SCHEMES: readonly Scheme[] = Object.values(SCHEMES);

/** Sends a recording again: with the signatures that it contains, or signed again if a scheme or secret is given. */
export async function runReplay(context: Context, file: string, flags: ReplayFlags): Promise<void> {
  const scheme = await schemeNamed(flags.scheme ?? "service", context);
  const own = readHeaders(flags.header, scheme);
  const secrets = await secretsIfNamed(flags, context);
  const { receivers, options } = readForwardingOptions({ ...flags, header: [] }, context);
  const headers = (event: RecordedEvent, payload: Uint8Array): string[] => {
    if (secrets === undefined) return mergeHeaders(originalHeaders(event), own);
    const delivery = { scheme, secrets, payload, id: event.id, now: context.now() };
    if (event.headers === undefined) return deliveryHeaders(delivery, own);
    return mergeHeaders(endToEndHeaders(event.headers), own, signatureHeaders(delivery));
  };
  const rejectedHint =
    secrets === undefined
      ? (event: RecordedEvent) =>
          hintForOriginal({
            headers: event.headers ?? [],
            schemes: KNOWN_SCHEMES,
            keepsSignature: true,
            now: context.now(),
            invalid: event.invalid && printable(event.invalid),
          })
      : undefined;
  const others = new Set<SchemeName>();
  const check = (event: RecordedEvent): void => {
    headers(event, new Uint8Array());
    if (secrets === undefined) return;
    const provider = schemeNameIn(event.headers);
    const isOther = provider !== undefined && SCHEMES[provider] !== scheme && KNOWN_SCHEMES.includes(scheme);
    if (isOther && !others.has(provider)) {
      others.add(provider);
      const { name } = SCHEMES[provider];
      context.output.warn(
        `The recording contains deliveries of ${name}, which are signed as ${scheme.name}. To sign them as ${name}, pass --scheme ${provider}.`,
      );
    }
    if (event.invalid === undefined) return;
    context.output.warn(
      `The signature of ${printable(event.id)} was not valid when it was captured (${printable(event.invalid)}). It is sent with a valid one.`,
    );
  };
  await replayFile(
    file,
    { ...options, speed: flags.speed, signing: { headers, rejectedHint }, check },
    receivers,
    context,
  );
}

/** Throws RecordingError for an event without headers. */
function originalHeaders({ id, headers }: RecordedEvent): string[] {
  if (headers !== undefined) return endToEndHeaders(headers);
  throw new RecordingError(`${id} was recorded without headers: to sign it newly, pass --secret or --secret-file`);
}
