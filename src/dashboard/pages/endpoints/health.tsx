import type { Statistics } from "../../../contract/schemas/statistics.ts";
import { Chart } from "../../components/chart.tsx";
import { count, milliseconds } from "../../format.ts";

/** An endpoint's last three hours; the charts have their place before there is anything to draw. */
export function Health({ minutes }: { minutes: Statistics["minutes"] }) {
  const times = minutes.map(({ at }) => Date.parse(at) / 1000);
  const failed = minutes.reduce((total, minute) => total + minute.failed, 0);
  const succeeded = minutes.reduce((total, minute) => total + minute.succeeded, 0);
  return (
    <div class="charts">
      <Chart
        title="Attempts per minute, last 3 hours"
        summary={`${succeeded} succeeded, ${failed} failed`}
        times={times}
        write={count}
        series={[
          { label: "Succeeded", colour: 2, values: minutes.map((minute) => minute.succeeded) },
          { label: "Failed", colour: 3, values: minutes.map((minute) => minute.failed), isDashed: true },
        ]}
      />
      <Chart
        title="Latency"
        summary="how long its replies took"
        times={times}
        write={milliseconds}
        series={[
          { label: "Half within", colour: 1, values: minutes.map((minute) => minute.latency_p50_ms) },
          { label: "95 % within", colour: 3, values: minutes.map((minute) => minute.latency_p95_ms), isDashed: true },
        ]}
      />
    </div>
  );
}
