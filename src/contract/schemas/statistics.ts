import { type Static, Type } from "typebox";
import { EVENT_TYPES } from "../event-types.ts";
import { LIMITS } from "../limits.ts";
import { Attempt } from "./delivery.ts";
import { closed, idOf, nullable, NULL_IN_EXAMPLES, objectOf, timestamp } from "./fields.ts";

/** What a listener did with an event, if it reported no attempt. */
const LISTENER_RESULTS = ["forwarding", "filtered", "not_forwarded", "disconnected"] as const;

const ListenerResult = Type.Object(
  {
    event: idOf("event"),
    listener: idOf("listener"),
    result: Type.Enum([...LISTENER_RESULTS], { description: "What the listener did with the event" }),
    attempts: Type.Array(Attempt, {
      description: "Attempts that failed and are retried; only the last one has the start of its response",
    }),
    next_attempt: nullable(timestamp("When it is attempted next; null if it is not retried"), NULL_IN_EXAMPLES),
  },
  { $id: "ListenerResult", description: "What a listener did with an event, if it reported no attempt" },
);
export type ListenerResult = Static<typeof ListenerResult>;

const ListenerConnection = Type.Object(
  {
    listener: idOf("listener"),
    events: Type.Array(Type.String(), { description: "Event types that it subscribes to" }),
    targets: Type.Array(
      Type.Object({
        events: Type.String({ description: "Event type or wildcard", examples: ["*"] }),
        url: Type.String({ description: "URL of the application", examples: ["http://localhost:3000/webhooks"] }),
      }),
      {
        description: "Where it forwards; the first one that fits an event gets it",
      },
    ),
    connected_at: timestamp("When it connected"),
    disconnected_at: nullable(timestamp("When it disconnected; null while it is connected"), NULL_IN_EXAMPLES),
  },
  { $id: "ListenerConnection", description: "A connection of `service listen`; its times are real" },
);
export type ListenerConnection = Static<typeof ListenerConnection>;

/** Maximum number of entries of `minutes`. */
export const MAX_STATISTICS_ENTRIES = 360;
/** Number of intervals into which an endpoint's minutes are grouped. */
export const STATISTICS_INTERVALS = 30;

const countOf = (description: string) => Type.Integer({ minimum: 0, description });

/** A percentile of latencies, in milliseconds. */
const Latency = nullable(
  Type.Number({
    description: "This share of the attempts took no longer: the upper bound of a narrow range; null without attempts",
  }),
);

const COUNTS = {
  events: countOf("Events that were created"),
  attempts: countOf("Delivery attempts"),
  succeeded: countOf("Attempts that succeeded"),
  failed: countOf("Attempts that failed"),
  latency_p50_ms: Latency,
  latency_p95_ms: Latency,
};

const StatisticsMinute = Type.Object(
  { at: timestamp("Start of the minute"), ...COUNTS },
  { $id: "StatisticsMinute", description: "Counts of one minute, or of several from `at` on" },
);
type StatisticsMinute = Static<typeof StatisticsMinute>;

/** Failed attempts with the same receiver and reason; `endpoint` is null for listeners. */
export const StatisticsFailure = Type.Object(
  {
    endpoint: nullable(
      Type.String({ description: "ID of the endpoint; null for listeners", examples: ["we_4Vf8aTqz0bKm2sNw9XyRcd"] }),
    ),
    status_code: nullable(Type.Integer({ description: "Status of the responses; null without one", examples: [500] })),
    error: nullable(Type.String({ description: "Why there was no response; null if there was one" })),
    count: countOf("Number of these attempts"),
    last_at: timestamp("When the last one was made"),
  },
  { $id: "StatisticsFailure", description: "Failed attempts with the same reason" },
);
export type StatisticsFailure = Static<typeof StatisticsFailure>;

/** An endpoint has counts per interval, for a small chart, and no latencies: these are per minute and environment. */
export const StatisticsEndpoint = Type.Object(
  {
    endpoint: idOf("webhook_endpoint"),
    attempts: countOf("Delivery attempts"),
    failed: countOf("Attempts that failed"),
    pending: countOf("Deliveries that are not final"),
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
    intervals: Type.Array(
      Type.Object({
        at: timestamp("Start of the interval"),
        succeeded: countOf("Attempts that succeeded"),
        failed: countOf("Attempts that failed"),
      }),
      {
        description: `The minutes in ${STATISTICS_INTERVALS} intervals of the same length, oldest first`,
      },
    ),
  },
  { $id: "StatisticsEndpoint", description: "Counts of an endpoint" },
);
export type StatisticsEndpoint = Static<typeof StatisticsEndpoint>;

/** The last minutes of the environment, oldest first and including the current one, and the state of its queue. */
export const Statistics = Type.Object(
  {
    object: objectOf("statistics"),
    now: timestamp("The environment's time"),
    totals: Type.Object(COUNTS, { description: "All of the minutes together" }),
    minutes: Type.Array(StatisticsMinute, {
      description: `Each minute, oldest first; of more than ${MAX_STATISTICS_ENTRIES}, several together`,
    }),
    failures: Type.Array(StatisticsFailure, { description: "Failed attempts by endpoint and reason" }),
    endpoints: Type.Array(StatisticsEndpoint, { description: "Existing endpoints, newest first" }),
    event_types: Type.Array(
      Type.Object({
        type: Type.Enum([...EVENT_TYPES], { description: "Event type" }),
        last_at: timestamp("When the newest event of the type was created"),
      }),
      {
        description: "The types of the retained events of the environment, that of the newest event first",
      },
    ),
    listeners: Type.Integer({ minimum: 0, description: "Open connections of `service listen`" }),
    listener_connections: Type.Array(ListenerConnection, {
      description: "Connections of this process: open ones, then the last one of each listener that forwarded",
    }),
    listener_results: Type.Array(ListenerResult, {
      description:
        "What listeners of this process did with the event in the query, the newest result first. Without an event: the newest events whose attempts have failed so far, that with the newest attempt first",
    }),
    queue: Type.Object(
      {
        pending: countOf("Deliveries that are not final"),
        oldest_due_seconds: Type.Number({
          description: "Time since the oldest pending delivery became due, in seconds",
        }),
      },
      { description: "Deliveries that wait for an attempt" },
    ),
  },
  { $id: "Statistics", description: "Counts of the last minutes, and the current queue" },
);
export type Statistics = Static<typeof Statistics>;

export const StatisticsQuery = closed({
  minutes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMITS.maxStatisticsMinutes,
      default: LIMITS.statisticsMinutesDefault,
      description: "How many minutes to count, up to now",
    }),
  ),
  endpoint: Type.Optional(idOf("webhook_endpoint", { description: "Count this endpoint only" })),
  event: Type.Optional(idOf("event", { description: "Adds what listeners did with this event" })),
});
export type StatisticsQuery = Static<typeof StatisticsQuery>;
