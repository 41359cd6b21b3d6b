import type { Statistics } from "../../../contract/schemas/statistics.ts";
import type { TestClock } from "../../../contract/schemas/sandbox.ts";
import { LIMITS } from "../../../contract/limits.ts";
import { inProject } from "../../../contract/shell-command.ts";
import { counted } from "../../../contract/words.ts";
import { withQuery } from "../../api/call.ts";
import { shortNameOf, useEndpoints } from "../../api/endpoints.ts";
import { useQuery } from "../../api/store.ts";
import { AttemptsChart } from "../../components/chart.tsx";
import { Card, Empty, Loaded, Page, useWasReady } from "../../components/page.tsx";
import { about, count, duration, milliseconds, percent } from "../../format.ts";
import { lazy } from "../../lazy.tsx";
import { environment, hrefOf, Link } from "../../router.tsx";
import { RetryDeliveries } from "../bulk.tsx";
import { useMissed } from "../enable.tsx";
import { Listeners } from "../listeners.tsx";
import { RunningOperations } from "../operations.tsx";
import { RangeChoice, rangeOf } from "../choice.tsx";
import { EndpointTable, lostOf, pendingStates, type Standing, useStandings, TROUBLE, waitingOf } from "./failures.tsx";
import { useProgress } from "./progress.ts";

const QuickStart = lazy("QuickStart");
/** An attempt that is due may take this long to begin. */
const OVERDUE_SECONDS = 15;
/** The list of endpoints has the others. */
const MAX_ROWS = 10;
/** Of more endpoints with trouble, the headline says how many there are. */
const MAX_NAMED = 2;

