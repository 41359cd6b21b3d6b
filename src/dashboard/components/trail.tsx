import { isSuccess } from "../../contract/is-success.ts";
import { LIMITS } from "../../contract/limits.ts";
import type { Attempt, Delivery } from "../../contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import type { Chain } from "../../explain/chain.ts";
import { stateOf } from "../../explain/states.ts";
import { notSentTo } from "../../explain/unsent.ts";
import { nameOfEndpoint, nameOfListener } from "../api/endpoints.ts";
import { environmentNow } from "../clock.ts";
import { axisTime, clockTime, count, duration, milliseconds, shortTime } from "../format.ts";
import { followLink, hrefOf, Link } from "../router.tsx";
import { errorInShort, isNotSent } from "../responses.ts";
import { Breakable, retryWait } from "./values.tsx";

/** A mark in a lane, with its time in Unix milliseconds: an attempt that was made, or a later one. */
interface Mark {
  at: number;
  kind: "good" | "bad" | "not-sent" | "canceled" | "pending" | "running" | "planned";
  /** Text for a tooltip and a screen reader. */
  tip: string;
}

interface Lane {
  href: string;
  name: string;
  marks: Mark[];
  /** What the last mark means. */
  text: string;
  /** `other`: not what is explained. */
  tone?: "bad" | "other" | undefined;
}

const MAX_LANES = 8;
const PLANNED_SHOWN = 3;
/** The width of a mark, in percent of the axis. */
const MARK_PERCENT = 2.4;
const MARK_PIXELS = 14;

/** What happened, on an axis of time: request, event, and a lane of attempts for each receiver. */
export function Trail({ chain, only }: { chain: Chain; only?: string }) {
  const { event, deliveries } = chain;
  const lanes = deliveries
    .filter(({ id, endpoint, listener }, index) =>
      only === undefined
        ? deliveries.findIndex((one) => one.endpoint === endpoint && one.listener === listener) === index
        : id === only,
    )
    .map((delivery) => laneOf(delivery, chain));
  if (only === undefined) lanes.push(...unsentTo(chain).map((endpoint) => unsentLane(endpoint, chain)));
  const all = lanes.flatMap(({ marks }) => marks);
  if (event === undefined || all.length === 0) return null;
  const now = environmentNow();
  const start = Math.min(Date.parse(event.created), ...all.map(({ at }) => at));
  const isOpen = all.some(({ kind }) => kind === "planned" || kind === "running");
  const end = Math.max(...all.map(({ at }) => at), isOpen ? now : 0);
  const place = placeOn(start, end);
  const shown = lanes.slice(0, MAX_LANES);
  const nowAt = isOpen ? place(now) : undefined;
  return (
    <section class={`trail ${shown.length === 1 ? "alone" : ""}`} aria-label="What happened">
      <Origin chain={chain} lanes={shown.length} />
      <ol>
        {shown.map((lane) => (
          <LaneRow key={lane.href} lane={lane} place={place} nowAt={nowAt} />
        ))}
      </ol>
      <div class="trail-axis" aria-hidden="true">
        <span>
          {lanes.length > shown.length ? `and ${count(lanes.length - shown.length)} more` : "Time, not to scale"}
        </span>
        <div>
          {ticksOf(start, end, place, nowAt).map(({ label, at, isNow }) => (
            <span key={label} class={isNow ? "now-label" : undefined} style={{ left: `${at}%` }}>
              {label}
            </span>
          ))}
        </div>
      </div>
    </section>
  );
}

/** The request and the event that it caused, with a line to each lane. */
function Origin({ chain: { request, event }, lanes }: { chain: Chain; lanes: number }) {
  if (event === undefined) return null;
  const rows = Array.from({ length: lanes }, (_row, index) => ((index + 0.5) / lanes) * 100);
  return (
    <div class="trail-origin">
      <svg viewBox="0 0 300 100" preserveAspectRatio="none" aria-hidden="true">
        {request !== undefined && <path d="M12 50H132" />}
        {rows.map((y) => (
          <path key={y} d={`M144 50C220 50 210 ${y} 292 ${y}`} />
        ))}
      </svg>
      {request !== undefined && (
        <p class="trail-node">
          <span>
            <Link href={hrefOf("logs", request.id)}>
              {request.method} {request.status}
            </Link>
            <br />
            {milliseconds(request.duration_ms)}
          </span>
        </p>
      )}
      <p class="trail-node of-event">
        <span>
          <Link href={hrefOf("events", event.id)}>{event.type}</Link>
        </span>
      </p>
    </div>
  );
}

