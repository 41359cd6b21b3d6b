import type { BackgroundWork } from "../observability/background-work.ts";
import { contextOfHeaders, type EndpointHeaders } from "../domain/endpoint-target.ts";
import type { DeliveryTarget } from "../storage/webhook-endpoints.ts";
import type { Vault } from "../security/vault.ts";

const MAX_OPENED = 1000;
const NO_HEADERS: readonly string[] = [];

/** Decrypts the secrets and the headers of an endpoint. */
export class SecretOpener {
  readonly #vault: Vault;
  readonly #background: BackgroundWork;
  /** By sealed bytes, which are unique to each secret, so entries never become outdated. */
  readonly #opened = new Map<string, string>();

  constructor(vault: Vault, background: BackgroundWork) {
    this.#vault = vault;
    this.#background = background;
  }

  /**
   * Returns the endpoint's secret and, during a rotation's overlap, the previous one, so far as that can be decrypted: a
   * rotation repairs a damaged secret. Returns undefined if the current one cannot. `now` is the environment's time.
   */
  secretsOf(target: DeliveryTarget, now: number): string[] | undefined {
    const secret = this.#open(target.secret, target.id, target.id);
    if (secret === undefined) return undefined;
    if (target.previous_secret === null || target.previous_until === null || target.previous_until <= now) {
      return [secret];
    }
    const previous = this.#open(target.previous_secret, target.id, target.id);
    return previous === undefined ? [secret] : [secret, previous];
  }

  /** Returns the names and values of the endpoint's headers as a flat list; undefined if they cannot be decrypted. */
  headersOf({ id, headers }: DeliveryTarget): readonly string[] | undefined {
    if (headers === null) return NO_HEADERS;
    const text = this.#open(headers, contextOfHeaders(id), id);
    return text === undefined ? undefined : Object.entries(JSON.parse(text) as EndpointHeaders).flat();
  }

  #open(sealed: Uint8Array, context: string, endpointId: string): string | undefined {
    const key = `${context} ${Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).toString("latin1")}`;
    const cached = this.#opened.get(key);
    if (cached !== undefined) return cached;
    let secret: string;
    try {
      secret = this.#vault.open(sealed, context);
    } catch (error) {
      const cause = new Error(`A secret of ${endpointId} cannot be decrypted.`, { cause: error });
      this.#background.failed("delivery", { endpoint: endpointId }, cause);
      return undefined;
    }
    const oldest = this.#opened.keys().next();
    if (this.#opened.size >= MAX_OPENED && !oldest.done) this.#opened.delete(oldest.value);
    this.#opened.set(key, secret);
    return secret;
  }
}