export function Overview() {
  const { minutes, period } = rangeOf("1h");
  // A state is a present fact: the range is only that of the chart and of the figures.
  const { data: present } = useQuery<Statistics>("/v1/statistics");
  const ofRange = minutes === LIMITS.statisticsMinutesDefault ? {} : { minutes };
  const statistics = useQuery<Statistics>(withQuery("/v1/statistics", ofRange));
  const known = statistics.data &&
    present && { ...statistics.data, queue: present.queue, failed_deliveries: present.failed_deliveries };
  const endpoints = useEndpoints();
  const { found: missed, error: uncounted } = useMissed(endpoints.items);
  const { standings, areKnown } = useStandings(present, endpoints.items, missed);
  const isCounted = (endpoints.items ?? endpoints.error) !== undefined && (missed ?? uncounted) !== undefined;
  const isReady = useWasReady(areKnown && isCounted);
  const rest = standings.slice(MAX_ROWS);
  const isTroubled = standings.some(({ rank }) => rank >= TROUBLE);
  const progress = useProgress(endpoints, environment.value === "sandbox" && !isTroubled);
  const failing = standings.filter(({ state }) => state === "failing");
  const enabled = standings.filter(({ endpoint }) => endpoint?.status === "enabled");
  return (
    <Page
      title="Overview"
      headline={
        known === undefined || !isReady ? (
          <div class="answer unknown" />
        ) : (
          <Summary standings={standings} statistics={known} period={period} />
        )
      }
      actions={
        isReady && (
          <>
            <RangeChoice preset="1h" />
            {failing.length === 1 && failing[0]?.endpoint !== undefined && (
              <Link class="button primary" href={hrefOf("endpoints", failing[0].endpoint.id)}>
                Why {shortNameOf(failing[0].endpoint)} fails
              </Link>
            )}
            {(enabled.some(({ counts }) => (counts?.failed_deliveries ?? 0) > 0) ||
              failing.some((one) => waitingOf(one) > 0)) && (
              <RetryDeliveries
                // A retry before the cause is repaired only uses up an attempt.
                class={failing.length > 0 ? "" : "primary"}
              />
            )}
          </>
        )
      }
    >
      {/* Waits for the content above, so that nothing moves down later. */}
      <Loaded of={{ ...statistics, data: progress === undefined || !isReady ? undefined : known }}>
        {(data) => (
          <>
            {progress && <QuickStart progress={progress} />}
            <RunningOperations />
            <Figures statistics={data} standings={standings} />
            <Listeners statistics={data} />
            <Card
              title="Endpoints"
              {...(standings.length > 1 && { note: "worst first" })}
              actions={
                standings.length > MAX_ROWS && (
                  <>
                    <span class="soft">{othersInWords(rest)}</span>{" "}
                    <Link href={hrefOf("endpoints")}>
                      All {count(standings.filter(({ endpoint }) => endpoint !== undefined).length)} endpoints
                    </Link>
                  </>
                )
              }
            >
              {standings.length === 0 ? (
                <Empty title="No endpoints yet">
                  <p>
                    <Link href={hrefOf("endpoints", "", { create: "1" })}>Create an endpoint</Link>
                    {environment.value === "sandbox" ? (
                      <>
                        , or forward events to your machine with <code>{inProject("service listen")}</code>.
                      </>
                    ) : (
                      <>
                        {" "}
                        at your application’s public URL, and a <Link href={hrefOf("keys")}>live API key</Link>: its
                        requests are the first events here. <a href="/docs/guides/go-live.html">Going live</a> has all
                        steps.
                      </>
                    )}
                  </p>
                </Empty>
              ) : (
                <EndpointTable
                  standings={standings.slice(0, MAX_ROWS)}
                  shown={data.endpoints}
                  onChange={endpoints.reload}
                />
              )}
            </Card>
            {standings.length + data.totals.attempts > 0 && <AttemptsChart minutes={data.minutes} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Returns how bad the endpoints without a row are: `9 more: 2 lost, 14 retrying`. */
function othersInWords(rest: readonly Standing[]): string {
  const lost = rest.reduce((total, standing) => total + lostOf(standing), 0);
  const pending = pendingStates(rest).map(({ state, number }) => `${count(number)} ${state}`);
  const parts = [...(lost > 0 ? [`${count(lost)} lost`] : []), ...pending];
  return `${count(rest.length)} more: ${parts.join(", ") || "nothing lost or retrying"}`;
}

/** The state of everything in a sentence, and the rest below it. */
function Summary(props: { standings: readonly Standing[]; statistics: Statistics; period: string }) {
  const { standings, statistics, period } = props;
  const { totals, queue, failed_deliveries: failed } = statistics;
  const failing = standings.filter(({ state }) => state === "failing");
  const disabled = standings.filter((one) => one.endpoint?.status === "disabled" && waitingOf(one) + lostOf(one) > 0);
  const slow = standings.filter(({ state }) => state === "slow");
  const isNamed = failing.length + disabled.length + slow.length <= MAX_NAMED;
  const inWords = (some: readonly Standing[], one: string, several = one) => {
    const endpoints = some.flatMap(({ endpoint }) => endpoint ?? []);
    const names = isNamed
      ? endpoints.map(shortNameOf)
      : endpoints.length > 0
        ? [counted(endpoints.length, "endpoint")]
        : [];
    const listeners = endpoints.length < some.length ? [names.length > 0 ? "a listener" : "A listener"] : [];
    return `${[...names, ...listeners].join(" and ")} ${some.length === 1 ? one : several}`;
  };
  const slowly = slow.length > 0 && inWords(slow, "failed some of the time");
  const areAllDelivered = queue.pending + failed + missedBy(standings) === 0 && slow.length === 0 && totals.failed > 0;
  const rest = [
    disabled.length > 0 && `${inWords(disabled, "is disabled", "are disabled")}.`,
    failing.length > 0 && slowly && `${slowly}.`,
    failing.length === 0 && areAllDelivered && `${counted(totals.failed, "attempt")} failed before.`,
  ].filter(Boolean);
  return (
    <section class="answer" aria-label="Summary">
      <p>
        {failing.length > 0 ? (
          <em>{inWords(failing, "is failing", "are failing")}.</em>
        ) : totals.attempts === 0 ? (
          `Nothing was sent in the ${period}.`
        ) : totals.failed === 0 ? (
          `No attempts failed in the ${period}.`
        ) : (
          `${slowly || (areAllDelivered ? "All deliveries have arrived" : "All endpoints work again")}.`
        )}
      </p>
      {rest.length > 0 && <p class="evidence">{rest.join(" ")}</p>}
    </section>
  );
}

/** Returns how many events disabled endpoints missed. */
function missedBy(standings: readonly Standing[]): number {
  return standings.reduce((sum, { missed = 0 }) => sum + missed, 0);
}

function Figures({ statistics, standings }: { statistics: Statistics; standings: readonly Standing[] }) {
  const { totals, queue, minutes, failed_deliveries: failed } = statistics;
  // The sandbox's time jumps while it advances.
  const { data: clock } = useQuery<TestClock>(environment.value === "sandbox" ? "/v1/test_clock" : undefined);
  const { events, attempts, succeeded } = totals;
  const overdue = queue.oldest_due_seconds;
  const missed = missedBy(standings);
  const missing = standings.filter((one) => (one.missed ?? 0) > 0);
  if (events + attempts + queue.pending + failed === 0) return null;
  const nbsp = (words: string) => words.replaceAll(" ", "\u00a0");
  const late =
    overdue >= OVERDUE_SECONDS && clock?.status !== "advancing" ? `; the oldest is ${duration(overdue)} overdue` : "";
  return (
    <dl class="figures">
      <Figure
        label={events === 1 ? "event" : "events"}
        value={count(events)}
        href={hrefOf("events", "", { created_after: minutes[0]?.at ?? "" })}
      />
      <Figure
        label={attempts === 0 ? "attempts" : `of ${counted(attempts, "attempt")} succeeded`}
        value={attempts === 0 ? "0" : percent(succeeded, attempts)}
      />
      <Figure
        label={`p95 response time${totals.latency_p50_ms === null ? "" : `, median\u00a0${nbsp(milliseconds(totals.latency_p50_ms))}`}`}
        value={
          (totals.latency_p95_ms ?? 0) >= LIMITS.deliverySeconds * 1000
            ? `≥ ${LIMITS.deliverySeconds} s`
            : about(totals.latency_p95_ms)
        }
      />
      {failed > 0 && (
        <Figure
          isNow
          isBad
          label={failed === 1 ? "failed delivery" : "failed deliveries"}
          value={`${count(failed)}${failed === LIMITS.maxCountedFailed ? "+" : ""}`}
          href={hrefOf("deliveries", "", { status: "failed" })}
        />
      )}
      {pendingStates(standings).map(({ state, number }) => (
        <Figure
          key={state}
          isNow
          label={`${number === 1 ? "delivery" : "deliveries"} ${state}${state === "held" ? " for a disabled endpoint" : ` now${late}`}`}
          value={count(number)}
          href={hrefOf("deliveries", "", { status: "pending" })}
        />
      ))}
      {missed > 0 && (
        <Figure
          isNow
          label={`${missed === 1 ? "missed event" : "missed events"} of ${missing.length === 1 ? "a disabled endpoint" : "disabled endpoints"}`}
          value={count(missed)}
          href={
            missing.length === 1 ? hrefOf("events", "", { missed_by: missing[0]!.endpoint!.id }) : hrefOf("endpoints")
          }
        />
      )}
    </dl>
  );
}

function Figure(props: {
  label: string;
  value: string;
  href?: string;
  /** Not of the range. */
  isNow?: boolean;
  isBad?: boolean;
}) {
  const { label, value, href, isNow, isBad = false } = props;
  return (
    <div class={isNow ? "now" : undefined}>
      <dt>{label}</dt>
      <dd>
        {href === undefined ? (
          <strong>{value}</strong>
        ) : (
          <Link href={href} label={`${value} ${label}`}>
            <strong class={isBad ? "bad-text" : undefined}>{value}</strong>
          </Link>
        )}
      </dd>
    </div>
  );
}