function LaneRow(props: { lane: Lane; place: (at: number) => number; nowAt: number | undefined }) {
  const { lane, place, nowAt } = props;
  const { href, name, marks, text, tone = "" } = lane;
  return (
    <li class={`lane ${tone}`}>
      <Link href={href} label={`${name}: ${text}`}>
        <Breakable text={name} />
      </Link>
      <div class="lane-line">
        {nowAt !== undefined && <span class="trail-now" style={{ left: `${nowAt}%` }} />}
        {together(marks, place).map(({ at, kind, tip, count: number, left, shift }) => (
          <a
            key={`${kind} ${at}`}
            href={href}
            class={`mark ${kind}`}
            data-tip={tip}
            data-count={number > 1 && kind !== "planned" ? `×${number}` : undefined}
            aria-label={tip}
            style={{ left: `calc(${left}% + ${shift}px)`, "--tip-shift": `${-left}%` }}
            onClick={(event) => followLink(event, href)}
          />
        ))}
        <span class="mark-text" title={text}>
          {text}
        </span>
      </div>
    </li>
  );
}

/** A mark, or several, `shift` pixels beside its place in percent. */
type ShownMark = Mark & { count: number; left: number; shift: number };

/** Marks that would overlap are one, in the place of the last; those of another kind are beside each other. */
function together(marks: readonly Mark[], place: (at: number) => number): ShownMark[] {
  const shown: ShownMark[] = [];
  for (const mark of marks) {
    const last = shown.at(-1);
    const isNear = last !== undefined && place(mark.at) - last.left < MARK_PERCENT;
    if (isNear && last.kind === mark.kind) {
      Object.assign(last, mark, {
        ...(last.shift === 0 && { left: place(mark.at) }),
        count: last.count + 1,
        tip: `${last.count + 1} attempts, the last one: ${mark.tip}`,
      });
    } else if (isNear) shown.push({ ...mark, count: 1, left: last.left, shift: last.shift + MARK_PIXELS });
    else shown.push({ ...mark, count: 1, left: place(mark.at), shift: 0 });
  }
  return shown;
}

function laneOf(delivery: Delivery, { id, kind, endpoints, statistics }: Chain): Lane {
  const { endpoint, attempts = [], next_attempt: next, attempting_since: since, status, created } = delivery;
  const known = endpoint === null ? undefined : endpoints.get(endpoint);
  const name =
    endpoint === null
      ? nameOfListener(delivery, statistics)
      : known === undefined
        ? "Deleted endpoint"
        : nameOfEndpoint(known);
  const marks = attempts.map((attempt, index): Mark => {
    const kind = isSuccess(attempt.status_code) ? "good" : isNotSent(attempt.error) ? "not-sent" : "bad";
    return {
      at: Date.parse(attempt.at),
      kind,
      tip: `Attempt ${index + 1}, ${clockTime(attempt.at)}: ${outcomeOf(attempt)}`,
    };
  });
  const planned = next === null ? [] : [Date.parse(since ?? next), ...likelyAttempts(delivery)];
  for (const at of planned.slice(0, PLANNED_SHOWN)) {
    marks.push({
      at,
      kind: at === planned[0] && since !== null ? "running" : "planned",
      tip:
        at === planned[0] && since !== null
          ? "In progress"
          : `${at === planned[0] ? "Next attempt" : "Then, if needed"}: ${shortTime(at, environmentNow())}`,
    });
  }
  if (status === "canceled")
    marks.push({ at: Date.parse(attempts.at(-1)?.at ?? created) + 1000, kind: "canceled", tip: "Canceled" });
  else if (marks.length === 0) marks.push({ at: Date.parse(created), kind: "pending", tip: "Not attempted yet" });
  const isOther = kind === "delivery" && delivery.id !== id;
  const isBad = ["failed", "retrying"].includes(stateOf(delivery));
  return {
    href: hrefOf("deliveries", delivery.id),
    name,
    marks,
    text: textOf(delivery, planned),
    tone: isOther ? "other" : isBad ? "bad" : undefined,
  };
}

