import type { ErrorCode } from "../../contract/errors.ts";
import type { RequestExchange, RequestMethod } from "../../contract/schemas/request-log.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { Caller } from "../domain/request-context.ts";
import type { Clock, Log } from "../ports.ts";
import type { FaultRow } from "../storage/faults.ts";
import { type Database, StorageUnavailableError } from "../storage/database.ts";
import {
  addLeftOut,
  insertRequestDetails,
  insertRequestLogs,
  type RequestDetailRow,
  type RequestLogRow,
} from "../storage/request-logs.ts";
import { digestIdempotencyKey, type Vault } from "../security/vault.ts";

const COLLECT_MILLISECONDS = 500;
const ROWS_A_UNIT = 256;
/** A few megabytes. If a database rejects writes for longer, entries are lost. */
const MAX_WAITING = 20_000;
/**
 * Maximum characters of waiting headers and bodies. Above it, only those of errors are stored, up to the second limit.
 */
const MAX_DETAILS = 1024 * 1024;
const MAX_DETAILS_OF_ERRORS = 4 * MAX_DETAILS;
const FORBIDDEN = 403;
const SECOND = 1000;
/** Characters of an Idempotency-Key's digest: 96 bits. */
const SHOWN_DIGEST = 16;

/** A handled request. Its path holds only the route and IDs. */
interface CompletedRequest {
  id: string;
  method: RequestMethod;
  path: string;
  status: number;
  milliseconds: number;
  idempotencyKey: string | undefined;
  errorCode: ErrorCode | undefined;
  fault?: FaultRow | null;
  client?: string | undefined;
  /** Returns the content of request and response. Called only if there is room for it. */
  exchange?: () => RequestExchange;
}

/** The requests of a credential that returned 403 within a second: the rate limit does not count them. */
interface Refusals {
  since: number;
  count: number;
  /** The last of them that is in the log. */
  last: RowKey;
}

type RowKey = Pick<RequestLogRow, "environment" | "id">;

interface RecorderParts {
  database: Pick<Database, "write">;
  clock: Clock;
  log: Log;
  vault: Vault;
}

/**
 * Writes the request log without delaying requests: entries wait in memory and are written together, in units of work
 * that share commits with other writes. A crash loses the last moments of the log, and nothing else. The buffer is
 * bounded; when it is full, entries are dropped, which the platform's own log reports.
 */
export class RequestRecorder {
  readonly #parts: RecorderParts;
  #waiting: RequestLogRow[] = [];
  #details: RequestDetailRow[] = [];
  #detailCharacters = 0;
  #dropped = 0;
  /** The rejected requests of each credential. */
  readonly #refusals = new Map<string, Refusals>();
  /** How many requests were left out after a row. */
  #leftOut = new Map<RowKey, number>();
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  /** Records a request under the owner of its credential, proven or rejected. */
  record({ tenant, credential, user }: Caller, request: CompletedRequest): void {
    this.#cancelTimer ??= this.#parts.clock.after(COLLECT_MILLISECONDS, () => void this.flush());
    const { environment } = tenant;
    const { id } = request;
    if (request.status === FORBIDDEN && !this.#keepsRefusal(credential.id, { environment, id })) return;
    if (this.#waiting.length >= MAX_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push({
      environment,
      id,
      method: request.method,
      path: request.path,
      status: request.status,
      duration_us: Math.round(request.milliseconds * 1000),
      key_id: user === null ? credential.id : null,
      user_id: user?.id ?? null,
      idempotency_key: request.idempotencyKey === undefined ? null : this.digestOf(request.idempotencyKey),
      error_code: request.errorCode ?? null,
      fault: request.fault == null ? null : `${request.fault.id} ${request.fault.effect}`,
      client: request.client ?? null,
      left_out: 0,
    });
    this.#keepDetail(environment, request);
  }

  /** Returns whether the log keeps a request that returned 403; counts it if not. */
  #keepsRefusal(credentialId: string, row: RowKey): boolean {
    const now = this.#parts.clock.elapsed();
    const known = this.#refusals.get(credentialId);
    const current = known !== undefined && now - known.since < SECOND ? known : { since: now, count: 0, last: row };
    if (current.count >= LIMITS.loggedRefusalsPerSecond) {
      this.#leftOut.set(current.last, (this.#leftOut.get(current.last) ?? 0) + 1);
      return false;
    }
    this.#refusals.set(credentialId, { since: current.since, count: current.count + 1, last: row });
    return true;
  }

  #keepDetail(environment: number, { id, status, exchange }: CompletedRequest): void {
    const max = status < 400 ? MAX_DETAILS : MAX_DETAILS_OF_ERRORS;
    if (exchange === undefined || this.#detailCharacters >= max) return;
    const detail = JSON.stringify(exchange());
    this.#details.push({ environment, id, detail });
    this.#detailCharacters += detail.length;
  }

  /** Resolves once everything recorded before is written, or could not be. */
  flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#writing = this.#writing.then(() => this.#writeWaiting());
    return this.#writing;
  }

  /** Writes the buffered entries once more. Call this before closing the database. */
  async close(): Promise<void> {
    await this.flush();
    this.#cancelTimer?.();
  }

  /** Returns a short digest, which only serves to recognize the same key again. */
  digestOf(idempotencyKey: string): string {
    return digestIdempotencyKey(this.#parts.vault, idempotencyKey).slice(0, SHOWN_DIGEST);
  }

  /** Takes the details of some rows out of the queue, which has both in the same order. */
  #takeDetailsOf(rows: readonly RequestLogRow[]): RequestDetailRow[] {
    const ids = new Set(rows.map(({ id }) => id));
    const end = this.#details.findIndex(({ id }) => !ids.has(id));
    const taken = this.#details.splice(0, end === -1 ? this.#details.length : end);
    for (const { detail } of taken) this.#detailCharacters -= detail.length;
    return taken;
  }

  /** Notes on rows that have been written how many requests were left out after them. */
  async #writeLeftOut(): Promise<void> {
    const now = this.#parts.clock.elapsed();
    for (const [id, { since }] of this.#refusals) if (now - since >= SECOND) this.#refusals.delete(id);
    const counts = this.#leftOut;
    this.#leftOut = new Map();
    if (counts.size === 0) return;
    try {
      await this.#parts.database.write(async (tx) => {
        for (const [row, count] of counts) await addLeftOut(tx, row, count);
      });
    } catch (error) {
      this.#parts.log.warn({ err: error }, "the request log does not say how many requests it left out");
    }
  }

  async #writeWaiting(): Promise<void> {
    for (let left = this.#waiting.length; left > 0; left -= ROWS_A_UNIT) {
      const rows = this.#waiting.splice(0, Math.min(left, ROWS_A_UNIT));
      const details = this.#takeDetailsOf(rows);
      try {
        await this.#parts.database.write(async (tx) => {
          await insertRequestLogs(tx, rows);
          await insertRequestDetails(tx, details);
        });
      } catch (error) {
        if (error instanceof StorageUnavailableError) {
          // The database has logged its failure. Writing is retried until the buffer is full.
          this.#waiting.unshift(...rows);
          this.#details.unshift(...details);
          for (const { detail } of details) this.#detailCharacters += detail.length;
          this.#cancelTimer ??= this.#parts.clock.after(COLLECT_MILLISECONDS, () => void this.flush());
          return;
        }
        this.#parts.log.error({ err: error, count: rows.length }, "entries of the request log could not be written");
      }
    }
    await this.#writeLeftOut();
    if (this.#dropped > 0) this.#parts.log.warn({ count: this.#dropped }, "entries of the request log were dropped");
    this.#dropped = 0;
  }
}
