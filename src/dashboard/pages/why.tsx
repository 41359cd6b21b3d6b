import type { WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import { attemptsOf } from "../../explain/attempts.ts";
import { type Chain, explainedKind } from "../../explain/chain.ts";
import { useExplanation } from "../api/explanation.ts";
import { Also, Answer } from "../components/answer.tsx";
import { Card, Empty, ErrorBox, Facts, Page } from "../components/page.tsx";
import { Trail } from "../components/trail.tsx";
import {
  ClockTime,
  DeliveryState,
  hrefOfId,
  ObjectLink,
  RequestStatus,
  Status,
  StatusCode,
} from "../components/values.tsx";
import { nameOfEndpoint } from "../api/endpoints.ts";
import { hrefOf, Link, route } from "../router.tsx";
import { Remedy } from "./remedy.tsx";

function isFailing({ subject, endpoints }: Chain): boolean {
  const { status, health } =
    endpoints.get(subject?.id ?? "") ?? (subject as Partial<WebhookEndpoint> | undefined) ?? {};
  return status === "enabled" && typeof health?.failing_since === "string";
}

/** Returns the name of the explained object. */
function nameIn(chain: Chain | undefined): string | undefined {
  const endpoint = chain?.endpoints.get(chain.id);
  if (endpoint !== undefined) return nameOfEndpoint(endpoint);
  if (chain?.kind === "request") return chain.request && `${chain.request.method} ${chain.request.path}`;
  return chain?.kind === "event" ? chain.event?.type : undefined;
}

/** Explains an ID as `service why` does: what happened, why, what to do, and everything that led to it. */
export function Why() {
  const { id } = route.value;
  const kind = explainedKind(id);
  const { explanation, error, again } = useExplanation(kind && id);
  if (kind === undefined) {
    return (
      <Page title="Explanation">
        <Empty icon="search" title={id === "" ? "Nothing to explain yet" : "There is nothing to explain about this ID"}>
          <p>Open an event, delivery, request or endpoint and choose Explain.</p>
        </Empty>
      </Page>
    );
  }
  const chain = explanation?.chain;
  return (
    <Page
      title="Explanation"
      back={{ href: hrefOfId(id) ?? hrefOf(""), label: nameIn(chain) ?? id }}
      actions={
        <button type="button" onClick={again}>
          Explain again
        </button>
      }
    >
      {error !== undefined && <ErrorBox error={error} onRetry={again} />}
      {(chain !== undefined || error === undefined) && (
        <Answer
          explanation={explanation}
          remedy={explanation !== undefined && <Remedy explanation={explanation} onDone={again} />}
        />
      )}
      {chain !== undefined && (
        <>
          {kind !== "webhook_endpoint" && <Trail chain={chain} />}
          <Also explanation={explanation} />
          {chain.missing === undefined && (
            <Card title="What led to it">
              <Facts
                rows={[
                  [
                    "API request",
                    chain.request && (
                      <>
                        <RequestStatus code={chain.request.status} />{" "}
                        <Link href={hrefOf("logs", chain.request.id)}>
                          {chain.request.method} {chain.request.path}
                        </Link>
                      </>
                    ),
                  ],
                  [
                    "Object",
                    chain.subject && (
                      <>
                        {chain.subject.status !== undefined && (
                          <Status status={isFailing(chain) ? "failing" : chain.subject.status} />
                        )}{" "}
                        <ObjectLink id={chain.subject.id} />
                      </>
                    ),
                  ],
                  [
                    "Event",
                    chain.event && (
                      <>
                        <Link href={hrefOf("events", chain.event.id)}>{chain.event.type}</Link>,{" "}
                        <ClockTime at={chain.event.created} />
                      </>
                    ),
                  ],
                  [
                    "Operation",
                    chain.operation && `${chain.operation.done + chain.operation.failed} of ${chain.operation.total}`,
                  ],
                ]}
              />
            </Card>
          )}
          {chain.deliveries.length > 0 && (
            <Card
              title={chain.listed.length > chain.deliveries.length ? "Newest deliveries" : "Deliveries"}
              actions={
                kind === "webhook_endpoint" ? (
                  <Link href={hrefOf("deliveries", "", { endpoint: id })}>All deliveries</Link>
                ) : (
                  chain.event !== undefined && (
                    <Link href={hrefOf("deliveries", "", { query: chain.event.id })}>All deliveries</Link>
                  )
                )
              }
            >
              <ul class="chain">
                {chain.deliveries.map((delivery) => {
                  const last = attemptsOf(delivery).at(-1);
                  const endpoint = chain.endpoints.get(delivery.endpoint ?? "");
                  return (
                    <li key={delivery.id}>
                      <DeliveryState delivery={delivery} />{" "}
                      <Link href={hrefOf("deliveries", delivery.id)}>{delivery.event_type}</Link>{" "}
                      <span class="soft">
                        to{" "}
                        {delivery.endpoint === null
                          ? `listener ${delivery.listener}`
                          : endpoint === undefined
                            ? "an endpoint that was deleted"
                            : nameOfEndpoint(endpoint)}
                      </span>{" "}
                      {last !== undefined && <StatusCode code={last.status_code} error={last.error} />}
                    </li>
                  );
                })}
              </ul>
            </Card>
          )}
          {chain.otherEvents.length > 0 && (
            <Card title="Earlier events of this object">
              <ul class="chain">
                {chain.otherEvents.map(({ id: other, type }) => (
                  <li key={other}>
                    <Link href={hrefOf("events", other)}>{type}</Link>
                  </li>
                ))}
              </ul>
            </Card>
          )}
        </>
      )}
    </Page>
  );
}
