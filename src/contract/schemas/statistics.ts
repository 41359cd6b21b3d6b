import { type Static, Type } from "typebox";
import { EVENT_TYPES } from "../event-types.ts";
import { LIMITS } from "../limits.ts";
import { Attempt } from "./delivery.ts";
import { closed, idOf, nullable, Timestamp } from "./fields.ts";

/** What a listener did with an event, if it reported no attempt. */
const LISTENER_RESULTS = ["forwarding", "filtered", "not_forwarded", "disconnected"] as const;

const ListenerResult = Type.Object(
  {
    event: idOf("event"),
    listener: idOf("listener"),
    result: Type.Enum([...LISTENER_RESULTS]),
    attempts: Type.Array(Attempt, {
      description: "Attempts that failed and are retried; only the last one has the start of its response",
    }),
    next_attempt: nullable(Timestamp),
  },
  { $id: "ListenerResult", description: "What a listener did with an event, if it reported no attempt" },
);
export type ListenerResult = Static<typeof ListenerResult>;

const ListenerConnection = Type.Object(
  {
    listener: idOf("listener"),
    events: Type.Array(Type.String(), { description: "Event types that it subscribes to" }),
    targets: Type.Array(Type.Object({ events: Type.String(), url: Type.String() }), {
      description: "Where it forwards; the first one that fits an event gets it",
    }),
    connected_at: Timestamp,
    disconnected_at: nullable(Timestamp),
  },
  { $id: "ListenerConnection", description: "A connection of `service listen`; its times are real" },
);
export type ListenerConnection = Static<typeof ListenerConnection>;

/** Maximum number of entries of `minutes`. */
export const MAX_STATISTICS_ENTRIES = 360;
/** Number of intervals into which an endpoint's minutes are grouped. */
export const STATISTICS_INTERVALS = 30;

const Count = Type.Integer({ minimum: 0 });

/** A percentile of latencies, in milliseconds. */
const Latency = nullable(
  Type.Number({
    description: "This share of the attempts took no longer: the upper bound of a narrow range; null without attempts",
  }),
);

const COUNTS = {
  events: Count,
  attempts: Count,
  succeeded: Count,
  failed: Count,
  latency_p50_ms: Latency,
  latency_p95_ms: Latency,
};

const StatisticsMinute = Type.Object(
  { at: Timestamp, ...COUNTS },
  { $id: "StatisticsMinute", description: "Counts of one minute, or of several from `at` on" },
);
type StatisticsMinute = Static<typeof StatisticsMinute>;

/** Failed attempts with the same receiver and reason; `endpoint` is null for listeners. */
export const StatisticsFailure = Type.Object(
  {
    endpoint: nullable(Type.String()),
    status_code: nullable(Type.Integer()),
    error: nullable(Type.String()),
    count: Count,
    last_at: Timestamp,
  },
  { $id: "StatisticsFailure", description: "Failed attempts with the same reason" },
);
export type StatisticsFailure = Static<typeof StatisticsFailure>;

/** An endpoint has counts per interval, for a small chart, and no latencies: these are per minute and environment. */
export const StatisticsEndpoint = Type.Object(
  {
    endpoint: idOf("webhook_endpoint"),
    attempts: Count,
    failed: Count,
    pending: Count,
    failed_deliveries: Type.Integer({
      minimum: 0,
      maximum: LIMITS.maxCountedFailed,
      description: `Deliveries that failed and are not retried any more; at most ${LIMITS.maxCountedFailed} are counted`,
    }),
    last_delivery_at: nullable(
      Type.String({ format: "timestamp", description: "When the newest delivery was created" }),
    ),
    last_success_at: nullable(
      Type.String({ format: "timestamp", description: "The newest successful attempt; null if there was none" }),
    ),
    intervals: Type.Array(Type.Object({ at: Timestamp, succeeded: Count, failed: Count }), {
      description: `The minutes in ${STATISTICS_INTERVALS} intervals of the same length, oldest first`,
    }),
  },
  { $id: "StatisticsEndpoint", description: "Counts of an endpoint" },
);
export type StatisticsEndpoint = Static<typeof StatisticsEndpoint>;

/** The last minutes of the environment, oldest first and including the current one, and the state of its queue. */
export const Statistics = Type.Object(
  {
    object: Type.Literal("statistics"),
    now: Timestamp,
    totals: Type.Object(COUNTS, { description: "All of the minutes together" }),
    minutes: Type.Array(StatisticsMinute, {
      description: `Each minute, oldest first; of more than ${MAX_STATISTICS_ENTRIES}, several together`,
    }),
    failures: Type.Array(StatisticsFailure),
    endpoints: Type.Array(StatisticsEndpoint, { description: "Existing endpoints, newest first" }),
    event_types: Type.Array(Type.Object({ type: Type.Enum([...EVENT_TYPES]), last_at: Timestamp }), {
      description: "The types of the retained events of the environment, that of the newest event first",
    }),
    listeners: Type.Integer({ minimum: 0, description: "Open connections of `service listen`" }),
    listener_connections: Type.Array(ListenerConnection, {
      description: "Connections of this process: open ones, then the last one of each listener that forwarded",
    }),
    listener_results: Type.Array(ListenerResult, {
      description:
        "What listeners of this process did with the event in the query, the newest result first. Without an event: the newest events whose attempts have failed so far, that with the newest attempt first",
    }),
    queue: Type.Object({
      pending: Count,
      oldest_due_seconds: Type.Number({ description: "Time since the oldest pending delivery became due, in seconds" }),
    }),
  },
  { $id: "Statistics", description: "Counts of the last minutes, and the current queue" },
);
export type Statistics = Static<typeof Statistics>;

export const StatisticsQuery = closed({
  minutes: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LIMITS.maxStatisticsMinutes, default: LIMITS.statisticsMinutesDefault }),
  ),
  endpoint: Type.Optional(Type.String({ format: "webhook_endpoint-id" })),
  event: Type.Optional(Type.String({ format: "event-id", description: "Adds what listeners did with this event" })),
});
export type StatisticsQuery = Static<typeof StatisticsQuery>;
