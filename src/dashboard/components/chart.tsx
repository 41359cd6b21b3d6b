import { useEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";

export interface Series {
  label: string;
  /** One of the chart's colours, by its place in the style sheet. */
  colour: 1 | 2 | 3;
  values: readonly (number | null)[];
  isDashed?: boolean;
}

interface ChartProps {
  title: string;
  /** What the chart says, in a sentence. */
  summary: string;
  /** Unix seconds. */
  times: readonly number[];
  series: readonly Series[];
  /** How a value is written at the axis and in the legend. */
  write: (value: number) => string;
  highest?: number;
}

const HEIGHT = 150;
/** Beside the plot there is room for half of the last time at the axis. */
const PADDING: uPlot.Padding = [10, 28, 0, 0];

/** Lines over time, drawn by a library that loads once a chart is shown. */
export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    let isGone = false;
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const draw = async () => {
      const { default: UPlot } = await import("uplot");
      const element = place.current;
      if (isGone || element === null) return;
      plot.current?.destroy();
      plot.current = new UPlot(optionsOf(latest, element), dataOf(latest.current), element);
    };
    const fit = new ResizeObserver(() => {
      plot.current?.setSize({ width: place.current?.clientWidth ?? 300, height: HEIGHT });
    });
    void draw();
    fit.observe(place.current!);
    const redraw = () => void draw();
    dark.addEventListener("change", redraw);
    return () => {
      isGone = true;
      fit.disconnect();
      dark.removeEventListener("change", redraw);
      plot.current?.destroy();
    };
  }, []);
  useEffect(() => {
    plot.current?.setData(dataOf(props));
  });

  return (
    <figure class="chart">
      <figcaption>
        {props.title}
        <span class="legend">
          {props.series.map(({ label, colour, isDashed }) => (
            <span key={label} class={`legend-${colour}${isDashed === true ? " dashed" : ""}`}>
              {label}
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={place} class="plot" role="img" aria-label={`${props.title}: ${props.summary}`} />
    </figure>
  );
}

const WHOLE_STEPS = [1, 2, 5]
  .flatMap((step) => [0, 1, 2, 3, 4, 5, 6].map((power) => step * 10 ** power))
  .sort((a, b) => a - b);
const timeOfDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const withSeconds = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

function writeTime(seconds: number): string {
  return (seconds % 60 === 0 ? timeOfDay : withSeconds).format(seconds * 1000);
}

/** A line needs two points: a value that stands alone is drawn as one. */
function onlyPoint(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? [];
  const known = [...values.keys()].filter((index) => values[index] !== null && values[index] !== undefined);
  return known.length === 1 ? known : [];
}

function dataOf({ times, series }: ChartProps): uPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}

function optionsOf(latest: { current: ChartProps }, element: HTMLElement): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const axis: uPlot.Axis = {
    stroke: colour("--soft"),
    font,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1, size: 4 },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: PADDING,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      y: {
        range: (_plot, _low, high) => [0, latest.current.highest ?? Math.max(1, (high ?? 0) * 1.15)],
      },
    },
    axes: [
      { ...axis, size: 28, space: 70, values: (_plot, ticks) => ticks.map(writeTime) },
      {
        ...axis,
        size: 58,
        incrs: WHOLE_STEPS,
        values: (_plot, ticks) => ticks.map((tick) => latest.current.write(tick)),
      },
    ],
    series: [
      {},
      ...latest.current.series.map(({ label, colour: index, isDashed }) => ({
        label,
        stroke: colour(`--chart-${index}`),
        width: 2,
        points: { show: true, size: 5, filter: onlyPoint },
        spanGaps: true,
        ...(isDashed === true ? { dash: [5, 4] } : {}),
      })),
    ],
  };
}
