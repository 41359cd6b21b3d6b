import type { ComponentChildren } from "preact";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Statistics } from "../../../contract/schemas/statistics.ts";
import { withQuery } from "../../api/call.ts";
import { usePages } from "../../api/pages.ts";
import { useQuery } from "../../api/store.ts";
import { AttemptsChart, Chart, LatencyChart } from "../../components/chart.tsx";
import { Icon } from "../../components/icon.tsx";
import { Card, Empty, Loaded, Page } from "../../components/page.tsx";
import { count, duration, milliseconds, percent } from "../../format.ts";
import { environment, hrefOf, Link } from "../../router.tsx";
import { DeliveryTable, useEndpoints } from "../deliveries.tsx";
import { RunningOperations } from "../bulk.tsx";
import { Choice, filterOf } from "../filters.tsx";
import { FailingEndpoints, failingOf } from "./failures.tsx";
import { useProgress } from "./progress.ts";
import { QuickStart } from "./quick-start.tsx";

const RANGES = { "": [60, "last hour"], "6h": [360, "last 6 hours"] } as const;

export function Overview() {
  const range = filterOf("range") === "6h" ? "6h" : "";
  const [minutes, period] = RANGES[range];
  const statistics = useQuery<Statistics>(withQuery("/v1/statistics", { minutes }));
  const endpoints = useEndpoints();
  const failed = usePages<Delivery>("/v1/deliveries", { status: "failed" }, { limit: 5 });
  const progress = useProgress(endpoints, environment.value === "sandbox");
  return (
    <Page
      title="Overview"
      actions={
        <Choice
          label="Range"
          name="range"
          options={[
            ["", "Last hour"],
            ["6h", "Last 6 hours"],
          ]}
        />
      }
    >
      {/* Waits for the content above, so that nothing moves down later. */}
      <Loaded of={progress === undefined ? { ...statistics, data: undefined } : statistics}>
        {(data) => {
          const failing = failingOf(data, endpoints.items);
          return (
            <>
              {progress && <QuickStart progress={progress} />}
              <RunningOperations />
              <Card title="Failing endpoints">
                {failing.length === 0 ? (
                  <p class="all-well">
                    <Icon name="check" />{" "}
                    {data.totals.failed === 0 ? `No attempts failed in the ${period}` : "All endpoints work again"}
                  </p>
                ) : (
                  <FailingEndpoints failing={failing} onChange={endpoints.reload} />
                )}
              </Card>
              <Figures {...data} period={period} since={data.minutes[0]?.at ?? ""} />
              <Charts {...data} />
              {(failed.items?.length ?? 0) > 0 && (
                <Card
                  title="Failed deliveries"
                  actions={<Link href={hrefOf("deliveries", "", { status: "failed" })}>Show all</Link>}
                >
                  <DeliveryTable
                    label="Failed deliveries"
                    pages={{ ...failed, hasMore: false }}
                    empty={<Empty title="No failed deliveries" />}
                  />
                </Card>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

function Figures({ totals, queue, period, since }: Statistics & { period: string; since: string }) {
  const created = { created_after: since };
  const { events, attempts, succeeded, failed } = totals;
  const overdue = queue.oldest_due_seconds;
  return (
    <dl class="figures">
      <Figure label="Events" value={count(events)} more={period} href={hrefOf("events", "", created)} />
      <Figure label="Attempts" value={count(attempts)} more={period} href={hrefOf("deliveries", "", created)} />
      <Figure
        label="Success rate"
        value={percent(succeeded, attempts)}
        more={`${count(failed)} failed`}
        href={hrefOf("deliveries", "", { status: "failed" })}
      />
      <Figure
        label="Latency p50 / p95"
        value={`${milliseconds(totals.latency_p50_ms)} / ${milliseconds(totals.latency_p95_ms)}`}
        more={period}
        href={hrefOf("deliveries", "", { status: "succeeded", ...created })}
      />
      <Figure
        label="Pending deliveries"
        value={count(queue.pending)}
        more={overdue > 0 ? `oldest overdue by ${duration(overdue)}` : "none overdue"}
        href={hrefOf("deliveries", "", { status: "pending" })}
      />
    </dl>
  );
}

function Figure(props: { label: string; value: string; more: ComponentChildren; href?: string }) {
  const value = <strong>{props.value}</strong>;
  return (
    <div>
      <dt>{props.label}</dt>
      <dd>
        {props.href === undefined ? (
          value
        ) : (
          <Link href={props.href} label={`${props.label}: ${props.value}`}>
            {value}
          </Link>
        )}
        <span class="soft">{props.more}</span>
      </dd>
    </div>
  );
}

function Charts({ minutes, totals }: Statistics) {
  const times = minutes.map(({ at }) => Date.parse(at));
  const peak = Math.max(0, ...minutes.map(({ events }) => events));
  return (
    <div class="charts">
      <Chart
        title="Events per minute"
        summary={`at most ${count(peak)} in a minute`}
        kind="bars"
        times={times}
        write={count}
        series={[{ label: "Events", tone: "accent", values: minutes.map(({ events }) => events) }]}
      />
      <AttemptsChart
        title="Attempts per minute"
        summary={`${count(totals.succeeded)} succeeded, ${count(totals.failed)} failed`}
        minutes={minutes}
      />
      <LatencyChart summary={`median latency ${milliseconds(totals.latency_p50_ms)}`} minutes={minutes} />
    </div>
  );
}
