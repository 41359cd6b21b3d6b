import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Statistics } from "../../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { usePages, useQuery } from "../../api/use-query.ts";
import { Chart } from "../../components/chart.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { count, duration, milliseconds, percent } from "../../format.ts";
import { environment } from "../../router.tsx";
import { DeliveryTable } from "../deliveries/delivery-table.tsx";
import { FailureTable } from "./failure-table.tsx";
import { useProgress } from "./progress.ts";
import { QuickStart } from "./quick-start.tsx";
import { useQueueHistory } from "./queue-history.ts";

const EVERY = 2000;

export function Overview() {
  const statistics = useQuery<Statistics>("/v1/statistics", { every: EVERY });
  const endpoints = usePages<WebhookEndpoint>("/v1/webhook_endpoints", {}, { limit: 100, every: 5000 });
  const failed = usePages<Delivery>("/v1/deliveries", { status: "failed" }, { limit: 5, every: EVERY });
  const progress = useProgress(endpoints, environment.value === "sandbox");
  return (
    <Page title="Overview" subtitle={`The last hour in ${environment.value === "live" ? "live" : "the sandbox"}`}>
      {/* What stands above is known first, so that nothing moves down once it is there. */}
      <Loaded of={progress === undefined ? { ...statistics, data: undefined } : statistics}>
        {(data) => (
          <>
            {progress && <QuickStart progress={progress} />}
            <Figures {...data} />
            <Charts {...data} />
            <div class="columns">
              <Card title="What failed, and why">
                {data.failures.length === 0 ? (
                  <Empty title="No attempt failed in the last hour." />
                ) : (
                  <FailureTable failures={data.failures} endpoints={endpoints.items ?? []} />
                )}
              </Card>
              <Card title="Deliveries that were given up">
                {failed.items?.length === 0 ? (
                  <Empty title="None. Retries go on for 3 days before a delivery is given up." />
                ) : (
                  <DeliveryTable label="Deliveries that were given up" pages={{ ...failed, hasMore: false }} />
                )}
              </Card>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Figures({ minutes, queue }: Statistics) {
  const sum = (of: "events" | "attempts" | "succeeded" | "failed") =>
    minutes.reduce((total, minute) => total + minute[of], 0);
  const attempts = sum("attempts");
  const latest = latestWithAttempts(minutes);
  return (
    <dl class="figures">
      <Figure label="Events" value={count(sum("events"))} more="in the last hour" />
      <Figure label="Attempts" value={count(attempts)} more={`${count(sum("failed"))} failed`} />
      <Figure label="Success rate" value={percent(sum("succeeded"), attempts)} more="of attempts" />
      <Figure
        label="Latency"
        value={milliseconds(latest?.latency_p50_ms)}
        more={`95 %: ${milliseconds(latest?.latency_p95_ms)}`}
      />
      <Figure
        label="Queue"
        value={count(queue.pending)}
        more={queue.oldest_due_seconds > 0 ? `oldest due for ${duration(queue.oldest_due_seconds)}` : "nothing overdue"}
      />
    </dl>
  );
}

/** The last minute may have had none, and then no latency either. */
function latestWithAttempts(minutes: Statistics["minutes"]): Statistics["minutes"][number] | undefined {
  return minutes.findLast(({ attempts }) => attempts > 0);
}

function Figure({ label, value, more }: { label: string; value: string; more: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <strong>{value}</strong> <span class="soft">{more}</span>
      </dd>
    </div>
  );
}

function Charts({ minutes, queue, now }: Statistics) {
  const times = minutes.map(({ at }) => Date.parse(at) / 1000);
  const of = <Name extends keyof Statistics["minutes"][number]>(name: Name) => minutes.map((minute) => minute[name]);
  const history = useQueueHistory(Date.parse(now) / 1000, queue.pending);
  const peak = (values: readonly number[]) => Math.max(0, ...values);
  return (
    <div class="charts">
      <Chart
        title="Events and attempts per minute"
        summary={`at most ${peak(of("events"))} events and ${peak(of("attempts"))} attempts in a minute`}
        times={times}
        write={count}
        series={[
          { label: "Events", colour: 1, values: of("events") },
          { label: "Attempts", colour: 2, values: of("attempts"), isDashed: true },
        ]}
      />
      <Chart
        title="Success rate"
        summary={minutes.some(({ failed }) => failed > 0) ? "some attempts failed" : "no attempt failed"}
        times={times}
        highest={105}
        write={(value) => `${value} %`}
        series={[
          {
            label: "Succeeded",
            colour: 2,
            values: minutes.map(({ succeeded, attempts }) => (attempts === 0 ? null : (100 * succeeded) / attempts)),
          },
        ]}
      />
      <Chart
        title="Latency"
        summary={`half of the attempts took at most ${milliseconds(latestWithAttempts(minutes)?.latency_p50_ms)}`}
        times={times}
        write={milliseconds}
        series={[
          { label: "Half within", colour: 1, values: of("latency_p50_ms") },
          { label: "95 % within", colour: 3, values: of("latency_p95_ms"), isDashed: true },
        ]}
      />
      <Chart
        title="Queue depth since this page was opened"
        summary={`${queue.pending} deliveries wait`}
        times={history.times}
        write={count}
        series={[{ label: "Waiting", colour: 3, values: history.values }]}
      />
    </div>
  );
}
