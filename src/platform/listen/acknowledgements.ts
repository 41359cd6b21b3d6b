import { timeOfId } from "../../contract/ids.ts";
import { type Ack, urlFor } from "../../contract/listen.ts";
import { isSuccess } from "../../contract/is-success.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { Session } from "../domain/deliveries.ts";
import type { EnvironmentNow } from "../time/environment-time.ts";
import type { Listener } from "./listeners.ts";
import type { LogTools } from "./log-reader.ts";
import {
  type FailedAttempts,
  type MadeAttempt,
  toMadeAttempt,
  type Undelivered,
  type UndeliveredEvents,
} from "./undelivered.ts";
import {
  type AttemptRow,
  type DeliveryRow,
  findListenerDeliveries,
  hasListenerAttempt,
  insertAttempts,
  insertDeliveries,
  type ListenerDelivery,
  recordInjected,
  recordListenerOutcome,
  storableText,
} from "../storage/deliveries.ts";
import { type Queries, StorageUnavailableError, type Transaction } from "../storage/database.ts";
import { findEnvironment, SandboxResetError } from "../storage/environments.ts";
import type { Addressee } from "../storage/event-log.ts";
import { lockListener } from "../storage/listeners.ts";

/** The outcome of one event at a listener. */
export interface Outcome {
  eventId: string;
  eventType: string;
  ack: Omit<Ack, "seq">;
  /** Real time, in Unix milliseconds. */
  at: number;
  /** When the event was sent, in real time, and its ID in the log; undefined if a person sent it again. */
  sent?: { id: string; at: number } | undefined;
  /** True if the event was acknowledged before: it is recorded only if its delivery is. */
  isResend?: true;
  /** All attempts, if the connection ended before the acknowledgement. */
  unfinished?: readonly MadeAttempt[] | undefined;
}

/**
 * Outcomes that arrive within this time share a commit: nobody waits for them, and a commit costs as much as 50 rows.
 */
const GATHER_MILLISECONDS = 25;
/** This many are recorded without waiting. */
const MAX_GATHER = 512;
/** Outcomes survive if the database is down for a minute. */
const TRY_AGAIN_MILLISECONDS = 500;
const MAX_TRIES = 120;

interface Recording {
  /** How far the environment's clock is ahead of real time, in milliseconds. */
  offset: number;
  /** Returns the open connections in the environment. */
  sessions: (queries: Queries) => Promise<Session[]>;
}

/** Records the outcomes of one listener as deliveries with their attempts. */
export class AckRecorder {
  readonly #tools: LogTools;
  readonly #listener: Listener;
  readonly #undelivered: UndeliveredEvents;
  readonly #sessions: Recording["sessions"];
  /** How far the environment's clock was ahead when outcomes were last recorded. */
  #offset: number;
  #waiting: Outcome[] = [];
  /** Events that were retried when the connection ended. */
  #unfinished: Outcome[] = [];
  #recording: Promise<void> | undefined;
  /** Ends the wait for more outcomes. */
  #endPause: () => void = () => {};
  /** Ends the wait for the next try. */
  #tryNow: () => void = () => {};
  #hasGivenUp = false;

  constructor(tools: LogTools, listener: Listener, undelivered: UndeliveredEvents, { offset, sessions }: Recording) {
    this.#tools = tools;
    this.#offset = offset;
    this.#sessions = sessions;
    this.#listener = listener;
    this.#undelivered = undelivered;
  }

  get listenerId(): string {
    return this.#listener.id;
  }

