import { useState } from "preact/hooks";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event } from "../../../contract/schemas/event.ts";
import type { Statistics, StatisticsEndpoint } from "../../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { LIMITS } from "../../../contract/limits.ts";
import { useCall, withQuery } from "../../api/call.ts";
import { usePages } from "../../api/pages.ts";
import { useQuery } from "../../api/store.ts";
import { environmentNow } from "../../clock.ts";
import { Action, Confirmation, perform } from "../../components/action.tsx";
import { AttemptsChart, LatencyChart } from "../../components/chart.tsx";
import { type MenuItem, MoreMenu } from "../../components/menu.tsx";
import { Card, Empty, ErrorBox, Facts, Loaded, Page } from "../../components/page.tsx";
import { Id, Time } from "../../components/values.tsx";
import { count, counted, duration, percent } from "../../format.ts";
import { hrefOf, Link, useGo } from "../../router.tsx";
import { EnableEndpoint, RetryFailed, RunningOperations } from "../bulk.tsx";
import { DeliveryTable } from "../deliveries.tsx";
import { FailureTable, undelivered } from "../overview/failures.tsx";
import { ResourceForm } from "../resource-form.tsx";
import { RotateSecret } from "./rotate.tsx";
import { EndpointStatus } from "./status.tsx";

const MINUTES = 180;

/** Returns true if the secret should be rotated. */
export function isOldSecret({ secret_created: created }: WebhookEndpoint): boolean {
  return environmentNow() - Date.parse(created) > LIMITS.secretAgeDays * 86_400_000;
}

