import type { Statistics, StatisticsEndpoint, StatisticsFailure } from "../../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { waits } from "../../../explain/finding.ts";
import { hasRecovered } from "../../../explain/recovery.ts";
import { useCall } from "../../api/call.ts";
import { Action } from "../../components/action.tsx";
import { Table } from "../../components/table.tsx";
import { Status, StatusCode, Time } from "../../components/values.tsx";
import { count, counted, percent } from "../../format.ts";
import { hrefOf, Link } from "../../router.tsx";
import { EnableEndpoint, RetryFailed } from "../bulk.tsx";

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

/** An endpoint that needs attention, or all listeners, with its failures, the most frequent first. */
interface Failing {
  endpoint: WebhookEndpoint | undefined;
  id: string | null;
  failures: StatisticsFailure[];
  counts: StatisticsEndpoint | undefined;
}

/** Returns the endpoints that fail or were disabled for it, those that fail all the time first. */
export function failingOf(
  { failures, endpoints: counts }: Statistics,
  endpoints: readonly WebhookEndpoint[] = [],
): Failing[] {
  const ofEndpoint = (id: string | null) => failures.filter((failure) => failure.endpoint === id);
  const isFailing = ({ endpoint }: Failing) => typeof endpoint?.health.failing_since === "string";
  const found = endpoints.map((endpoint): Failing => {
    const { id } = endpoint;
    return { id, endpoint, failures: ofEndpoint(id), counts: counts.find((count) => count.endpoint === id) };
  });
  const listeners = { id: null, endpoint: undefined, failures: ofEndpoint(null), counts: undefined };
  return [...found, listeners]
    .filter((one) => one.failures.length > 0 || isFailing(one) || one.endpoint?.disabled_reason === "gone")
    .filter(({ endpoint, counts, failures: own }) => !(endpoint && counts && hasRecovered(endpoint, counts, own)))
    .toSorted((a, b) => Number(isFailing(b)) - Number(isFailing(a)));
}

/** Returns the page of the deliveries that an endpoint has not got: those being retried, or those that failed for good. */
export function undelivered(endpoint: string, counts: StatisticsEndpoint | undefined): string {
  return hrefOf("deliveries", "", { endpoint, status: (counts?.pending ?? 0) > 0 ? "retrying" : "failed" });
}

/** Shows which endpoints fail, since when and why, how many deliveries wait, and how to fix it. */
export function FailingEndpoints(props: { failing: readonly Failing[]; onChange: () => void }) {
  return (
    <ul class="failing">
      {props.failing.map((failing) => (
        <FailingEndpoint key={failing.id} {...failing} onChange={props.onChange} />
      ))}
    </ul>
  );
}

function FailingEndpoint({ endpoint, id, failures, counts, onChange }: Failing & { onChange: () => void }) {
  const call = useCall();
  const [top] = failures;
  const failed = failures.reduce((total, failure) => total + failure.count, 0);
  const first = endpoint?.health.failing_since ?? undefined;
  const last = failures
    .map(({ last_at: at }) => at)
    .toSorted()
    .at(-1);
  const { attempts = 0, pending = 0 } = counts ?? {};
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
        {endpoint?.status === "enabled" && endpoint.health.failing_since !== null && <Status status="failing" />}
      </div>
      <ul class="dotted">
        {top !== undefined && (
          <li>
            <StatusCode code={top.status_code} error={top.error} />{" "}
            <strong>
              {count(failed)} {attempts === 0 ? "failed" : `of ${counted(attempts, "attempt")} failed`}
            </strong>
            {attempts > 0 && <> ({percent(failed, attempts)})</>}
          </li>
        )}
        {pending > 0 && id !== null && (
          <li>
            <Link href={hrefOf("deliveries", "", { endpoint: id, status: "pending" })}>{waits(pending)}</Link>
          </li>
        )}
        {first !== undefined && (
          <li>
            since <Time at={first} />
          </li>
        )}
        {last !== undefined && (
          <li>
            last <Time at={last} />
          </li>
        )}
        {endpoint?.status === "disabled" && (
          <li>
            disabled {endpoint.disabled_reason === "gone" ? "by 410 Gone" : "by a user"}{" "}
            <Time at={endpoint.disabled_at} />
          </li>
        )}
      </ul>
      {top !== undefined && top.error !== null && (
        <p class="soft one-line" title={top.error}>
          {top.error}
        </p>
      )}
      {id !== null && (
        <div class="row-actions">
          <Link class="button small" href={hrefOf("why", id)}>
            Why?
          </Link>
          <Link class="button small" href={undelivered(id, counts)}>
            Failed deliveries
          </Link>
          {endpoint?.status === "disabled" && <EnableEndpoint endpoint={endpoint} class="small" onChange={onChange} />}
          {endpoint?.status === "enabled" && (
            <>
              <RetryFailed
                endpoint={{ id, name: endpoint.description ?? endpoint.url }}
                failingSince={first}
                class="small"
              />
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
