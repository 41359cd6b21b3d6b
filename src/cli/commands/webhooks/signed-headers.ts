import { DELIVERY_USER_AGENT } from "../../../contract/headers.ts";
import { ForwardHeaderError, parseForwardHeaders } from "../../../relay/forward-headers.ts";
import { exampleHeaders, mediaTypeOf } from "../../../receiver-check/samples.ts";
import { SignatureError } from "../../../webhooks/index.ts";
import { type Scheme, sign } from "../../../webhooks/schemes.ts";
import { asUsage } from "../../errors.ts";
import { signingError } from "../../receivers/secrets.ts";

/** The names, in lower case, of the headers that a signature consists of. */
export function signedHeaderNames({ signature, timestamp, id }: Scheme): ReadonlySet<string> {
  const names = [signature.header, timestamp?.header, id?.header];
  return new Set(names.flatMap((name) => (name === undefined ? [] : [name.toLowerCase()])));
}

/** Parses `--header`. Throws UsageError, also for a header that the signature sets. */
export function readHeaders(lines: readonly string[], scheme: Scheme): string[] {
  return asUsage(() => parseForwardHeaders(lines, signedHeaderNames(scheme)), ForwardHeaderError, "--header");
}

/** Returns a flat list of headers in which those of later lists replace earlier ones of the same name. */
export function mergeHeaders(...lists: readonly (readonly string[])[]): string[] {
  return lists.reduce<string[]>((merged, list) => {
    const replaced = new Set(list.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()));
    return [...merged.filter((_, i) => !replaced.has(merged[i - (i % 2)]!.toLowerCase())), ...list];
  }, []);
}

export interface NewDelivery {
  scheme: Scheme;
  secrets: readonly string[];
  payload: Uint8Array;
  /** Needed if the scheme has a header for it. */
  id: string | undefined;
  /** Unix milliseconds. */
  now: number;
}

/** Returns the headers that sign a delivery, a flat list of names and values. Throws UsageError. */
export function signatureHeaders({ scheme, secrets, payload, id, now }: NewDelivery): string[] {
  try {
    return Object.entries(sign({ scheme, payload, secrets, id, timestamp: Math.floor(now / 1000) })).flat();
  } catch (error) {
    if (error instanceof SignatureError) throw signingError(error);
    throw error;
  }
}

/** Returns all headers of a delivery that this command makes. `own` are those of `--header`. */
export function deliveryHeaders(delivery: NewDelivery, own: readonly string[]): string[] {
  const { payload, scheme, id = "" } = delivery;
  const defaults = ["Content-Type", mediaTypeOf(payload), "User-Agent", DELIVERY_USER_AGENT];
  const examples = Object.entries(exampleHeaders(scheme, id)).flat();
  return mergeHeaders(defaults, examples, own, signatureHeaders(delivery));
}
