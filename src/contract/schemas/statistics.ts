import { type Static, Type } from "typebox";
import { EVENT_TYPES } from "../event-types.ts";
import { LIMITS } from "../limits.ts";
import { Attempt } from "./delivery.ts";
import {
  closed,
  count,
  decimal,
  group,
  idOf,
  integer,
  named,
  nullable,
  nullInExamples,
  objectOf,
  oneOf,
  several,
  text,
  timestamp,
} from "./fields.ts";

/** What a listener did with an event, if it reported no attempt. */
const LISTENER_RESULTS = ["forwarding", "filtered", "not_forwarded", "disconnected"] as const;

const ListenerResult = named("ListenerResult", "What a listener did with an event, if it reported no attempt", {
  event: idOf("event"),
  listener: idOf("listener"),
  result: oneOf(LISTENER_RESULTS, "What the listener did with the event"),
  attempts: Type.Array(Attempt, {
    description: "Attempts that failed and are retried; only the last one has the start of its response",
    examples: [[]],
  }),
  next_attempt: nullInExamples(timestamp("When it is attempted next; null if it is not retried")),
});
export type ListenerResult = Static<typeof ListenerResult>;

const ListenerConnection = named("ListenerConnection", "A connection of `service listen`; its times are real", {
  listener: idOf("listener"),
  events: several(text("Event type or wildcard", "*"), "Event types that it subscribes to"),
  targets: several(
    Type.Object({
      events: text("Event type or wildcard", "*"),
      url: text("URL of the application", "http://localhost:3000/webhooks"),
    }),
    "Where it forwards; the first one that fits an event gets it",
  ),
  waiting: nullInExamples(text("What it waits for; null while it forwards", "forwarding is resumed")),
  remedy: nullInExamples(text("What lets it forward; null while it forwards", "Press p in the listener")),
  connected_at: timestamp("When it connected"),
  disconnected_at: nullInExamples(timestamp("When it disconnected; null while it is connected")),
});
export type ListenerConnection = Static<typeof ListenerConnection>;

export const MAX_STATISTICS_ENTRIES = 360;
/** Number of intervals into which an endpoint's minutes are grouped. */
export const STATISTICS_INTERVALS = 30;

/** A percentile of response times, in milliseconds. */
const Latency = nullable(
  decimal(
    `Response time of this share of the attempts at most, the upper bound of a narrow range. A timeout counts as ${LIMITS.deliverySeconds} s. Other attempts without a response, such as refused connections, are left out; null if none is left`,
    20,
  ),
);

const COUNTS = {
  events: count("Events that were created", 1),
  attempts: count("Delivery attempts", 1),
  succeeded: count("Attempts that succeeded"),
  failed: count("Attempts that failed", 1),
  latency_p50_ms: Latency,
  latency_p95_ms: Latency,
};

const StatisticsMinute = named("StatisticsMinute", "Counts of one minute, or of several from `at` on", {
  at: timestamp("Start of the minute"),
  ...COUNTS,
});
type StatisticsMinute = Static<typeof StatisticsMinute>;

/** Failed attempts with the same receiver and reason; `endpoint` is null for listeners. */
export const StatisticsFailure = named("StatisticsFailure", "Failed attempts with the same reason", {
  endpoint: nullable(text("ID of the endpoint; null for listeners", "we_4Vf8aTqz0bKm2sNw9XyRcd")),
  status_code: nullable(integer("Status of the responses; null without one", 500)),
  error: nullable(text("Why there was no response; null if there was one")),
  count: count("Number of these attempts", 1),
  last_at: timestamp("When the last one was made"),
});
export type StatisticsFailure = Static<typeof StatisticsFailure>;

const FailedDeliveries = Type.Integer({
  minimum: 0,
  maximum: LIMITS.maxCountedFailed,
  description: `Deliveries that failed and are not retried any more; at most ${LIMITS.maxCountedFailed} are counted`,
});

/** An endpoint has counts per interval, for a small chart, and no latencies: these are per minute and environment. */
export const StatisticsEndpoint = named("StatisticsEndpoint", "Counts of an endpoint", {
  endpoint: idOf("webhook_endpoint"),
  attempts: count("Delivery attempts", 1),
  failed: count("Attempts that failed", 1),
  pending: count("Deliveries that are not final", 1),
  failed_deliveries: FailedDeliveries,
  last_delivery_at: nullable(timestamp("When the newest delivery was created")),
  last_success_at: nullInExamples(timestamp("The newest successful attempt; null if there was none")),
  intervals: several(
    Type.Object({
      at: timestamp("Start of the interval"),
      succeeded: count("Attempts that succeeded"),
      failed: count("Attempts that failed", 1),
    }),
    `The minutes in ${STATISTICS_INTERVALS} intervals of the same length, oldest first`,
  ),
});
export type StatisticsEndpoint = Static<typeof StatisticsEndpoint>;

/** The last minutes of the environment, oldest first and including the current one, and the state of its queue. */
export const Statistics = named("Statistics", "Counts of the last minutes, and the current queue", {
  object: objectOf("statistics"),
  now: timestamp("The environment's time"),
  totals: group("All of the minutes together", COUNTS),
  minutes: several(
    StatisticsMinute,
    `Each minute, oldest first; of more than ${MAX_STATISTICS_ENTRIES}, several together`,
  ),
  failures: several(StatisticsFailure, "Failed attempts by endpoint and reason"),
  endpoints: several(StatisticsEndpoint, "Existing endpoints, newest first"),
  failed_deliveries: FailedDeliveries,
  failed_listener_deliveries: count("Those of `failed_deliveries` that were sent to listeners"),
  event_types: several(
    Type.Object({
      type: oneOf(EVENT_TYPES, "Event type"),
      last_at: timestamp("When the newest event of the type was created"),
    }),
    "The types of the retained events of the environment, that of the newest event first",
  ),
  listeners: count("Open connections of `service listen`", 1),
  listener_connections: several(
    ListenerConnection,
    "Open connections, then those that have ended: the last one of each listener and its targets, at this process",
  ),
  listener_results: several(
    ListenerResult,
    "What listeners of this process did with the event in the query, the newest result first. Without an event: the newest events whose attempts have failed so far, that with the newest attempt first",
  ),
  queue: group("Deliveries that wait for an attempt", {
    pending: count("Deliveries that are not final", 1),
    oldest_due_seconds: decimal("Time since the oldest pending delivery became due, in seconds"),
  }),
});
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
  endpoint: Type.Optional(idOf("webhook_endpoint", "Count this endpoint only")),
  event: Type.Optional(idOf("event", "Adds what listeners did with this event")),
});
export type StatisticsQuery = Static<typeof StatisticsQuery>;
