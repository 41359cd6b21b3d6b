import { setImmediate } from "node:timers";
import { EVENT_TYPES, type EventType } from "../../contract/event-types.ts";
import { isId, lowestIdAt, timeOfId } from "../../contract/ids.ts";
import type { GapReason } from "../../contract/listen.ts";
import { invalidFields } from "../domain/api-error.ts";
import type { Tenant } from "../domain/request-context.ts";
import type { With } from "../tools.ts";
import { findEnvironmentNumber } from "../storage/accounts.ts";
import { type Queries, StorageUnavailableError } from "../storage/database.ts";
import { findEnvironment } from "../storage/environments.ts";
import { DamagedEventError, openBody } from "../storage/event-body.ts";
import {
  type Addressee,
  alignLog,
  countOthers,
  endOfLog,
  findInLog,
  ID_DISORDER_MS,
  type LoggedEvent,
  type LogNumbers,
  type LogPart,
  type LogPosition,
  positionBefore,
  readLog,
} from "../storage/event-log.ts";

/** When the log is read again if some of it could not be read yet. */
const HELD_BACK_MS = 20;
const UNAVAILABLE_MS = 250;
/** Minimum time between two counts of events of other types. */
const COUNT_MS = 250;
/** The maximum number of events read at once, and of their bytes; one event may have more. */
const MAX_EVENTS = 128;
const READ_BYTES = 1024 * 1024;

/** What may be buffered for a slow client; it gets more once it has received that. */
export const MAX_BUFFERED_BYTES = 1024 * 1024;

/** A client that reads the log. */
export interface LogClient {
  /** How many events it accepts now. If none, it calls the reader once it accepts some. */
  available(): number;
  /**
   * Returns whether a retry is for this client; undefined while that is not known, after which it calls the reader.
   */
  isFor(addressee: Addressee, type: string): boolean | undefined;
  /** Sends events in order. Returns how many it accepted; the rest is read again. */
  send(events: readonly LoggedEvent[]): number;
  /** Reports how many more new events have other types than those that it reads. */
  filteredOut?(count: number): void;
  /** Reports that events may be missing after one ID and before another; the two are equal if one event is damaged. */
  gap(from: string, to: string, reason?: GapReason): void;
  /** Reports that the sandbox was reset: what was sent is gone, and its new log begins. */
  reset(cursor: string): void;
  /** Called once for a failure that does not pass. Nothing is read after it. */
  failed(error: unknown): void;
}

/** What a client reads. */
export interface Reading {
  tenant: Tenant;
  types: readonly EventType[];
  start: Start;
}

/** What the log is read with. */
export type LogTools = With<"database" | "clock" | "time" | "log">;

/**
 * Sends one client the log after its position. Stored and new events come from the same read, so no cutover can lose
 * any. Reads once at a time. Outlasts an unreachable database, since waiting loses nothing, and its replacement by a
 * standby that lacks the last commits.
 */
export class LogReader {
  readonly #tools: LogTools;
  readonly #tenant: Tenant;
  readonly #types: readonly EventType[];
  readonly #client: LogClient;
  #position: LogPosition;
  #gap: Pick<Start, "gapAfter" | "gapReason">;
  /** What the client knows that retention has removed. */
  #removed: LogNumbers;
  #mustReadAgain = false;
  /** True if a sandbox was reset since it was last looked whether it is this one. */
  #mayBeReset = false;
  #running = false;
  #stopped = false;
  #cancelLater: (() => void) | undefined;
  /** Up to where events of other types are counted; undefined until the end of the log was read once. */
  #countedTo: number | undefined;
  #cancelCount: (() => void) | undefined;
  readonly #unsubscribes: (() => void)[] = [];

  constructor(tools: LogTools, { tenant, types, start }: Reading, client: LogClient) {
    this.#tools = tools;
    this.#tenant = tenant;
    this.#types = types;
    this.#client = client;
    this.#position = start.position;
    this.#gap = start;
    this.#removed = start.removed;
  }

