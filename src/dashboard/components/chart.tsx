import { useState } from "preact/hooks";
import type { Statistics, StatisticsEndpoint } from "../../contract/schemas/statistics.ts";
import { clockOffset } from "../clock.ts";
import { count, counted, milliseconds, shortTime } from "../format.ts";

type Minutes = Statistics["minutes"];

const WIDTH = 1000;
const HEIGHT = 180;
/** An even number: narrow charts leave out every second one. */
const TICKS = 6;

/** The attempts of each minute, failed ones below the line. */
export function AttemptsChart({ minutes }: { minutes: Minutes }) {
  const [pointed, setPointed] = useState<number>();
  const up = Math.max(0, ...minutes.map(({ succeeded }) => succeeded));
  const down = Math.max(0, ...minutes.map(({ failed }) => failed));
  const unit = HEIGHT / Math.max(1, up + down);
  const line = up + down === 0 ? HEIGHT - 1 : up * unit;
  const slot = WIDTH / Math.max(1, minutes.length);
  const shown = minutes[pointed ?? -1];
  const realNow = placeOfRealTime(minutes);
  const sum = (of: "succeeded" | "failed") => minutes.reduce((total, minute) => total + minute[of], 0);
  const bars = (of: "succeeded" | "failed", sign: 1 | -1) =>
    minutes
      .map(({ [of]: value }, index) =>
        value === 0
          ? ""
          : `M${index * slot + slot * 0.15} ${line + (sign === 1 ? 1 : 0)}h${slot * 0.7}v${sign * Math.max(1.5, value * unit)}h${-slot * 0.7}z`,
      )
      .join("");
  return (
    <figure class="chart">
      <figcaption>
        Attempts{" "}
        <small>
          per minute{down > 0 ? ", failed below the line" : ""}
          {realNow !== undefined && <span class="real-time">; the dashed line is real time</span>}
        </small>
        <span class="legend">
          {shown !== undefined && (
            <>
              <span>{shortTime(Date.parse(shown.at))}</span>
              <span>
                Succeeded<span>{count(shown.succeeded)}</span>
              </span>
              <span>
                Failed<span>{count(shown.failed)}</span>
              </span>
              <span>
                Median<span>{milliseconds(shown.latency_p50_ms)}</span>
              </span>
            </>
          )}
        </span>
      </figcaption>
      <div class="plot">
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Attempts per minute: ${count(sum("succeeded"))} succeeded, ${count(sum("failed"))} failed`}
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
          <path class="down" d={bars("failed", 1)} />
          {realNow !== undefined && <path class="real-time" d={`M${realNow * WIDTH} 0V${HEIGHT}`} />}
        </svg>
        <span class="axis" aria-hidden="true">
          <span>{count(up)}</span>
          <span>{down > 0 ? count(down) : 0}</span>
        </span>
        {sum("succeeded") + sum("failed") === 0 && <span class="nothing">No attempts in this time</span>}
        <span class="times" aria-hidden="true">
          {Array.from({ length: TICKS + 1 }, (_tick, index) => {
            // The last one is the end, which is now.
            const at = Math.min(minutes.length - 1, Math.round((index * minutes.length) / TICKS));
            const minute = minutes[at];
            return (
              minute && (
                <span key={index} style={{ left: `${(100 * index) / TICKS}%` }}>
                  {shortTime(Date.parse(minute.at))}
                </span>
              )
            );
          })}
        </span>
      </div>
    </figure>
  );
}

/** Returns the position of real time on the axis, from 0 to 1: a sandbox's clock may be ahead of it. */
function placeOfRealTime(minutes: Minutes): number | undefined {
  const [first, second] = minutes.map(({ at }) => Date.parse(at));
  if (clockOffset.value === 0 || first === undefined || second === undefined) return undefined;
  const place = (Date.now() - first) / ((second - first) * minutes.length);
  return place >= 0 && place <= 1 ? place : undefined;
}

/** The last attempts of an endpoint as cells of one height, each as red as its share of failures. */
export function Strip({ counts, isWide = false }: { counts: StatisticsEndpoint; isWide?: boolean }) {
  const { attempts, failed, intervals } = counts;
  return (
    <span
      class={isWide ? "strip wide" : "strip"}
      role="img"
      aria-label={`${counted(attempts, "attempt")}, ${count(failed)} failed`}
    >
      {intervals.map((interval) => {
        const all = interval.succeeded + interval.failed;
        const title = `${shortTime(Date.parse(interval.at))}: ${counted(all, "attempt")}, ${count(interval.failed)} failed`;
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
