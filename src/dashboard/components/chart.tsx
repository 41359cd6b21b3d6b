import { useState } from "preact/hooks";
import type { Statistics, StatisticsEndpoint } from "../../contract/schemas/statistics.ts";
import { count, counted, milliseconds } from "../format.ts";

/** One series of a chart: bars are stacked, lines are drawn over time with gaps where there is no value. */
export interface Series {
  label: string;
  tone: "good" | "bad" | "accent" | "plain";
  values: readonly (number | null)[];
}

interface ChartProps {
  title: string;
  /** The content of the chart in a sentence. */
  summary: string;
  kind: "bars" | "lines";
  /** Start of each interval, in Unix milliseconds. */
  times: readonly number[];
  series: readonly Series[];
  /** Formats a value for the axis and the tooltip. */
  write: (value: number) => string;
}

const WIDTH = 600;
const HEIGHT = 120;
/** Ends of the axis. Half of each is a whole number, to write in the middle. */
const STEPS = [2, 4, 6, 10]
  .flatMap((step) => [0, 1, 2, 3, 4, 5, 6].map((power) => step * 10 ** power))
  .sort((a, b) => a - b);
const timeOfDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

/** Values over time, with the numbers of an interval under the pointer. */
export function Chart({ title, summary, kind, times, series, write }: ChartProps) {
  const [pointed, setPointed] = useState<number>();
  const totals = times.map((_time, index) => {
    const values = series.map(({ values: of }) => of[index] ?? 0);
    return kind === "bars" ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
  });
  const peak = Math.max(1, ...totals);
  const top = STEPS.find((step) => step >= peak) ?? peak;
  const slot = WIDTH / Math.max(1, times.length);
  const y = (value: number) => HEIGHT - (value / top) * HEIGHT;
  const shown = pointed !== undefined && pointed < times.length ? pointed : undefined;
  return (
    <figure class="chart">
      <figcaption>
        {title}
        <span class="legend">
          {series.map(({ label, tone, values }) => (
            <span key={label} class={`legend-${tone}`}>
              {label}
              {shown !== undefined && <b>{write(values[shown] ?? 0)}</b>}
            </span>
          ))}
        </span>
      </figcaption>
      <div class="plot">
        <span class="axis">
          <span>{write(top)}</span>
          <span>{write(top / 2)}</span>
          <span>0</span>
        </span>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}: ${summary}`}
          onPointerMove={({ currentTarget, clientX }) => {
            const { left, width } = currentTarget.getBoundingClientRect();
            setPointed(Math.min(times.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * times.length))));
          }}
          onPointerLeave={() => setPointed(undefined)}
        >
          <path class="grid" d={`M0 .5H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT - 0.5}H${WIDTH}`} />
          {shown !== undefined && <rect class="pointed" x={shown * slot} y={0} width={slot} height={HEIGHT} />}
          {series.map(({ label, tone, values }, order) => (
            <path
              key={label}
              class={`${kind} ${tone}`}
              d={kind === "lines" ? lineOf(values, slot, y) : barsOf(series.slice(0, order), values, slot, top)}
            />
          ))}
        </svg>
        {totals.every((total) => total === 0) && <span class="nothing">None in this time</span>}
        <span class="times">
          <span>{times.length > 0 && timeOfDay.format(times[0])}</span>
          <span>{shown !== undefined && timeOfDay.format(times[shown])}</span>
          <span>now</span>
        </span>
      </div>
    </figure>
  );
}

/** A segment for each run of values. A single value is as wide as its interval. */
function lineOf(values: readonly (number | null)[], slot: number, y: (value: number) => number): string {
  return values
    .map((value, index) => {
      if (value === null) return "";
      const start = values[index - 1] ?? null;
      const x = (index + 0.5) * slot;
      const isAlone = start === null && (values[index + 1] ?? null) === null;
      return `${start === null ? "M" : "L"}${x - (isAlone ? slot / 2 : 0)} ${y(value)}${isAlone ? `h${slot}` : ""}`;
    })
    .join("");
}

function barsOf(below: readonly Series[], values: readonly (number | null)[], slot: number, top: number): string {
  const gap = slot > 4 ? 1.5 : 0.4;
  return values
    .map((value, index) => {
      if (value === null || value === 0) return "";
      const base = below.reduce((sum, { values: of }) => sum + (of[index] ?? 0), 0);
      const height = (value / top) * HEIGHT;
      return `M${index * slot + gap / 2} ${HEIGHT - (base / top) * HEIGHT}h${slot - gap}v${-height}h${gap - slot}z`;
    })
    .join("");
}

type Minutes = Statistics["minutes"];

/** Delivery attempts of each minute, by their outcome. */
export function AttemptsChart({ title, summary, minutes }: { title: string; summary: string; minutes: Minutes }) {
  return (
    <Chart
      title={title}
      summary={summary}
      kind="bars"
      times={timesOf(minutes)}
      write={count}
      series={[
        { label: "Succeeded", tone: "good", values: minutes.map(({ succeeded }) => succeeded) },
        { label: "Failed", tone: "bad", values: minutes.map(({ failed }) => failed) },
      ]}
    />
  );
}

/** How long the responses of each minute took. */
export function LatencyChart({ summary, minutes }: { summary: string; minutes: Minutes }) {
  return (
    <Chart
      title="Latency"
      summary={summary}
      kind="lines"
      times={timesOf(minutes)}
      write={milliseconds}
      series={[
        { label: "p50", tone: "accent", values: minutes.map((minute) => minute.latency_p50_ms) },
        { label: "p95", tone: "plain", values: minutes.map((minute) => minute.latency_p95_ms) },
      ]}
    />
  );
}

function timesOf(minutes: Minutes): number[] {
  return minutes.map(({ at }) => Date.parse(at));
}

const SPARK_HEIGHT = 20;
const SPARK_SLOT = 6;

/** The attempts of an endpoint in a line of bars, failures above successes. */
export function Sparkline({ counts }: { counts: StatisticsEndpoint }) {
  const { attempts, failed, intervals } = counts;
  const top = Math.max(1, ...intervals.map((interval) => interval.succeeded + interval.failed));
  const bar = (index: number, from: number, value: number) =>
    value === 0
      ? ""
      : `M${index * SPARK_SLOT} ${SPARK_HEIGHT - (from / top) * SPARK_HEIGHT}h${SPARK_SLOT - 1}v${-Math.max(1, (value / top) * SPARK_HEIGHT)}h${1 - SPARK_SLOT}z`;
  const width = intervals.length * SPARK_SLOT;
  return (
    <svg
      class="sparkline plot"
      viewBox={`0 0 ${width} ${SPARK_HEIGHT}`}
      role="img"
      aria-label={`${counted(attempts, "attempt")}, ${count(failed)} failed`}
    >
      <path class="axis-line" d={`M0 ${SPARK_HEIGHT - 0.5}H${width}`} />
      <path class="bars good" d={intervals.map(({ succeeded }, index) => bar(index, 0, succeeded)).join("")} />
      <path
        class="bars bad"
        d={intervals.map((interval, index) => bar(index, interval.succeeded, interval.failed)).join("")}
      />
    </svg>
  );
}
