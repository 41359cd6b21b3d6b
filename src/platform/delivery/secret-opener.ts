import type { DeliveryTarget } from "../storage/webhook-endpoints.ts";
import type { Vault } from "../secrets/vault.ts";

const MAX_OPENED = 1000;

/** Decrypts the secrets that sign for an endpoint. */
export class SecretOpener {
  readonly #vault: Vault;
  /** By sealed bytes, which are unique to each secret, so entries never become outdated. */
  readonly #opened = new Map<string, string>();

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  /**
   * Returns the endpoint's secret and, during a rotation's overlap, the previous one. `now` is the environment's time.
   */
  secretsOf(target: DeliveryTarget, now: number): string[] {
    const secrets = [this.#open(target.secret, target.id)];
    if (target.previous_secret !== null && target.previous_until !== null && target.previous_until > now) {
      secrets.push(this.#open(target.previous_secret, target.id));
    }
    return secrets;
  }

  #open(sealed: Uint8Array, endpointId: string): string {
    const key = `${endpointId} ${Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).toString("latin1")}`;
    const cached = this.#opened.get(key);
    if (cached !== undefined) return cached;
    const secret = this.#vault.open(sealed, endpointId);
    const oldest = this.#opened.keys().next();
    if (this.#opened.size >= MAX_OPENED && !oldest.done) this.#opened.delete(oldest.value);
    this.#opened.set(key, secret);
    return secret;
  }
}
