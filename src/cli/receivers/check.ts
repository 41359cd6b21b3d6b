import { randomBytes } from "node:crypto";
import { SIGNING_SECRET_PREFIX } from "../../contract/credentials.ts";
import type { EventType } from "../../contract/event-types.ts";
import { createIdGenerator } from "../../contract/ids.ts";
import { isRecord, parseJson, valueAt } from "../../contract/json.ts";
import { didYouMean, nearest } from "../../contract/nearest.ts";
import { rewriteJson } from "../../contract/rewrite-json.ts";
import type { Clock } from "../../receiver-check/exchange.ts";
import { PROVIDER_PAYLOADS } from "../../receiver-check/provider-payloads.ts";
import { UnreachableError } from "../../receiver-check/checks/accepting.ts";
import { checkReceiver, type ReceiverReport, type RunOptions } from "../../receiver-check/run.ts";
import { Template, TemplateError } from "../../receiver-check/samples.ts";
import { parseTarget, TargetError } from "../../relay/targets.ts";
import { SignatureError } from "../../webhooks/index.ts";
import { type Scheme, SCHEMES, sign } from "../../webhooks/schemes.ts";
import { assign } from "../arguments/assignments.ts";
import { objectOfPairs, type Pair } from "../arguments/repeated.ts";
import { parseEventType } from "../arguments/values.ts";
import type { Context } from "../context.ts";
import { asUsage, EXIT_CODES, UsageError, UserError } from "../errors.ts";
import { signingError } from "./secrets.ts";

interface CheckRequest
  extends
    Pick<RunOptions, "url" | "eventType" | "observer" | "skipVerify" | "onWaiting" | "onResult">,
    Partial<Pick<RunOptions, "headers" | "rejectedFix">> {
  scheme?: Scheme;
  /** The template of the deliveries (default: events of the platform). */
  payload?: Uint8Array | undefined;
  /** One, or the two of a rotation. */
  secrets: readonly string[];
  /** Time limit for a response (default: the provider's). */
  timeoutMs?: number | undefined;
  waitSeconds: number;
  /** How long the receiver may be unreachable at the start (default: `waitSeconds`). */
  reachSeconds?: number;
}

/** Checks a receiver with this process's clock and randomness. */
export async function performCheck(request: CheckRequest, context: Context): Promise<ReceiverReport> {
  const { scheme = SCHEMES.service, payload, secrets, timeoutMs, waitSeconds, ...others } = request;
  const [current = "", previous, ...more] = secrets;
  const ids = createIdGenerator(randomBytes);
  if (more.length > 0) throw new UsageError("Too many secrets: pass at most two, for a rotation");
  try {
    // The previous secret would otherwise be used, and found to be invalid, after some deliveries.
    for (const secret of secrets) sign({ scheme, payload: "", secrets: secret, id: "none" });
    return await checkReceiver({
      headers: [],
      rejectedFix: undefined,
      ...others,
      provider: { scheme, template: payload && new Template(scheme, payload, ids), timeoutMs },
      secrets: { current, previous, foreign: newSecret(scheme) },
      waitMilliseconds: waitSeconds * 1000,
      reachMilliseconds: (request.reachSeconds ?? waitSeconds) * 1000,
      clock: clockOf(context),
      ids,
      signal: context.signal,
    });
  } catch (error) {
    if (error instanceof TemplateError) throw new UsageError(`The payload ${error.message}`, { cause: error });
    if (error instanceof SignatureError) throw signingError(error);
    if (error instanceof UnreachableError) {
      throw new UserError(`Cannot check the receiver: ${error.message}`, {
        hint: error.fix,
        exitCode: EXIT_CODES.unreachable,
        code: "receiver_unreachable",
        cause: error,
      });
    }
    throw error;
  }
}

export function clockOf(context: Context): Clock {
  return {
    elapsed: () => performance.now(),
    now: () => context.now(),
    sleep: (milliseconds) => context.sleep(milliseconds),
  };
}

