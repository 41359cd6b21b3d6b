import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Attempt, Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event } from "../../../contract/schemas/event.ts";
import type { Statistics, StatisticsEndpoint, StatisticsFailure } from "../../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { hasRecovered, isRecoveryReported, newestOf } from "../../../explain/recovery.ts";
import { LIMITS } from "../../../contract/limits.ts";
import { quoted } from "../../../explain/finding.ts";
import { useCall, withQuery } from "../../api/call.ts";
import { isFailing, nameOfEndpoint } from "../../api/endpoints.ts";
import { useQuery, useRedraw } from "../../api/store.ts";
import { environmentNow } from "../../clock.ts";
import { Strip } from "../../components/chart.tsx";
import { MoreMenu } from "../../components/menu.tsx";
import { Table } from "../../components/table.tsx";
import { None, Status, Unknown } from "../../components/values.tsx";
import { count, counted, percent, shortTime } from "../../format.ts";
import { isTimeout, outcomeInWords } from "../../responses.ts";
import { go, hrefOf, Link } from "../../router.tsx";
import { EndpointDialog } from "../endpoints/dialogs.tsx";

type Counts = Pick<StatisticsEndpoint, "endpoint" | "attempts" | "failed" | "pending" | "failed_deliveries">;

/** Of all listeners, as a filter of deliveries names them. */
const NO_COUNTS = { endpoint: "listeners", attempts: 0, failed: 0, pending: 0 };

/** The standing of an endpoint. All listeners together have none. */
export interface Standing {
  endpoint: WebhookEndpoint | undefined;
  counts: Counts | undefined;
  failures: readonly StatisticsFailure[];
  /** How many events it missed since it was disabled; undefined until they are counted. */
  missed: number | undefined;
  state: "failing" | "disabled" | "slow" | "undelivered" | "recovered" | "healthy" | "quiet";
  text: string;
  /** The higher, the more it needs attention. */
  rank: number;
}

/** Returns each endpoint with its state, in the order in which a user should act: none until the statistics are known. */
export function useStandings(
  statistics: Statistics | undefined,
  endpoints: readonly WebhookEndpoint[] | undefined,
  missed: ReadonlyMap<string, number> | undefined,
): { standings: Standing[]; areKnown: boolean } {
  const of = (recoveries: readonly Event[]) =>
    statistics === undefined ? [] : standingsOf(statistics, recoveries, endpoints, missed);
  const standings = of([]);
  const isAsked = standings.some(({ endpoint, state }) => endpoint !== undefined && state === "slow");
  const query = { type: "webhook_endpoint.recovered", limit: LIMITS.maxPageSize };
  const { data, error } = useQuery<{ data: Event[] }>(isAsked ? withQuery("/v1/events", query) : undefined);
  return {
    standings: data === undefined ? standings : of(data.data),
    areKnown: statistics !== undefined && (!isAsked || (data ?? error) !== undefined),
  };
}

/** The disabled ones get nothing. */
function standingsOf(
  statistics: Statistics,
  /** The reports that endpoints work again, newest first. */
  recoveries: readonly Event[],
  endpoints: readonly WebhookEndpoint[] = [],
  missed?: ReadonlyMap<string, number>,
): Standing[] {
  const failuresOf = (id: string | null) => statistics.failures.filter(({ endpoint }) => endpoint === id);
  const found = endpoints.map((endpoint) => {
    const counts = statistics.endpoints.find(({ endpoint: id }) => id === endpoint.id);
    const failures = failuresOf(endpoint.id);
    const reported = recoveries.find(({ data }) => data.object["id"] === endpoint.id);
    const isBack = counts !== undefined && isRecoveryReported(reported, counts, failures);
    return { ...standingOf(endpoint, counts, failures, isBack), missed: missed?.get(endpoint.id) };
  });
  const { failed_listener_deliveries: listeners } = statistics;
  // What a listener will retry has a result so far; what failed in the end is a failed delivery.
  if (listeners + statistics.listener_results.length > 0) {
    const attempts = failuresOf(null).reduce((total, failure) => total + failure.count, 0);
    found.push({
      endpoint: undefined,
      counts: { ...NO_COUNTS, failed_deliveries: listeners },
      failures: failuresOf(null),
      missed: undefined,
      state: listeners > 0 ? "undelivered" : "slow",
      text: attempts > 0 ? `${counted(attempts, "attempt")} failed` : "Not delivered",
      rank: 4,
    });
  }
  const lateOf = (one: Standing) => lostOf(one) + waitingOf(one);
  const urgencyOf = (one: Standing) => (one.state === "disabled" && lateOf(one) > 0 ? TROUBLE : one.rank);
  return found.toSorted((a, b) => urgencyOf(b) - urgencyOf(a) || lateOf(b) - lateOf(a));
}

