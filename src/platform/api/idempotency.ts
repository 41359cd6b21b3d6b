import { createHash, timingSafeEqual } from "node:crypto";
import { LIMITS } from "../../contract/limits.ts";
import { ApiError } from "../domain/api-error.ts";
import type { Queries, Transaction, WriteOptions } from "../storage/database.ts";
import { findIdempotencyKey, type IdempotencyTarget, keepIdempotencyKey } from "../storage/idempotency-keys.ts";
import type { Vault } from "../security/vault.ts";

export interface StoredResponse {
  status: number;
  json: string;
  /** True for the stored response of an earlier request. */
  replayed: boolean;
}

/** What makes two requests the same: the version, the body, and the principal if the response shows a secret. */
export function fingerprintOf(version: string, body: unknown, principal = ""): Buffer {
  return createHash("sha256")
    .update(`${version}\n${principal}\n`)
    .update(JSON.stringify(body ?? null))
    .digest();
}

interface KeyedRequest {
  target: IdempotencyTarget;
  fingerprint: Buffer;
  /** True if the response shows a secret, so that the fingerprint depends on the credential. */
  hasSecret: boolean;
  /** The environment's time, in Unix milliseconds. */
  now: number;
  /** False while a key must not be considered expired, because the clock may be wrong. Call it after reading `now`. */
  mayExpire: () => boolean;
  isolation: NonNullable<WriteOptions["isolation"]>;
}

/** The response of a request that took effect. */
export interface Effect {
  status: number;
  json: string;
  /** When the key begins to age, if not now. */
  createdAt?: number;
  /** The environment that a repeated request belongs to, if it is another one now. */
  environment?: number;
}

/**
 * Runs the effect of a keyed request at most once in 24 hours, in the transaction of its change, so that after a crash
 * both exist or neither. The 24 hours count from `createdAt` if the effect returns one. An error response is not
 * stored. Throws ApiError `idempotency_key_reused` for another body under the same key.
 */
export async function onceForKey(tx: Transaction, vault: Vault, request: KeyedRequest, effect: () => Promise<Effect>) {
  const { target, fingerprint, now, isolation } = request;
  const earlier = await findResponse(tx, vault, request);
  if (earlier !== undefined) return earlier;
  // It may be in flight in another process.
  if (!(await tx.claim(nameOf(target)))) throw stillInFlight();
  // It may have finished just now. Under the other isolation levels such a unit of work conflicts and is run again.
  const justStored = isolation === "read committed" ? await findResponse(tx, vault, request) : undefined;
  if (justStored !== undefined) return justStored;
  const { status, json, createdAt = now, environment = target.environment } = await effect();
  const stored = { ...target, environment };
  const response = vault.seal(json, nameOf(stored));
  await keepIdempotencyKey(tx, { ...stored, fingerprint, status, response, created: createdAt });
  return { status, json, replayed: false };
}

/** Returns the response to an earlier request with the key. Throws ApiError `idempotency_key_reused`. */
export async function findResponse(queries: Queries, vault: Vault, request: KeyedRequest) {
  const { target, fingerprint, hasSecret, now, mayExpire } = request;
  const stored = await findIdempotencyKey(queries, target);
  if (stored === undefined) return undefined;
  if (stored.created <= now - LIMITS.idempotencySeconds * 1000 && mayExpire()) return undefined;
  if (!timingSafeEqual(stored.fingerprint, fingerprint)) {
    const other = hasSecret
      ? "with another body or version, or by another credential, to which its secret is not shown"
      : "with another body or version";
    throw new ApiError("idempotency_key_reused", `This Idempotency-Key was used ${other}. Use a new key.`);
  }
  return { status: stored.status, json: vault.open(stored.response, nameOf(target)), replayed: true };
}

/** Returns a name that is unique per environment, operation and key. */
function nameOf({ environment, method, path, key }: IdempotencyTarget): string {
  return JSON.stringify([environment, method, path, key]);
}

function stillInFlight(): ApiError {
  return new ApiError("idempotency_in_flight", "The first request with this Idempotency-Key is still in progress.", {
    headers: { "Retry-After": "1" },
  });
}

/** The keyed requests in flight in this process. A second one with the same key is rejected instead of queued. */
export class InFlight {
  readonly #running = new Set<string>();

  async run<Result>(target: IdempotencyTarget, work: () => Promise<Result>): Promise<Result> {
    const name = nameOf(target);
    if (this.#running.has(name)) throw stillInFlight();
    this.#running.add(name);
    try {
      return await work();
    } finally {
      this.#running.delete(name);
    }
  }
}