  add(outcome: Outcome): void {
    const { status_code: status, error, filtered } = outcome.ack;
    if (status === undefined && error === undefined && outcome.isResend) return;
    // The event was filtered or only shown, so there is no delivery to report.
    if (status === undefined && error === undefined) {
      return this.#addUndelivered(outcome.eventId, filtered ? "filtered" : "not_forwarded");
    }
    this.#undelivered.remove(outcome.eventId, this.#listener.id);
    this.#waiting.push(outcome);
    if (this.#waiting.length >= MAX_GATHER) this.#endPause();
    this.#recording ??= this.#record();
  }

  /** Records that a person sent an event again. A client that floods the platform loses some of these. */
  addResend(outcome: Outcome): void {
    if (this.#waiting.length < MAX_GATHER) this.add({ ...outcome, isResend: true });
  }

  /** Notes that the connection ended before the listener acknowledged an event. */
  addDisconnected({ eventId, eventType, sent }: Omit<Outcome, "ack" | "at">, failed: FailedAttempts | undefined): void {
    this.#addUndelivered(eventId, "disconnected", failed);
    const last = failed?.attempts.at(-1);
    if (last === undefined) return;
    const { at, duration_ms, status_code: status, error } = last;
    const ack = { duration_ms, ...(status === null ? { error: error ?? "" } : { status_code: status }) };
    this.#unfinished.push({ eventId, eventType, sent, ack, at: at + duration_ms, unfinished: failed!.attempts });
  }

  get hasUnfinished(): boolean {
    return this.#unfinished.length > 0;
  }

  /** Records the attempts of events that were retried when the connection ended, except those that are retried again. */
  recordUnfinished(isRetried: (event: string, type: string, addressee: Addressee) => boolean): void {
    const { id: listener, targets } = this.#listener;
    for (const outcome of this.#unfinished.splice(0)) {
      const { eventId, eventType } = outcome;
      const target = urlFor(targets, eventType) ?? null;
      if (!isRetried(eventId, eventType, { listener, target })) this.add(outcome);
    }
  }

  #addUndelivered(eventId: string, result: Undelivered["result"], failed?: FailedAttempts): void {
    const { id, tenant } = this.#listener;
    this.#undelivered.add(tenant.environment, { event: eventId, listener: id, result, failed });
  }

  /** Drops what is not recorded yet: the sandbox of these events was reset. */
  forget(): void {
    this.#waiting = [];
    this.#unfinished = [];
  }

  /** Resolves when everything added is durable (or was rejected by the database, which is logged). */
  async settled(): Promise<void> {
    this.#endPause();
    await this.#recording;
  }

  /** Tries once more at once. Outcomes that the database does not accept are then lost, which is logged. */
  giveUp(): void {
    this.#hasGivenUp = true;
    this.#endPause();
    this.#tryNow();
  }

  async #record(): Promise<void> {
    const { database, log, time } = this.#tools;
    let tries = 0;
    let mayBeRecorded = false;
    while (this.#waiting.length > 0) {
      await this.#gather();
      const batch = this.#waiting;
      this.#waiting = [];
      const { tenant, ...known } = this.#listener;
      const listener = { ...known, environment: tenant.environment };
      try {
        this.#offset = await database.write(
          async (tx) => {
            const { id, environment } = listener;
            // Other connections of the same device may record outcomes of the same events.
            await lockListener(tx, id);
            const { clock_offset: offset } = await findEnvironment(tx, environment);
            const { newId } = await time.read(tx, { environment, livemode: false });
            const openedAt = listener.connectedAt + offset;
            const recorded = { ...listener, openedAt, sessions: () => this.#sessions(tx) };
            for (const outcomes of oncePerEvent(batch)) {
              const shifted = outcomes.map((one) => shiftedBy(one, offsetOf(one, this.#offset, offset)));
              const fresh = mayBeRecorded ? await withoutRecorded(tx, recorded, shifted) : shifted;
              await recordAll(tx, recorded, fresh, newId);
            }
            return offset;
          },
          { isolation: "read committed" },
        );
        mayBeRecorded = false;
      } catch (error) {
        if (error instanceof SandboxResetError || listener.environment !== tenant.environment) continue;
        if (error instanceof StorageUnavailableError && tries < MAX_TRIES && !this.#hasGivenUp) {
          tries += 1;
          // If the connection was lost during the commit, the outcomes may have been recorded.
          mayBeRecorded ||= error.uncertain;
          this.#waiting.unshift(...batch);
          await this.#pause(TRY_AGAIN_MILLISECONDS, (end) => (this.#tryNow = end));
          continue;
        }
        log.error({ err: error, listener: listener.id, outcomes: batch.length }, "outcomes could not be recorded");
      }
    }
    this.#recording = undefined;
  }

  #gather(): Promise<void> {
    if (this.#waiting.length >= MAX_GATHER || this.#hasGivenUp) return Promise.resolve();
    return this.#pause(GATHER_MILLISECONDS, (end) => (this.#endPause = end));
  }

  #pause(milliseconds: number, endableBy: (end: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#tools.clock.after(milliseconds, resolve);
      endableBy(() => {
        cancel();
        resolve();
      });
    });
  }
}

/**
 * Returns how far the clock was ahead when an event was sent, given two offsets before and after it: an advance may
 * have moved the clock by hours meanwhile. The event was sent at its own time, unless it had waited.
 */
function offsetOf({ sent }: Outcome, before: number, after: number): number {
  if (before === after || sent === undefined) return after;
  return Math.min(after, Math.max(before, timeOfId(sent.id) - sent.at));
}

function shiftedBy(outcome: Outcome, offset: number): Outcome {
  const unfinished = outcome.unfinished?.map((attempt) => ({ ...attempt, at: attempt.at + offset }));
  return { ...outcome, at: outcome.at + offset, unfinished };
}

/** Whose outcomes are recorded, and in which environment. */
interface RecordedListener extends Pick<Listener, "id" | "targets"> {
  environment: number;
  /** In the environment's time. */
  openedAt: number;
  sessions: () => Promise<Session[]>;
}

async function withoutRecorded(tx: Transaction, { id, environment }: RecordedListener, outcomes: readonly Outcome[]) {
  const isRecorded = ({ eventId, ack, at }: Outcome) =>
    hasListenerAttempt(tx, { environment, listenerId: id, eventId, at: startOf(ack, at) });
  const found = await Promise.all(outcomes.map(isRecorded));
  return outcomes.filter((_outcome, index) => found[index] === false);
}

/**
 * Returns the delivery that an outcome at a new target belongs to, if the application has moved there: the newest one that
 * has not succeeded and whose target no session has any more. What is sent to several sessions at once has not moved.
 */