/** Returns how many deliveries failed for good, and how many events were not sent. */
export function lostOf({ counts, missed = 0 }: Pick<Standing, "counts" | "missed">): number {
  return (counts?.failed_deliveries ?? 0) + missed;
}

export function waitingOf({ counts }: Pick<Standing, "counts">): number {
  return counts?.pending ?? 0;
}

/** Returns why deliveries to an endpoint are pending. After failures, few are queued for their first attempt. */
function pendingState({ endpoint, counts }: Pick<Standing, "endpoint" | "counts">): "held" | "retrying" | "queued" {
  if (endpoint?.status === "disabled") return "held";
  return (counts?.failed ?? 0) > 0 || (endpoint?.health.failing_since ?? null) !== null ? "retrying" : "queued";
}

/** Returns how many deliveries are pending in each state, without those that have none. */
export function pendingStates(standings: readonly Standing[]) {
  return (["retrying", "queued", "held"] as const)
    .map((state) => ({
      state,
      number: standings.reduce((sum, one) => sum + (pendingState(one) === state ? waitingOf(one) : 0), 0),
    }))
    .filter(({ number }) => number > 0);
}

export function standingOf(
  endpoint: WebhookEndpoint,
  counts: StatisticsEndpoint | undefined,
  failures: readonly StatisticsFailure[],
  /** Set if the platform has reported that it works again. */
  isReported = false,
): Standing {
  const standing = (state: Standing["state"], text: string, rank: number) => {
    return { endpoint, counts, failures, missed: undefined, state, text, rank };
  };
  const { failing_since: since } = endpoint.health;
  if (endpoint.status === "disabled") {
    return endpoint.disabled_reason === "gone"
      ? standing(
          "disabled",
          `Disabled since ${shortTime(Date.parse(endpoint.disabled_at ?? ""), environmentNow())}`,
          TROUBLE,
        )
      : standing("disabled", "Disabled", 0);
  }
  const { attempts = 0, failed = 0, pending = 0, failed_deliveries: lost = 0 } = counts ?? {};
  if (isFailing(endpoint, counts)) {
    return standing(
      "failing",
      since !== null
        ? `Failing since ${shortTime(Date.parse(since), environmentNow())}`
        : attempts === 1
          ? "1 attempt failed"
          : `All ${counted(attempts, "attempt")} failed`,
      5,
    );
  }
  if (counts === undefined) return standing("quiet", "Idle", 2);
  if (attempts === 0) {
    return lost > 0 ? standing("undelivered", `Idle, ${count(lost)} not delivered`, 4) : standing("quiet", "Idle", 2);
  }
  const isBack = failed === 0 || isReported || hasRecovered(endpoint, counts, failures);
  if (isBack && lost > 0) return standing("undelivered", `Working, ${count(lost)} not delivered`, 4);
  // Without a failure, what waits is only on its way.
  if (isBack && failed > 0 && pending > 0) return standing("recovered", `Works again, ${count(pending)} retrying`, 4);
  if (failed === 0) return standing("healthy", "Healthy", 1);
  if (isBack) {
    return standing(
      "recovered",
      `Recovered, failed until ${shortTime(Date.parse(newestOf(failures)), environmentNow())}`,
      2,
    );
  }
  const areTimeouts = failures.length > 0 && failures.every(({ error }) => isTimeout(error));
  return standing("slow", `${percent(failed, attempts)} ${areTimeouts ? "timed out" : "failed"}`, 4);
}