/** Returns the endpoints that the event was not sent to, because they are disabled. */
export function unsentTo({ event, endpoints, listed }: Chain): WebhookEndpoint[] {
  const all = [...endpoints.values()].filter((endpoint) => endpoint !== undefined);
  return event === undefined ? [] : notSentTo(event, all, listed);
}

function unsentLane(endpoint: WebhookEndpoint, { kind, event }: Chain): Lane {
  return {
    href: hrefOf("endpoints", endpoint.id),
    name: nameOfEndpoint(endpoint),
    marks: [{ at: Date.parse(event!.created), kind: "not-sent", tip: "Missed: the endpoint was disabled" }],
    text: "missed: disabled",
    tone: kind === "delivery" ? "other" : undefined,
  };
}

/** Returns the response to an attempt, or what happened instead, with its time. */
function outcomeOf({ status_code: code, error, duration_ms: took }: Attempt): string {
  if (code !== null) return `${code} in ${milliseconds(took)}`;
  const words = errorInShort(error);
  return words === "timeout" ? `timeout after ${milliseconds(took)}` : words;
}

function textOf(delivery: Delivery, planned: readonly number[]): string {
  const { attempts = [], status } = delivery;
  const last = attempts.at(-1);
  if (planned.length > 0)
    return planned.length > PLANNED_SHOWN
      ? `${count(planned.length)} more until ${axisTime(planned.at(-1)!, true)}`
      : "";
  if (status === "canceled") return "canceled";
  if (last === undefined || stateOf(delivery) === "held") return "held: disabled";
  if (isSuccess(last.status_code))
    return attempts.length === 1 ? outcomeOf(last) : `${last.status_code} at attempt ${attempts.length}`;
  return status === "failed" ? `gave up: ${outcomeOf(last)}` : outcomeOf(last);
}

/** Returns when the attempts after the next one are likely: the wait doubles up to a maximum, for 3 days. */
export function likelyAttempts({ attempts = [], next_attempt: next, attempt_count: made }: Delivery): number[] {
  if (next === null) return [];
  const last = Date.parse(attempts[0]?.at ?? next) + LIMITS.retryTotalSeconds * 1000;
  const likely: number[] = [];
  let at = Date.parse(next);
  for (let number = made + 1; ; number++) {
    at += retryWait(number) * 1000;
    if (at > last) return likely;
    likely.push(at);
  }
}

const SHORTEST_SECONDS = 60;

/** Returns the place of a time in percent of an axis on which 30 s and 6 h both fit. */
function placeOn(start: number, end: number): (at: number) => number {
  const scale = (at: number) => Math.log2(1 + Math.max(0, at - start) / 10_000);
  const whole = scale(Math.max(end, start + SHORTEST_SECONDS * 1000));
  return (at) => (100 * scale(at)) / whole;
}

const TICKS = [30, 60, 300, 1800, 3600, 6 * 3600, 86_400, 2 * 86_400];
/** Labels of the axis keep this distance, in percent of its length; from the first one, which is a time, another. */
const [GAP, FIRST_GAP] = [18, 30];

function ticksOf(start: number, end: number, place: (at: number) => number, nowAt: number | undefined) {
  const ticks = [{ label: clockTime(new Date(start).toISOString()), at: 0, isNow: false }];
  if (nowAt !== undefined && nowAt >= FIRST_GAP) ticks.push({ label: "now", at: nowAt, isNow: true });
  for (const seconds of TICKS) {
    const at = place(start + seconds * 1000);
    if (
      start + seconds * 1000 > end ||
      ticks.some((tick) => Math.abs(tick.at - at) < (tick.at === 0 ? FIRST_GAP : GAP))
    )
      continue;
    ticks.push({ label: `+${duration(seconds)}`, at, isNow: false });
  }
  return ticks;
}
