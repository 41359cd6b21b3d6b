import { useState } from "preact/hooks";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { Event } from "../../../contract/schemas/event.ts";
import type { Statistics } from "../../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { call, withQuery } from "../../api/call.ts";
import { usePages, useQuery } from "../../api/use-query.ts";
import { Action, ConfirmedAction } from "../../components/action.tsx";
import { Badge } from "../../components/badge.tsx";
import { Id } from "../../components/copy.tsx";
import { Card, Facts, Page } from "../../components/page.tsx";
import { Empty, ErrorBox, Loaded } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { go, hrefOf } from "../../router.tsx";
import { DeliveryTable } from "../deliveries/delivery-table.tsx";
import { FailureTable } from "../overview/failure-table.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { Health } from "./health.tsx";
import { RotateSecret } from "./rotate-secret.tsx";
import { SecretNotice } from "./secret-notice.tsx";

export function EndpointDetail({ id }: { id: string }) {
  const path = `/v1/webhook_endpoints/${encodeURIComponent(id)}`;
  const query = useQuery<WebhookEndpoint>(path, { every: 5000 });
  const deliveries = usePages<Delivery>("/v1/deliveries", { endpoint: id }, { limit: 20, every: 2000 });
  const statistics = useQuery<Statistics>(withQuery("/v1/statistics", { endpoint: id, minutes: 180 }), { every: 5000 });
  const [isEditing, setEditing] = useState(false);
  const [isRotating, setRotating] = useState(false);
  const { data } = query;
  const setStatus = (status: WebhookEndpoint["status"]) => async () => {
    await call("PATCH", path, { status });
    query.reload();
    return status === "enabled" ? "Enabled: what waits is sent now" : "Disabled: deliveries wait until it is enabled";
  };
  return (
    <Page
      title={data?.url ?? "Endpoint"}
      back={{ href: hrefOf("endpoints"), label: "Endpoints" }}
      actions={
        data !== undefined && (
          <>
            <Action
              class="primary"
              disabled={data.status === "disabled"}
              run={async () => {
                const event = await call<Event>("POST", `${path}/ping`);
                deliveries.reload();
                return `Sent ${event.id}`;
              }}
            >
              Send test ping
            </Action>
            <button type="button" onClick={() => setRotating(true)}>
              Rotate secret
            </button>
            <button type="button" onClick={() => setEditing(true)}>
              Edit
            </button>
            {data.status === "enabled" ? (
              <Action run={setStatus("disabled")}>Disable</Action>
            ) : (
              <Action run={setStatus("enabled")}>Enable</Action>
            )}
            <ConfirmedAction
              class="danger"
              title="Delete this endpoint?"
              explanation={<p>Its pending deliveries end as failed. This cannot be undone.</p>}
              verb="Delete endpoint"
              run={async () => {
                await call("DELETE", path);
                go(hrefOf("endpoints"));
                return `Deleted ${id}`;
              }}
            >
              Delete
            </ConfirmedAction>
          </>
        )
      }
    >
      <Loaded of={query}>
        {(endpoint) => (
          <>
            <SecretNotice endpoint={endpoint} />
            <Facts
              rows={[
                ["Status", <Badge status={endpoint.status} />],
                ["Id", <Id id={endpoint.id} />],
                ["Events", endpoint.events.join(", ")],
                ["Description", endpoint.description],
                ["Secret from", <Time at={endpoint.secret_created} />],
                ["Created", <Time at={endpoint.created} />],
              ]}
            />
            {statistics.error !== undefined && <ErrorBox error={statistics.error} onRetry={statistics.reload} />}
            <Health minutes={statistics.data?.minutes ?? []} />
            {statistics.data !== undefined && statistics.data.failures.length > 0 && (
              <Card title="What failed, and why">
                <FailureTable failures={statistics.data.failures} />
              </Card>
            )}
            <Card title="Deliveries">
              <DeliveryTable
                label="Deliveries to this endpoint"
                pages={deliveries}
                of="receiver"
                empty={<Empty title="None yet. Send a test ping." />}
              />
            </Card>
            {isEditing && (
              <EndpointForm
                endpoint={endpoint}
                onClose={() => setEditing(false)}
                onSaved={() => {
                  setEditing(false);
                  query.reload();
                }}
              />
            )}
            {isRotating && (
              <RotateSecret
                path={path}
                onClose={() => {
                  setRotating(false);
                  query.reload();
                }}
              />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}