/** The shape of a standing: a recovered endpoint is a healthy one. */
export function StandingStatus({ standing: { state, text } }: { standing: Standing }) {
  return <Status status={state === "recovered" ? "healthy" : state} text={text} />;
}

/** The rank from which an endpoint needs attention. */
export const TROUBLE = 3;

/** Every endpoint in a row, the worst first: since when it fails and why, how many deliveries wait, and what to do. */
export function EndpointTable(props: {
  standings: readonly Standing[];
  /** Counts of the range that the page shows. */
  shown: readonly StatisticsEndpoint[];
  onChange: () => void;
}) {
  const { standings, shown, onChange } = props;
  const isTroubled = ({ rank }: Standing) => rank >= TROUBLE;
  const lastOf = useLastFailures(standings.filter(isTroubled));
  return (
    <div class="endpoint-table">
      <Table
        label="Endpoints, worst first"
        items={standings}
        keyOf={({ endpoint }) => endpoint?.id ?? "listeners"}
        isRanked
        columns={[
          {
            label: "Endpoint",
            isLong: true,
            cell: (standing) => (
              <>
                {standing.endpoint === undefined ? (
                  <Link href={hrefOf("deliveries", "", { endpoint: NO_COUNTS.endpoint })}>Listeners</Link>
                ) : (
                  <Link href={hrefOf("endpoints", standing.endpoint.id)}>{nameOfEndpoint(standing.endpoint)}</Link>
                )}
                {isTroubled(standing) && (
                  <span class="narrow-only">
                    <Cause standing={standing} last={lastOf(standing)} />
                  </span>
                )}
              </>
            ),
          },
          { label: "State", cell: (standing) => <StandingStatus standing={standing} /> },
          {
            label: "Attempts",
            from: "desktop",
            isFor: ({ endpoint }) => shown.some(({ endpoint: id, attempts }) => id === endpoint?.id && attempts > 0),
            cell: ({ endpoint }) => {
              const counts = shown.find(({ endpoint: id }) => id === endpoint?.id);
              return counts === undefined ? <None /> : <Strip counts={counts} />;
            },
          },
          {
            label: "Cause",
            from: "desktop",
            isLong: true,
            isFor: (standing) =>
              isTroubled(standing) || (standing.state === "disabled" && standing.failures.length > 0),
            cell: (standing) => <Cause standing={standing} last={lastOf(standing)} />,
          },
          {
            label: "Not delivered or missed",
            isNumber: true,
            cell: ({ endpoint, counts, missed }) =>
              counts && <NotDelivered endpoint={endpoint} counts={counts} missed={missed} />,
          },
          {
            label: "Actions",
            cell: ({ endpoint, counts }) =>
              endpoint && <RowActions endpoint={endpoint} counts={counts} onChange={onChange} />,
          },
        ]}
      />
    </div>
  );
}

/** How many deliveries of an endpoint are pending or failed for good, and how many events it missed while disabled. */
export function NotDelivered(props: {
  counts: Counts;
  /** Undefined for listeners. */
  endpoint: WebhookEndpoint | undefined;
  missed: number | undefined;
}) {
  const { counts, endpoint: of } = props;
  const { endpoint, pending, failed_deliveries: failed } = counts;
  const name = of === undefined ? "Listeners" : nameOfEndpoint(of);
  const missed = of?.status === "disabled" && <Missed endpoint={of} found={props.missed} />;
  const link = (status: "pending" | "failed", number: number, words: string) =>
    number > 0 && (
      <Link
        class={status === "failed" ? "bad-text underlined" : "underlined"}
        href={hrefOf("deliveries", "", { endpoint, status })}
        label={`${count(number)} ${words}, ${name}`}
      >
        {count(number)} {words}
      </Link>
    );
  if (pending + failed === 0) return missed || <span class="soft">0</span>;
  return (
    <>
      {link("failed", failed, "failed")}
      {failed > 0 && pending > 0 && ", "}
      {link("pending", pending, pendingState({ endpoint: of, counts }))}
      {missed && <>, {missed}</>}
    </>
  );
}

