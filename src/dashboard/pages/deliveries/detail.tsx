import { DELIVERY_USER_AGENT, HEADERS } from "../../../contract/headers.ts";
import type { Delivery } from "../../../contract/schemas/delivery.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { call } from "../../api/call.ts";
import { useQuery, useText } from "../../api/use-query.ts";
import { Action } from "../../components/action.tsx";
import { Badge } from "../../components/badge.tsx";
import { Copy, Id } from "../../components/copy.tsx";
import { Card, Facts, Page } from "../../components/page.tsx";
import { ErrorBox, Loaded } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { hrefOf } from "../../router.tsx";
import { ObjectLink } from "../object-link.tsx";
import { Timeline } from "./timeline.tsx";

export function DeliveryDetail({ id }: { id: string }) {
  const query = useQuery<Delivery>(`/v1/deliveries/${encodeURIComponent(id)}`, { every: 1500 });
  const { data } = query;
  const canRetry = data !== undefined && data.endpoint !== null && data.status !== "succeeded";
  return (
    <Page
      title={data === undefined ? "Delivery" : `Delivery of ${data.event_type}`}
      back={{ href: hrefOf("deliveries"), label: "Deliveries" }}
      actions={
        canRetry && (
          <Action
            class="primary"
            run={async () => {
              await call("POST", `/v1/deliveries/${id}/retry`);
              query.reload();
              return "Due now";
            }}
          >
            Retry now
          </Action>
        )
      }
    >
      <Loaded of={query}>
        {(delivery) => (
          <>
            <Facts
              rows={[
                ["Status", <Badge status={delivery.status} />],
                ["Event", <ObjectLink id={delivery.event} />],
                [
                  "Receiver",
                  delivery.endpoint === null ? (
                    <>listener {delivery.listener}</>
                  ) : (
                    <ObjectLink id={delivery.endpoint} />
                  ),
                ],
                ["Created", <Time at={delivery.created} />],
                ["Id", <Id id={delivery.id} />],
              ]}
            />
            <Card title="Attempts">
              <Timeline delivery={delivery} />
            </Card>
            <SentRequest delivery={delivery} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The request as each attempt sends it; only the signature and the number differ. */
function SentRequest({ delivery }: { delivery: Delivery }) {
  const { event, endpoint, attempt_count: attempts } = delivery;
  const body = useText(`/v1/events/${event}`);
  const target = useQuery<WebhookEndpoint>(endpoint === null ? undefined : `/v1/webhook_endpoints/${endpoint}`);
  const isGone = body.error?.status === 404;
  const url = target.data?.url ?? (endpoint === null ? "(the listener's own target)" : endpoint);
  const text = `POST ${url}
Content-Type: application/json
User-Agent: ${DELIVERY_USER_AGENT}
${HEADERS.eventId}: ${event}
${HEADERS.deliveryAttempt}: ${Math.max(1, attempts)}
${HEADERS.signature}: t=<seconds>,v1=<HMAC-SHA256 of t.body>

${body.data ?? (isGone ? "(the event is older than 30 days and gone)" : "…")}`;
  return (
    <Card title="Request" actions={<Copy text={text} what="the request" />}>
      {body.error !== undefined && !isGone && <ErrorBox error={body.error} onRetry={body.reload} />}
      <pre class="raw" role="region" tabIndex={0} aria-label="Request">
        {text}
      </pre>
    </Card>
  );
}
