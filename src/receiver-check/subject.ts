import { DELIVERY_USER_AGENT, HEADERS } from "../contract/headers.ts";
import type { IdGenerator } from "../contract/ids.ts";
import { type Scheme, sign } from "../webhooks/schemes.ts";
import { type Clock, exchange, type Response } from "./exchange.ts";
import type { Observer } from "./observer.ts";
import {
  exampleHeaders,
  isPlatform,
  mediaTypeOf,
  type Provider,
  type Sample,
  sampleEvent,
  type SampleEvent,
  typeHeaderOf,
  unknownTypeLike,
} from "./samples.ts";

/** The receiver's own secret, the previous one if a rotation is checked too, and an unknown one. */
interface Secrets {
  current: string;
  previous: string | undefined;
  foreign: string;
}

export interface SubjectOptions {
  url: URL;
  provider: Provider;
  /** Headers of every delivery, which replace those of the scheme. */
  headers: readonly (readonly [name: string, value: string])[];
  secrets: Secrets;
  /** The object of deliveries, unless a check uses another. */
  eventType: string;
  observer: Observer | undefined;
  skipVerify: boolean;
  clock: Clock;
  ids: IdGenerator;
  signal: AbortSignal;
}

/** Differences from a delivery as the platform would send it. */
export interface Deviation {
  /** The body to send in place of the sample's. */
  body?: string | Uint8Array;
  /** The signed body, if another one is sent. */
  signedBody?: string | Uint8Array;
  secrets?: readonly string[];
  /** Signs in place of the provider's scheme. */
  scheme?: Scheme;
  /** Unix seconds. */
  timestamp?: number;
  /** Returns the value of the signature's header from the valid one; undefined omits the header. */
  header?: (right: string) => string | undefined;
  /** The value of the timestamp's header; undefined omits the header. */
  timestampHeader?: string | undefined;
  /** Returns further headers from the valid ones. */
  headers?: (right: ReadonlyMap<string, string>) => Readonly<Record<string, string>>;
  /** The value of the header with the event's type. */
  type?: string;
  attempt?: number;
  limitMilliseconds?: number;
  /** False to judge an unanswered delivery at once (default: it is repeated, since the machine may be busy). */
  repeats?: boolean;
}

/** The receiver under test. */
export class Subject {
  readonly provider: Provider;
  readonly secrets: Secrets;
  readonly eventType: string;
  readonly observer: Observer | undefined;
  readonly clock: Clock;
  /** Timeout of a delivery that sets none. */
  limitMilliseconds: number;
  /** The IDs of all samples. */
  readonly ids: string[] = [];
  /** Why the observer cannot see what the receiver does, once that is known. */
  noEffects: string | undefined;
  readonly #options: SubjectOptions;

  constructor(options: SubjectOptions, limitMilliseconds: number) {
    this.#options = options;
    this.provider = options.provider;
    this.secrets = options.secrets;
    this.eventType = options.eventType;
    this.observer = options.observer;
    this.clock = options.clock;
    this.limitMilliseconds = limitMilliseconds;
  }