export function EndpointDetail({ id }: { id: string }) {
  const path = `/v1/webhook_endpoints/${encodeURIComponent(id)}`;
  const query = useQuery<WebhookEndpoint>(path);
  const deliveries = usePages<Delivery>("/v1/deliveries", { endpoint: id }, { limit: 20 });
  const statistics = useQuery<Statistics>(withQuery("/v1/statistics", { endpoint: id, minutes: MINUTES }));
  const { data } = query;
  const failures = statistics.data?.failures ?? [];
  return (
    <Page
      title={data?.description ?? data?.url ?? "Endpoint"}
      back={{ href: hrefOf("endpoints"), label: "Endpoints" }}
      {...(typeof data?.description === "string" ? { subtitle: data.url } : {})}
      actions={
        data !== undefined && (
          <Actions endpoint={data} path={path} onChange={query.reload} onPing={() => deliveries.reload()} />
        )
      }
    >
      <Loaded of={query}>
        {(endpoint) => (
          <>
            <SecretNotice endpoint={endpoint} />
            {endpoint.status === "disabled" && <DisabledNotice endpoint={endpoint} />}
            {endpoint.status === "enabled" && endpoint.health.failing_since !== null && (
              <p class="notice bad">
                <strong>
                  Failing since <Time at={endpoint.health.failing_since} />.
                </strong>{" "}
                No attempt has succeeded since then. Retry the failed deliveries once the receiver works.
              </p>
            )}
            <RunningOperations endpoint={id} />
            <Facts
              rows={[
                ["Status", <EndpointStatus endpoint={endpoint} />],
                ...healthFacts(endpoint, statistics.data?.endpoints[0]),
                ["ID", <Id id={endpoint.id} />],
                ["Events", endpoint.events.join(", ")],
                ...(endpoint.header_names.length === 0 ? [] : [["Headers", endpoint.header_names.join(", ")] as const]),
                ["Secret rotated", <Time at={endpoint.secret_created} />],
                ["Created", <Time at={endpoint.created} />],
              ]}
            />
            {statistics.error !== undefined && <ErrorBox error={statistics.error} onRetry={statistics.reload} />}
            <Health minutes={statistics.data?.minutes ?? []} />
            {failures.length > 0 && (
              <Card title="Failures in the last 3 hours">
                <FailureTable failures={failures} />
              </Card>
            )}
            <Card
              title="Deliveries"
              actions={
                <>
                  <Link href={undelivered(id, statistics.data?.endpoints[0])}>Show failed</Link>
                  <RetryFailed
                    endpoint={{ id, name: endpoint.description ?? endpoint.url }}
                    failingSince={endpoint.health.failing_since}
                    class="small"
                  />
                </>
              }
            >
              <DeliveryTable
                label="Deliveries to this endpoint"
                pages={deliveries}
                of="endpoint"
                empty={
                  <Empty icon="deliveries" title="No deliveries yet">
                    <p>Send a test ping to see one.</p>
                  </Empty>
                }
              />
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Actions(props: { endpoint: WebhookEndpoint; path: string; onChange: () => void; onPing: () => void }) {
  const call = useCall();
  const go = useGo();
  const { endpoint, path, onChange, onPing } = props;
  const [openDialog, setOpenDialog] = useState<"edit" | "rotate" | "delete">();
  const isEnabled = endpoint.status === "enabled";
  const close = () => {
    setOpenDialog(undefined);
    onChange();
  };
  const setStatus = (status: WebhookEndpoint["status"]) => async () => {
    await call("PATCH", path, { status });
    onChange();
    return status === "enabled" ? "Enabled. Waiting deliveries are sent now." : "Disabled. Deliveries wait.";
  };
  const items: MenuItem[] = [
    { label: "Edit", onSelect: () => setOpenDialog("edit") },
    { label: "Rotate secret", onSelect: () => setOpenDialog("rotate") },
    { label: "Explain", onSelect: () => go("why", endpoint.id) },
    ...(isEnabled ? [{ label: "Disable", onSelect: () => void perform(setStatus("disabled")) }] : []),
    { label: "Delete", onSelect: () => setOpenDialog("delete"), isDanger: true },
  ];
  return (
    <>
      <MoreMenu items={items} />
      {isEnabled ? (
        <Action
          class="primary"
          run={async () => {
            const event = await call<Event>("POST", `${path}/ping`);
            onPing();
            return `Sent ${event.id}`;
          }}
        >
          Send test ping
        </Action>
      ) : (
        <>
          <Action run={setStatus("enabled")}>Enable</Action>
          <EnableEndpoint endpoint={endpoint} class="primary" onChange={onChange} />
        </>
      )}
      {openDialog === "edit" && (
        <ResourceForm
          kind="webhook_endpoint"
          item={endpoint}
          title="Edit endpoint"
          onClose={() => setOpenDialog(undefined)}
          onSaved={close}
        />
      )}
      {openDialog === "rotate" && <RotateSecret path={path} onClose={close} />}
      {openDialog === "delete" && (
        <Confirmation
          title="Delete this endpoint?"
          explanation={<p>Its pending deliveries are canceled. This cannot be undone.</p>}
          verb="Delete endpoint"
          run={async () => {
            await call("DELETE", path);
            go("endpoints");
            return `Deleted ${endpoint.id}`;
          }}
          onClose={() => setOpenDialog(undefined)}
        />
      )}
    </>
  );
}

function healthFacts({ id }: WebhookEndpoint, counts: StatisticsEndpoint | undefined) {
  if (counts === undefined) return [];
  const { attempts, failed, pending, last_delivery_at: last } = counts;
  const waiting = counted(pending, "delivery", "deliveries");
  return [
    [
      "Error rate",
      attempts === 0 ? "No attempts in the last 3 hours" : `${percent(failed, attempts)} in the last 3 hours`,
    ],
    [
      "Pending",
      pending === 0 ? (
        "None"
      ) : (
        <Link href={hrefOf("deliveries", "", { endpoint: id, status: "pending" })}>{waiting}</Link>
      ),
    ],
    ["Last delivery", <Time at={last} />],
  ] as const;
}

/** Whether two secrets are active and for how long, or whether the only one is too old. */
function SecretNotice({ endpoint }: { endpoint: WebhookEndpoint }) {
  const until = endpoint.previous_secret_until;
  const left = until === null ? 0 : (Date.parse(until) - environmentNow()) / 1000;
  if (left > 0) {
    return (
      <p class="notice wait" role="status">
        <strong>Both secrets are active.</strong> The old one expires in <span class="countdown">{duration(left)}</span>
        : deploy the new one before then.
      </p>
    );
  }
  if (!isOldSecret(endpoint)) return null;
  return (
    <p class="notice wait">
      <strong>The signing secret is older than {LIMITS.secretAgeDays} days.</strong> Rotate it; both secrets sign during
      the overlap.
    </p>
  );
}

function DisabledNotice({ endpoint: { disabled_reason: reason, disabled_at: at } }: { endpoint: WebhookEndpoint }) {
  return (
    <p class={`notice ${reason === "gone" ? "bad" : "wait"}`}>
      <strong>
        {reason === "gone" ? "Disabled after a 410 Gone response" : "This endpoint is disabled"}
        {at === null ? (
          "."
        ) : (
          <>
            , <Time at={at} />.
          </>
        )}
      </strong>{" "}
      It gets no new events. Pending deliveries wait until you enable it, for 3 days at most. “Enable and replay” also
      sends the events that it missed.
    </p>
  );
}

/** The last three hours. The charts have a fixed size, so the page does not move when they appear. */
function Health({ minutes }: { minutes: Statistics["minutes"] }) {
  const sum = (of: "failed" | "succeeded") => minutes.reduce((total, minute) => total + minute[of], 0);
  return (
    <div class="charts">
      <AttemptsChart
        title="Attempts, last 3 hours"
        summary={`${count(sum("succeeded"))} succeeded, ${counted(sum("failed"), "attempt")} failed`}
        minutes={minutes}
      />
      <LatencyChart summary="response times" minutes={minutes} />
    </div>
  );
}