function Missed(props: { endpoint: WebhookEndpoint; found: number | undefined }): ComponentChildren {
  const { endpoint, found } = props;
  if (found === undefined) return <Unknown />;
  if (found === 0) return <span class="soft">0 missed</span>;
  return (
    <Link
      class="underlined"
      href={hrefOf("events", "", { missed_by: endpoint.id })}
      label={`${count(found)} missed, ${nameOfEndpoint(endpoint)}`}
    >
      {count(found)} missed
    </Link>
  );
}

/** Returns the last unsuccessful attempt of each endpoint: undefined until it is read, and null if there is none. */
function useLastFailures(standings: readonly Standing[]): (standing: Standing) => Attempt | null | undefined {
  const call = useCall();
  const draw = useRedraw();
  const { current: found } = useRef(new Map<string, Attempt | null | undefined>());
  const keyOf = ({ endpoint, failures: [top] }: Standing) => `${endpoint?.id} ${top?.status_code} ${top?.error}`;
  const read = async (endpoint: string): Promise<Attempt | null> => {
    for (const status of ["retrying", "failed"] as const) {
      const query = { endpoint, status, limit: 1 };
      const { data } = await call<{ data: Delivery[] }>("GET", withQuery("/v1/deliveries", query));
      if (data[0] === undefined) continue;
      const { attempts = [] } = await call<Delivery>("GET", `/v1/deliveries/${data[0].id}`);
      return attempts.at(-1) ?? null;
    }
    return null;
  };
  useEffect(() => {
    for (const standing of standings) {
      const { endpoint, failures } = standing;
      const key = keyOf(standing);
      // Without a response, there is nothing to quote.
      if (endpoint === undefined || failures[0]?.status_code === null || found.has(key)) continue;
      found.set(key, undefined);
      void read(endpoint.id)
        .catch(() => null)
        .then((attempt) => {
          found.set(key, attempt);
          draw();
        });
    }
  });
  return (standing) => found.get(keyOf(standing));
}

/** The last unsuccessful response of an endpoint. */
function Cause({ standing: { state, failures }, last }: { standing: Standing; last: Attempt | null | undefined }) {
  // An endpoint may fail since before the counted time.
  const top = failures[0] ?? last;
  if (top === undefined) return <Unknown />;
  if (top === null) return <None />;
  const words = outcomeInWords(top.status_code, top.error);
  const quote = quoted(last?.response_excerpt ?? null);
  const isOver = state === "recovered" || state === "undelivered";
  return (
    <span title={[words, quote || top.error].filter(Boolean).join("\n")}>
      <span class={isOver ? "soft" : "bad-text"}>{words}</span> <span class="soft">{quote}</span>
    </span>
  );
}

function RowActions(props: { endpoint: WebhookEndpoint; counts: Counts | undefined; onChange: () => void }) {
  const { endpoint, counts, onChange } = props;
  const waiting = counts?.pending ?? 0;
  const [openDialog, setOpenDialog] = useState<"retry" | "enable" | "test" | "disable">();
  const { id } = endpoint;
  const name = nameOfEndpoint(endpoint);
  const isEnabled = endpoint.status === "enabled";
  const undelivered = waiting > 0 ? { status: "pending" } : counts?.failed_deliveries ? { status: "failed" } : {};
  return (
    <span class="row-actions">
      <MoreMenu
        of={name}
        items={[
          { label: "Show deliveries", onSelect: () => go(hrefOf("deliveries", "", { endpoint: id, ...undelivered })) },
          ...(isEnabled
            ? [
                { label: "Retry deliveries", onSelect: () => setOpenDialog("retry") },
                { label: "Send test event", onSelect: () => setOpenDialog("test") },
                { label: "Disable", onSelect: () => setOpenDialog("disable") },
              ]
            : [{ label: "Enable and replay", onSelect: () => setOpenDialog("enable") }]),
        ]}
      />
      {openDialog !== undefined && (
        <EndpointDialog
          open={openDialog}
          endpoint={endpoint}
          onChange={onChange}
          onClose={() => setOpenDialog(undefined)}
        />
      )}
    </span>
  );
}
