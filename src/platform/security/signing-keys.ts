import { createPublicKey, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isLoopback } from "../../network/connect-options.ts";
import { parseUrl } from "../../network/parse-url.ts";
import { LocalLimiter } from "./rate-limit.ts";
import { SigningKeysError } from "../errors.ts";

const FETCH_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
/** Anyone can send an unknown key name, and each causes a request to the source. */
const LOOKS = { burst: 10, refillSeconds: 30 };

/**
 * The public keys of the partner that reports leaks, as it publishes them: `{public_keys: [{key_identifier, key}]}`.
 */
export class SigningKeys {
  readonly #source: string;
  readonly #limiter: LocalLimiter;
  #keys: ReadonlyMap<string, KeyObject> = new Map();
  #loading: Promise<ReadonlyMap<string, KeyObject>> | undefined;

  /** `source` is an https URL (http to this machine) or a file. Throws SigningKeysError for any other URL. */
  constructor(source: string, elapsed: () => number) {
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source) && !isFetchable(source)) {
      throw new SigningKeysError(`Leak report keys cannot be read from ${source}: pass an https URL or a file.`);
    }
    this.#source = source;
    this.#limiter = new LocalLimiter(elapsed, LOOKS);
  }

  /** Returns the key, looked up once at its source if it is not cached; undefined if it is not there either. */
  async find(identifier: string): Promise<KeyObject | undefined> {
    const cached = this.#keys.get(identifier);
    if (cached !== undefined) return cached;
    if (this.#loading === undefined && this.#limiter.take("source") > 0) return undefined;
    this.#loading ??= this.#load().finally(() => (this.#loading = undefined));
    this.#keys = await this.#loading;
    return this.#keys.get(identifier);
  }

  async #load(): Promise<ReadonlyMap<string, KeyObject>> {
    try {
      const text = isFetchable(this.#source) ? await download(this.#source) : await readFile(this.#source, "utf8");
      const { public_keys: published } = JSON.parse(text) as { public_keys: { key_identifier: string; key: string }[] };
      return new Map(published.map(({ key_identifier, key }) => [key_identifier, createPublicKey(key)]));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new SigningKeysError(`The keys for leak reports cannot be read from ${this.#source}: ${why}`);
    }
  }
}

function isFetchable(source: string): boolean {
  const url = parseUrl(source);
  return url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
}

async function download(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS), redirect: "error" });
  if (!response.ok) throw new Error(`its response has status ${response.status}`);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new Error("its response is too large");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
