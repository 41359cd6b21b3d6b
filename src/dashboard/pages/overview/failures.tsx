import type { Statistics, StatisticsFailure } from "../../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { call, withQuery } from "../../api/call.ts";
import { useQuery } from "../../api/store.ts";
import { Action } from "../../components/action.tsx";
import { Table } from "../../components/table.tsx";
import { Status, StatusCode, Time } from "../../components/values.tsx";
import { count, percent } from "../../format.ts";
import { hrefOf, Link } from "../../router.tsx";
import { RetryFailed } from "../bulk.tsx";

/** Failed attempts by their outcome. */
export function FailureTable({ failures }: { failures: readonly StatisticsFailure[] }) {
  return (
    <Table
      label="Failed attempts by outcome"
      items={failures}
      keyOf={({ endpoint, status_code, error }) => JSON.stringify([endpoint, status_code, error])}
      columns={[
        { label: "Status", cell: ({ status_code: code, error }) => <StatusCode code={code} error={error} /> },
        { label: "Error", isLong: true, cell: ({ error }) => <span title={error ?? ""}>{error ?? "–"}</span> },
        { label: "Attempts", isNumber: true, cell: (failure) => count(failure.count) },
        { label: "Last", from: "tablet", cell: ({ last_at: at }) => <Time at={at} /> },
      ]}
    />
  );
}

/** An endpoint, or all listeners, with its failures, the most frequent first. */
interface Failing {
  endpoint: WebhookEndpoint | undefined;
  id: string | null;
  failures: StatisticsFailure[];
}

/** Groups failures by their endpoint, without deleted ones, which need no action. */
export function failingOf(
  failures: readonly StatisticsFailure[],
  endpoints: readonly WebhookEndpoint[] = [],
): Failing[] {
  const byId = new Map<string | null, Failing>();
  for (const failure of failures) {
    const { endpoint: id } = failure;
    const endpoint = endpoints.find((known) => known.id === id);
    if (id !== null && endpoint === undefined) continue;
    const failing = byId.get(id) ?? { id, endpoint, failures: [] };
    failing.failures.push(failure);
    byId.set(id, failing);
  }
  return [...byId.values()];
}

/** Shows which endpoints fail, since when and why, and how to fix it. */
export function FailingEndpoints(props: { failing: readonly Failing[]; minutes: number; onChange: () => void }) {
  return (
    <ul class="failing">
      {props.failing.map((failing) => (
        <FailingEndpoint key={failing.id} {...failing} minutes={props.minutes} onChange={props.onChange} />
      ))}
    </ul>
  );
}

function FailingEndpoint({
  endpoint,
  id,
  failures,
  minutes,
  onChange,
}: Failing & { minutes: number; onChange: () => void }) {
  const { data } = useQuery<Statistics>(
    id === null ? undefined : withQuery("/v1/statistics", { endpoint: id, minutes }),
  );
  const sum = (of: "attempts" | "failed") => data?.minutes.reduce((total, minute) => total + minute[of], 0) ?? 0;
  const first = data?.minutes.find(({ failed }) => failed > 0)?.at;
  const [top] = failures;
  const failed = failures.reduce((total, failure) => total + failure.count, 0);
  const lastAt = failures.map(({ last_at: at }) => at).reduce((a, b) => (a > b ? a : b));
  return (
    <li>
      <div class="failing-name">
        {id === null ? (
          <strong>Listeners</strong>
        ) : (
          <Link href={hrefOf("endpoints", id)}>{endpoint?.description ?? endpoint?.url ?? id}</Link>
        )}
        {typeof endpoint?.description === "string" && <span class="soft"> {endpoint.url}</span>}
        {endpoint?.status === "disabled" && <Status status="disabled" />}
      </div>
      <p>
        <StatusCode code={top!.status_code} error={top!.error} />{" "}
        <strong>
          {count(failed)}{" "}
          {data === undefined || sum("attempts") === 0 ? "failed" : `of ${count(sum("attempts"))} attempts failed`}
        </strong>{" "}
        {data !== undefined && sum("attempts") > 0 && <>({percent(sum("failed"), sum("attempts"))})</>}
        <span class="soft">
          {first !== undefined && (
            <>
              {" "}
              · since <Time at={first} />
            </>
          )}{" "}
          · last <Time at={lastAt} />
        </span>
      </p>
      {top!.error !== null && (
        <p class="soft one-line" title={top!.error}>
          {top!.error}
        </p>
      )}
      {id !== null && (
        <div class="row-actions">
          <Link class="button small" href={hrefOf("deliveries", "", { endpoint: id, status: "failed" })}>
            Failed deliveries
          </Link>
          <Link class="button small" href={hrefOf("deliveries", "", { endpoint: id, status: "pending" })}>
            Pending
          </Link>
          {endpoint?.status === "enabled" && (
            <>
              <RetryFailed endpoint={id} class="small" />
              <Action
                class="small"
                run={async () => {
                  const { id: event } = await call<{ id: string }>("POST", `/v1/webhook_endpoints/${id}/ping`);
                  return `Sent ${event}`;
                }}
              >
                Send test ping
              </Action>
              <Action
                class="small"
                run={async () => {
                  await call("PATCH", `/v1/webhook_endpoints/${id}`, { status: "disabled" });
                  onChange();
                  return "Disabled. Deliveries wait.";
                }}
              >
                Disable
              </Action>
            </>
          )}
        </div>
      )}
    </li>
  );
}