/** Creates a signing secret in the format of the provider. */
export function newSecret(scheme: Scheme): string {
  const { secret } = scheme;
  if (secret !== undefined) return (secret.prefix ?? "") + randomBytes(32).toString(secret.encoding);
  if (scheme !== SCHEMES.service && scheme !== SCHEMES.stripe) return randomBytes(16).toString("hex");
  return SIGNING_SECRET_PREFIX + randomBytes(32).toString("base64url");
}

/** Parses an address as typed: `localhost:3000/webhooks`, a port, a URL. Throws UsageError. */
export function parseAddress(text: string, name: string): URL {
  return asUsage(() => parseTarget(text).url, TargetError, name);
}

/** Returns the type of the platform's events to send. Throws UsageError for `--type` if a payload determines it. */
export function eventTypeOf({ type, payload }: { type?: string; payload?: string }, scheme: Scheme): EventType {
  if (type === undefined) return DEFAULT_TYPE;
  if (payload !== undefined) throw new UsageError("--type cannot be combined with --payload, which has its own type");
  return scheme === SCHEMES.service ? parseEventType(type) : DEFAULT_TYPE;
}

const DEFAULT_TYPE = "order.completed";

export interface SamplePayload {
  bytes: Buffer;
  /** The header with the type that was given, if the provider has one: its name and value. */
  headers: readonly string[];
  /** The notice to print once the sample is certain to be sent. */
  notice: string;
}

/**
 * Returns a payload of the provider with this name, by default of its first type; undefined for the platform, whose
 * events have other samples. Throws UsageError for a scheme of `service.yaml`, or a type without a sample.
 */
export function samplePayload(
  name: string,
  scheme: Scheme,
  context: Context,
  type?: string,
): SamplePayload | undefined {
  if (scheme === SCHEMES.service) return undefined;
  const known = Object.entries(PROVIDER_PAYLOADS).find(([provider]) => provider === name);
  if (known === undefined) throw new UsageError(`--scheme ${name} needs --payload: a file with the body of a delivery`);
  const payloads = Object.entries(known[1]);
  const found = type === undefined ? payloads[0] : payloads.find(([one]) => one === type);
  if (found === undefined) {
    const types = payloads.map(([one]) => one);
    const near = nearest(type!, types);
    throw new UsageError(`--type: "${type}" is not a sample of ${scheme.name}`, {
      hint: near.length > 0 ? didYouMean(near) : `Samples: ${types.join(", ")}. For another type, pass --payload.`,
    });
  }
  const [header] = Object.keys(scheme.headers ?? {});
  const others = type !== undefined || payloads.length === 1 ? "" : " For another type, pass --type.";
  return {
    bytes: Buffer.from(found[1](context.now())),
    headers: header === undefined || type === undefined ? [] : [header, found[0]],
    notice: `Sending a sample of ${scheme.name}: ${found[0]}.${others} To send your own payload, pass --payload.`,
  };
}

/** Returns JSON with the values of `--set`. Throws UsageError if it has no place for one. */
export function withValues(bytes: Buffer, changes: readonly Pair[]): Buffer {
  if (changes.length === 0) return bytes;
  objectOfPairs(changes, "--set");
  const text = bytes.toString("utf8");
  const value = parseJson(text);
  if (!isRecord(value)) throw new UsageError("--set: the payload is not a JSON object");
  for (const [path] of changes) assertPath(value, path);
  const withChanges = (object: unknown): unknown =>
    changes.reduce((result, [path, given]) => assign(result, path, given), object as Record<string, unknown>);
  return Buffer.from(rewriteJson(text, withChanges));
}

function assertPath(value: unknown, path: string): void {
  if (valueAt(value, path) !== undefined) return;
  const parent = path.includes(".") ? path.slice(0, path.lastIndexOf(".")) : "";
  const inner = parent === "" ? value : valueAt(value, parent);
  const names = typeof inner === "object" && inner !== null ? Object.keys(inner) : [];
  const hint = `${parent === "" ? "The payload" : parent} has: ${names.slice(0, 20).join(", ")}`;
  throw new UsageError(`--set: the payload has no ${path}`, names.length === 0 ? {} : { hint });
}