  start(): void {
    const { database } = this.#tools;
    this.#unsubscribes.push(
      database.subscribe("events", () => this.ask()),
      database.subscribe("resets", () => {
        this.#mayBeReset = true;
        this.ask();
      }),
    );
    this.ask();
  }

  /** Continues reading. If called during a read, reads again afterwards. */
  ask(): void {
    this.#mustReadAgain = true;
    if (this.#running || this.#stopped) return;
    this.#running = true;
    this.#run().catch((error: unknown) => {
      this.#running = false;
      if (error instanceof StorageUnavailableError) return this.#askLater(UNAVAILABLE_MS);
      this.stop();
      this.#client.failed(error);
    });
  }

  stop(): void {
    this.#stopped = true;
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    this.#cancelLater?.();
    this.#cancelCount?.();
  }

  async #run(): Promise<void> {
    while (this.#mustReadAgain && !this.#stopped) {
      this.#mustReadAgain = false;
      const found = await this.#read();
      if (found === "more") {
        this.#mustReadAgain = true;
        // Reads of an SQLite file resolve at once, so consecutive reads would block everything else.
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      } else if (found === "held back") this.#askLater(HELD_BACK_MS);
    }
    this.#running = false;
  }

  #askLater(milliseconds: number): void {
    if (this.#stopped) return;
    this.#cancelLater ??= this.#tools.clock.after(milliseconds, () => {
      this.#cancelLater = undefined;
      this.ask();
    });
  }

  /** Reads once. Returns whether there may be more, now or soon. */
  async #read(): Promise<"end" | "more" | "held back"> {
    // A client that accepts no events must know, too: what it still has to forward is gone.
    if (this.#mayBeReset && (await this.#beginAgain())) return "more";
    const available = this.#client.available();
    if (available <= 0) return "end";
    const limit = Math.min(available, MAX_EVENTS);
    const { environment } = this.#tenant;
    const part = await readLog(this.#tools.database, environment, this.#position, this.#types, limit);
    if (this.#stopped) return "end";
    if (part === undefined) {
      await this.#beginAgain();
      return "more";
    }
    if (!part.isKnown) {
      await this.#findAgain();
      return "more";
    }
    const { settled, own } = this.#select(part.events);
    const events = await this.#open(own);
    await this.#tellOfGap(part.removed, events[0]);
    if (this.#stopped || !this.#send(events)) return "end";
    if (events.length < own.length) return "more";
    this.#position = settled.at(-1)?.position ?? this.#position;
    if (settled.length < part.events.length) return "end";
    if (settled.length === limit) return "more";
    this.#passOver(part.end);
    this.#countLater();
    return part.heldBack ? "held back" : "end";
  }

  /** Returns the events up to a retry that may be for the client, and those of them that are for it. */
  #select(listed: LogPart["events"]) {
    const isOwn = ({ addressee, type }: LogPart["events"][number]) =>
      addressee === undefined || this.#client.isFor(addressee, type);
    const unsettled = listed.findIndex((event) => isOwn(event) === undefined);
    const settled = unsettled === -1 ? listed : listed.slice(0, unsettled);
    return { settled, own: settled.filter(isOwn) };
  }

  /** Returns the first events with their bodies. The others, and those from one that was just removed, are read again. */
  async #open(listed: LogPart["events"]): Promise<LoggedEvent[]> {
    const events: LoggedEvent[] = [];
    let bytes = 0;
    for (const event of listed) {
      bytes += event.body_bytes;
      if (events.length > 0 && bytes > READ_BYTES) break;
      const opened = await openBody(this.#tools.database, this.#tenant.environment, event);
      if (opened === undefined) break;
      const { position, id, type, replayId, addressee } = event;
      events.push({ position, id, type, replayId, addressee, body: opened.body, isDamaged: opened.isDamaged });
    }
    return events;
  }

  /** Returns false if the client did not accept all. */
  #send(events: readonly LoggedEvent[]): boolean {
    const damaged = events.findIndex(({ isDamaged }) => isDamaged);
    const intact = damaged === -1 ? events : events.slice(0, damaged);
    const acceptedCount = intact.length === 0 ? 0 : this.#client.send(intact);
    this.#position = intact[acceptedCount - 1]?.position ?? this.#position;
    if (acceptedCount < intact.length) return false;
    if (damaged === -1) return true;
    const { id, position } = events[damaged]!;
    this.#tools.log.error({ err: new DamagedEventError(id) }, "an event could not be sent");
    this.#client.gap(id, id);
    this.#position = position;
    return this.#send(events.slice(damaged + 1));
  }

  /** Continues with the new log if the sandbox was reset. Returns false if it was not. */
  async #beginAgain(): Promise<boolean> {
    this.#mayBeReset = false;
    const { account, name } = this.#tenant;
    const environment = await findEnvironmentNumber(this.#tools.database, account.id, name);
    if (this.#stopped || environment === this.#tenant.environment) return false;
    this.#tenant.environment = environment;
    this.#position = LOG_START;
    this.#countedTo = LOG_START.seq;
    this.#removed = LOG_START;
    this.#gap = NO_GAP;
    this.#client.reset(cursorOf(LOG_START));
    return true;
  }

  /** The database lost events that were sent. Continues from what it still has. */
  async #findAgain(): Promise<void> {
    const { database, time, log } = this.#tools;
    const from = cursorOf(this.#position);
    await alignLog(database);
    const { now } = await time.read(database, this.#tenant);
    const { position, removed } = await findStart(database, this.#tenant.environment, from, now);
    this.#position = position;
    this.#countedTo = undefined;
    this.#removed = removed;
    this.#gap = { gapAfter: from };
    log.warn({ after: from, from: cursorOf(position) }, "the database lacks events that were sent to a listener");
  }

  async #tellOfGap(removed: LogNumbers, next: LoggedEvent | undefined): Promise<void> {
    const isNew = (number: "seq" | "replay") =>
      removed[number] > Math.max(this.#position[number], this.#removed[number]);
    const { gapAfter, gapReason: reason } = this.#gap;
    const from = gapAfter ?? (isNew("seq") || isNew("replay") ? cursorOf(this.#position) : undefined);
    this.#removed = removed;
    if (from === undefined) return;
    this.#gap = NO_GAP;
    const { database, time } = this.#tools;
    const to = next?.position.id ?? lowestIdAt("event", (await time.read(database, this.#tenant)).now);
    if (!this.#stopped) this.#client.gap(from, to, reason);
  }

  /** Events of other types are not read again, and their removal leaves no gap. */
  #passOver(end: LogPosition): void {
    const { seq, replay } = this.#position;
    if (end.seq <= seq && end.replay <= replay) return;
    this.#position = { seq: Math.max(seq, end.seq), replay: Math.max(replay, end.replay), id: end.id };
  }

  #countLater(): void {
    this.#countedTo ??= this.#position.seq;
    const isFiltered = this.#client.filteredOut !== undefined && this.#types.length < EVENT_TYPES.length;
    if (!isFiltered || this.#position.seq <= this.#countedTo) return;
    this.#cancelCount ??= this.#tools.clock.after(COUNT_MS, () => {
      this.#cancelCount = undefined;
      // Only a number on a screen depends on it.
      this.#count().catch((error: unknown) => this.#tools.log.debug({ err: error }, "events could not be counted"));
    });
  }

  async #count(): Promise<void> {
    const { seq } = this.#position;
    const { database } = this.#tools;
    const { environment } = this.#tenant;
    const after = this.#countedTo ?? seq;
    this.#countedTo = seq;
    const count = await countOthers(database, environment, after, seq, this.#types);
    if (count > 0 && !this.#stopped) this.#client.filteredOut?.(count);
  }
}

/** Where a connection starts in its environment's log. */
export interface Start {
  /** Events after this position are sent. */
  position: LogPosition;
  /** The ID after which events that the client requested are missing. */
  gapAfter: string | undefined;
  gapReason?: GapReason;
  /** How far retention had removed the log when this was found: `gapAfter` accounts for it. */
  removed: LogNumbers;
}

const NO_GAP = { gapAfter: undefined };

/** The position before everything in a log. */
const LOG_START: LogPosition = { seq: 0, replay: 0, id: undefined };

/** An ID that names the position again, for use as `after`. */
export function cursorOf({ id }: LogPosition): string {
  return id ?? lowestIdAt("event", 0);
}

/**
 * Parses `after`: an ID from the log, `now`, or `-<seconds>`. A time may also be given as the lowest ID of that time.
 * Throws ApiError.
 */
export async function findStart(
  queries: Queries,
  environment: number,
  after: string | undefined,
  now: number,
): Promise<Start> {
  const {
    since,
    events_removed_to: removedTo,
    log_removed_seq: seq,
    log_removed_replay: replay,
  } = await findEnvironment(queries, environment);
  const removed = { seq, replay };
  if (after === undefined || after === "now") {
    return { position: await endOfLog(queries, environment), gapAfter: undefined, removed };
  }
  const isAge = /^-(0|[1-9]\d{0,8})$/.test(after);
  const id = isAge ? lowestIdAt("event", now + Number(after) * 1000) : after;
  if (!isId("event", id)) {
    const detail = "must be an event ID (evt_…), now, or a number of seconds ago such as -600";
    throw invalidFields([{ pointer: "?after", code: "invalid_format", detail }]);
  }
  const time = timeOfId(id);
  if (id === lowestIdAt("event", time)) {
    const gapAfter = removedTo !== null && id <= removedTo ? id : undefined;
    return { position: await positionBefore(queries, environment, id), gapAfter, removed };
  }
  const found = await findInLog(queries, environment, id);
  // What was removed after it is reported when the log is read. Replays that were removed may have been before an event.
  if (found !== undefined) {
    const { position, isReplay } = found;
    return { position, gapAfter: undefined, removed: { seq: 0, replay: isReplay ? 0 : replay } };
  }
  if (removedTo === null || id > removedTo) await assertNoStandby(queries);
  // Of a sandbox that was reset, an ID that retention has not removed is from before.
  const isRemoved = since !== null && time >= since && removedTo !== null && id <= removedTo;
  if (since !== null && !isRemoved) return { position: LOG_START, gapAfter: id, gapReason: "reset", removed };
  // Events that were committed after this one may have begun earlier.
  const bound = lowestIdAt("event", time - ID_DISORDER_MS[queries.dialect]);
  const gapAfter = id === removedTo ? undefined : id;
  return { position: await positionBefore(queries, environment, bound), gapAfter, removed };
}

/** A standby may lack an event temporarily. */
async function assertNoStandby(queries: Queries): Promise<void> {
  if (queries.dialect === "sqlite") return;
  const row = await queries.get<{ standby: number }>("SELECT CAST(pg_is_in_recovery() AS INTEGER) AS standby");
  if (row?.standby === 1) throw new StorageUnavailableError("Storage is unavailable: the database is a standby.");
}
