import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Statistics, StatisticsEndpoint } from "../../contract/schemas/statistics.ts";
import { clockOffset, environmentNow } from "../clock.ts";
import { about, axisTime, count, counted, shortTime } from "../format.ts";

type Minutes = Statistics["minutes"];

const WIDTH = 1000;
const HEIGHT = 180;
const MAX_TICKS = 8;
/** Minutes between ticks. */
const TICK_STEPS = [10, 30, 60, 240, 1440] as const;

/** The attempts of each interval, failed ones below the line if there are others. */
export function AttemptsChart(props: {
  /** Undefined while they are loaded. */
  minutes: Minutes | undefined;
  /** When the endpoint was created: the chart begins there. */
  created?: string | undefined;
  actions?: ComponentChildren;
}) {
  const { minutes: all = [], created = "", actions } = props;
  const minutes = since(all, created);
  const [pointed, setPointed] = useState<number>();
  const up = Math.max(0, ...minutes.map(({ succeeded }) => succeeded));
  const down = Math.max(0, ...minutes.map(({ failed }) => failed));
  const unit = HEIGHT / Math.max(1, Math.sqrt(up) + Math.sqrt(down));
  const line = up === 0 ? HEIGHT - 1 : Math.sqrt(up) * unit;
  const slot = WIDTH / Math.max(1, minutes.length);
  const shown = minutes[pointed ?? -1];
  const length = lengthOf(minutes);
  const per = length > MINUTE ? `per ${length / MINUTE} minutes` : "per minute";
  const isLong = length * minutes.length > DAY_MILLISECONDS;
  const realNow = placeOfRealTime(minutes);
  const isEmpty = props.minutes !== undefined && up + down === 0;
  const sum = (of: "succeeded" | "failed") => minutes.reduce((total, minute) => total + minute[of], 0);
  const bars = (of: "succeeded" | "failed", sign: 1 | -1) =>
    minutes
      .map(({ [of]: value }, index) =>
        value === 0
          ? ""
          : `M${index * slot + slot * 0.15} ${line + (sign === 1 ? 1 : 0)}h${slot * 0.7}v${sign * Math.sqrt(value) * unit}h${-slot * 0.7}z`,
      )
      .join("");
  return (
    <figure class="chart">
      <figcaption>
        Attempts{" "}
        <small title="The scale is that of square roots: beside a peak, low bars would be flat">
          {isEmpty
            ? "none in this time"
            : `${per}${up === 0 ? ", all failed" : down > 0 ? ", failed ones below the line" : ""}`}
          {minutes.length < all.length && `; created at ${shortTime(Date.parse(created), environmentNow())}`}
          {realNow !== undefined && (
            <span class="real-time">; dashed line: real time, which the sandbox is ahead of</span>
          )}
        </small>
        <span class="legend">
          {shown !== undefined && (
            <>
              <span>{shortTime(Date.parse(shown.at), environmentNow())}</span>
              <span>
                Succeeded<span>{count(shown.succeeded)}</span>
              </span>
              <span>
                Failed<span>{count(shown.failed)}</span>
              </span>
              <span>
                Median<span>{about(shown.latency_p50_ms)}</span>
              </span>
            </>
          )}
        </span>
        {actions}
      </figcaption>
      <div hidden={isEmpty} class={props.minutes === undefined ? "plot unknown" : "plot"}>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Attempts ${per}: ${count(sum("succeeded"))} succeeded, ${count(sum("failed"))} failed`}
          onPointerMove={({ currentTarget, clientX }) => {
            const { left, width } = currentTarget.getBoundingClientRect();
            setPointed(
              Math.min(minutes.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * minutes.length))),
            );
          }}
          onPointerLeave={() => setPointed(undefined)}
        >
          {shown !== undefined && <rect class="pointed" x={pointed! * slot} y={0} width={slot} height={HEIGHT} />}
          <path class="grid" d={`M0 ${line + 0.5}H${WIDTH}`} />
          <path class="up" d={bars("succeeded", -1)} />
          <path class="down" d={bars("failed", up === 0 ? -1 : 1)} />
          {realNow !== undefined && (
            <path class="real-time" d={`M${Math.round(realNow * minutes.length) * slot} 0V${HEIGHT}`} />
          )}
        </svg>
        <span class="axis" aria-hidden="true">
          <span>{count(up === 0 ? down : up)}</span>
          <span>{up === 0 ? 0 : count(down)}</span>
        </span>
        <span class="times" aria-hidden="true">
          {ticksOf(minutes).map(([at, place]) => (
            <span key={at} class={place < 0.02 ? "first" : undefined} style={{ left: `${100 * place}%` }}>
              {axisTime(at, isLong)}
            </span>
          ))}
        </span>
      </div>
    </figure>
  );
}

/** Minimum number of bars of a chart. */
const MIN_BARS = 60;

/** Returns the intervals from that of a time on, of those in the order of their times. */
function since(minutes: Minutes, time: string): Minutes {
  const first = minutes.findLastIndex(({ at }) => at <= time);
  return minutes.slice(Math.max(0, Math.min(first, minutes.length - MIN_BARS)));
}

const MINUTE = 60_000;
const DAY_MILLISECONDS = 1440 * MINUTE;

/** Returns the length of an interval, in milliseconds. */
function lengthOf([first, second]: Minutes): number {
  return first === undefined || second === undefined ? MINUTE : Date.parse(second.at) - Date.parse(first.at);
}

/** Returns round local times on the axis, with their places from 0 to 1. */
function ticksOf(minutes: Minutes): (readonly [at: number, place: number])[] {
  const [first] = minutes;
  if (first === undefined) return [];
  const start = Date.parse(first.at);
  const span = lengthOf(minutes) * minutes.length;
  const step = MINUTE * (TICK_STEPS.find((step) => span / MINUTE / step <= MAX_TICKS) ?? TICK_STEPS.at(-1)!);
  const zone = new Date(start).getTimezoneOffset() * MINUTE;
  const ticks: (readonly [number, number])[] = [];
  for (let at = Math.ceil((start - zone) / step) * step + zone; at <= start + span; at += step) {
    ticks.push([at, (at - start) / span]);
  }
  return ticks;
}

/** Returns the position of real time on the axis, from 0 to 1: a sandbox's clock may be ahead of it. */
function placeOfRealTime(minutes: Minutes): number | undefined {
  const [first] = minutes;
  if (clockOffset.value === 0 || first === undefined) return undefined;
  const place = (Date.now() - Date.parse(first.at)) / (lengthOf(minutes) * minutes.length);
  return place >= 0 && place <= 1 ? place : undefined;
}

/** The last attempts of an endpoint as cells of one height, each as red as its share of failures. */
export function Strip({ counts }: { counts: StatisticsEndpoint }) {
  const { attempts, failed, intervals } = counts;
  return (
    <span class="strip" role="img" aria-label={`${counted(attempts, "attempt")}, ${count(failed)} failed`}>
      {intervals.map((interval) => {
        const all = interval.succeeded + interval.failed;
        const title = `${shortTime(Date.parse(interval.at), environmentNow())}: ${counted(all, "attempt")}, ${count(interval.failed)} failed`;
        return (
          <span
            key={interval.at}
            class={all === 0 ? "none" : undefined}
            title={title}
            style={{ "--failed": `${all === 0 ? 0 : (100 * interval.failed) / all}%` }}
          />
        );
      })}
    </span>
  );
}