  /** A fresh event of the platform; `at` is Unix milliseconds. */
  event(type = this.eventType, at = this.clock.now()): SampleEvent {
    return sampleEvent(type, this.#options.ids, at);
  }

  /** Fresh contents of a delivery. */
  sample(): Sample {
    const { template } = this.provider;
    const event = template === undefined ? this.event() : undefined;
    const sample = template?.sample(this.clock.now()) ?? { id: event!.id, body: JSON.stringify(event) };
    this.ids.push(sample.id);
    return sample;
  }

  /** Contents about an object that no other delivery is about, if the payload has its ID where most providers do. */
  sampleOfOtherObject(): Sample {
    return this.provider.template?.sample(this.clock.now(), { otherObject: true }) ?? this.sample();
  }

  /** A delivery of a type that no receiver knows. */
  unknownType(): { type: string; sample: Sample; deviation: Deviation } {
    const { template, scheme } = this.provider;
    const header = typeHeaderOf(scheme)?.toLowerCase();
    const own = this.#options.headers.find(([name]) => name.toLowerCase() === header)?.[1];
    const usual = Object.entries(scheme.headers ?? {}).find(([name]) => name.toLowerCase() === header)?.[1];
    const type = unknownTypeLike(own ?? usual ?? template?.type ?? this.eventType);
    const event = template === undefined ? this.event(type) : undefined;
    const sample = template?.sampleOfType(type, this.clock.now()) ?? { id: event!.id, body: JSON.stringify(event) };
    return { type, sample, deviation: header === undefined ? {} : { type } };
  }

  /** Contents that differ from the sample's by their ID only. */
  sampleLike(sample: Sample): Sample {
    const other = this.sample();
    if (this.provider.template !== undefined) return other;
    return {
      id: other.id,
      body: JSON.stringify({ ...(JSON.parse(sample.body as string) as SampleEvent), id: other.id }),
    };
  }

  /** Unix seconds. */
  now(): number {
    return Math.floor(this.clock.now() / 1000);
  }

  /** Resolves with the response, if there is none in time with that to a repetition. */
  async deliver(sample: Sample, deviation: Deviation = {}): Promise<Response> {
    const response = await this.#deliverOnce(sample, deviation);
    if (response.failure?.kind !== "timeout" || deviation.repeats === false) return response;
    return { ...(await this.#deliverOnce(sample, deviation)), isRepeated: true };
  }

  async #deliverOnce(sample: Sample, deviation: Deviation): Promise<Response> {
    const { provider, url, skipVerify, signal } = this.#options;
    const body = Buffer.from((deviation.body ?? sample.body) as Uint8Array);
    const { scheme } = provider;
    const { header, timestamp } = { header: scheme.signature.header, timestamp: scheme.timestamp?.header };
    const headers = new Map<string, string>([
      ["Content-Type", mediaTypeOf(body)],
      ["User-Agent", DELIVERY_USER_AGENT],
      ...Object.entries(exampleHeaders(deviation.scheme ?? scheme, sample.id)),
      ...Object.entries(
        sign({
          scheme: deviation.scheme ?? scheme,
          payload: deviation.signedBody ?? body,
          secrets: deviation.secrets ?? [this.secrets.current],
          timestamp: deviation.timestamp ?? this.now(),
          id: sample.id,
        }),
      ),
    ]);
    for (const [name, value] of Object.entries(deviation.headers?.(headers) ?? {})) headers.set(name, value);
    if (isPlatform(provider)) {
      headers.set(HEADERS.eventId, sample.id).set(HEADERS.deliveryAttempt, String(deviation.attempt ?? 1));
    }
    if (deviation.header !== undefined) change(headers, header, deviation.header(headers.get(header)!));
    if (timestamp !== undefined && "timestampHeader" in deviation) {
      change(headers, timestamp, deviation.timestampHeader);
    }
    return await exchange({
      url,
      method: "POST",
      headers: withOverrides(headers, this.#headersOf(deviation)),
      body,
      limitMilliseconds: deviation.limitMilliseconds ?? this.limitMilliseconds,
      skipVerify,
      signal,
      clock: this.clock,
    });
  }

  #headersOf({ type }: Deviation): SubjectOptions["headers"] {
    const { headers } = this.#options;
    const name = type === undefined ? undefined : typeHeaderOf(this.provider.scheme);
    if (type === undefined || name === undefined) return headers;
    return [...headers.filter(([one]) => one.toLowerCase() !== name.toLowerCase()), [name, type]];
  }
}

function change(headers: Map<string, string>, name: string, value: string | undefined): void {
  if (value === undefined) headers.delete(name);
  else headers.set(name, value);
}

/** Names of headers are compared without case. */
function withOverrides(
  headers: ReadonlyMap<string, string>,
  overrides: readonly (readonly [name: string, value: string])[],
): Record<string, string> {
  const replaced = new Set(overrides.map(([name]) => name.toLowerCase()));
  return Object.fromEntries([...[...headers].filter(([name]) => !replaced.has(name.toLowerCase())), ...overrides]);
}
