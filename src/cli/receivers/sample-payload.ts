import { PROVIDER_PAYLOADS } from "../../receiver-check/provider-payloads.ts";
import { type Scheme, SCHEMES } from "../../webhooks/schemes.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../errors.ts";

export interface SamplePayload {
  bytes: Buffer;
  /** The notice to print once the sample is certain to be sent. */
  notice: string;
}

/**
 * Returns a payload of the provider with this name; undefined for the platform, whose events have other
 * samples. Throws UsageError for a scheme of `service.yaml`.
 */
export function samplePayload(name: string, scheme: Scheme, context: Context): SamplePayload | undefined {
  if (scheme === SCHEMES.service) return undefined;
  const known = Object.entries(PROVIDER_PAYLOADS).find(([provider]) => provider === name);
  if (known === undefined) throw new UsageError(`--scheme ${name} needs --payload: a file with the body of a delivery`);
  const { type, body } = known[1](context.now());
  const notice = `Sending a sample of ${scheme.name}: ${type}. To send your own payload, pass --payload.`;
  return { bytes: Buffer.from(body), notice };
}