async function findMoved(
  { eventId, sent, isResend }: Outcome,
  deliveries: readonly ListenerDelivery[],
  { id, openedAt, sessions }: RecordedListener,
): Promise<ListenerDelivery | undefined> {
  const isReplay = sent !== undefined && sent.id !== eventId;
  const failed = deliveries.filter(
    ({ event_id: event, status, last_attempt_at: at }) =>
      event === eventId && status !== "succeeded" && (isReplay || (at ?? 0) < openedAt),
  );
  if (failed.length === 0 || isResend) return undefined;
  const own = (await sessions()).filter(({ listener }) => listener === id);
  const open = new Set(own.flatMap(({ targets }) => targets.map(({ url }) => url)));
  return failed.filter(({ target }) => target !== null && !open.has(target)).toSorted(newestFirst)[0];
}

const newestFirst = (a: { id: string }, b: { id: string }) => (a.id < b.id ? 1 : -1);

/** Records outcomes of different events: with a few statements, however many there are. */
async function recordAll(
  tx: Transaction,
  listener: RecordedListener,
  outcomes: readonly Outcome[],
  newId: EnvironmentNow["newId"],
): Promise<void> {
  const { id: listenerId, environment } = listener;
  const eventIds = outcomes.map(({ eventId }) => eventId);
  const keyOf = (eventId: string, target: string | null) => `${eventId} ${target ?? ""}`;
  const recorded = (await findListenerDeliveries(tx, environment, eventIds)).filter(
    (one) => one.listener_id === listenerId,
  );
  const known = new Map(recorded.map((one) => [keyOf(one.event_id, one.target), one]));
  const deliveries: DeliveryRow[] = [];
  const attempts: AttemptRow[] = [];
  const repeated: Promise<void>[] = [];
  const injected: (() => Promise<void>)[] = [];
  for (const outcome of outcomes) {
    const { eventId, eventType, ack, at, isResend } = outcome;
    const target = urlFor(listener.targets, eventType) ?? null;
    const own = known.get(keyOf(eventId, target));
    const mayMove = own === undefined && target !== null && recorded.length > 0;
    const earlier = mayMove ? await findMoved(outcome, recorded, listener) : own;
    if (earlier === undefined && isResend) continue;
    const deliveryId = earlier?.id ?? newId("delivery");
    const made = attemptsOf(outcome, earlier?.last_attempt_at ?? -Infinity);
    // After a lost connection, the event was acknowledged meanwhile.
    if (made.length === 0) continue;
    const succeeded = isSuccess(ack.status_code);
    const status = succeeded ? "succeeded" : "failed";
    const first = (earlier?.attempt_count ?? 0) + 1;
    for (const [index, attempt] of made.entries()) {
      attempts.push({ delivery_id: deliveryId, number: first + index, ...attempt });
    }
    if (ack.injected !== undefined) {
      const faults = storableText(ack.injected.slice(0, LIMITS.descriptionLength));
      injected.push(() => recordInjected(tx, deliveryId, first + made.length - 1, faults));
    }
    if (earlier !== undefined)
      repeated.push(recordListenerOutcome(tx, { id: deliveryId, status, target }, made.length));
    else {
      deliveries.push({
        id: deliveryId,
        environment,
        event_id: eventId,
        event_type: eventType,
        endpoint_id: null,
        listener_id: listenerId,
        target,
        status,
        attempt_count: made.length,
        next_attempt: null,
        created: at,
      });
    }
  }
  // Sent together; they are executed in order.
  await Promise.all([
    ...repeated,
    insertDeliveries(tx, deliveries),
    insertAttempts(tx, attempts),
    ...injected.map((record) => record()),
  ]);
}

/** An attempt that was reported before is reported with almost the same time again; the next one follows much later. */
const SAME_ATTEMPT_MILLISECONDS = 250;

/**
 * Returns the attempts of an outcome that are later than `lastAt`: after a lost connection an event is acknowledged
 * again, with attempts that may be recorded already. The time of an attempt is its start.
 */
function attemptsOf({ ack, at, unfinished }: Outcome, lastAt: number): MadeAttempt[] {
  const isNew = (attempt: { at: number }) => attempt.at > lastAt + SAME_ATTEMPT_MILLISECONDS;
  if (unfinished !== undefined) return unfinished.filter(isNew);
  const earlier = (ack.attempts ?? [])
    .map((attempt) => ({ ...attempt, at: startOf(attempt, at - attempt.ago_ms) }))
    .filter(isNew);
  return [...earlier, { ...ack, at: Math.max(startOf(ack, at), lastAt) }].map(toMadeAttempt);
}

function startOf({ duration_ms: duration }: { duration_ms: number }, end: number): number {
  return Math.round(end - duration);
}

/** Splits outcomes into lists that hold at most one of each event, in order. */
function oncePerEvent(outcomes: readonly Outcome[]): Outcome[][] {
  const lists: Outcome[][] = [];
  const counts = new Map<string, number>();
  for (const outcome of outcomes) {
    const before = counts.get(outcome.eventId) ?? 0;
    counts.set(outcome.eventId, before + 1);
    (lists[before] ??= []).push(outcome);
  }
  return lists;
}
