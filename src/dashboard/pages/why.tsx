import { useEffect, useState } from "preact/hooks";
import { OBJECT_KINDS, pathOf } from "../../contract/resources.ts";
import type { Statistics } from "../../contract/schemas/statistics.ts";
import { type Chain, explainedKind } from "../../explain/chain.ts";
import { withQuery } from "../api/call.ts";
import type { Item } from "../api/objects.ts";
import { findNewestFailure, useExplanation } from "../api/explanation.ts";
import { wholeList } from "../api/pages.ts";
import { useQuery } from "../api/store.ts";
import { Also, Answer } from "../components/answer.tsx";
import { AttemptsChart } from "../components/chart.tsx";
import { Card, Empty, ErrorBox, Facts, Page } from "../components/page.tsx";
import { Trail } from "../components/trail.tsx";
import { hrefOfId } from "../components/values.tsx";
import { nameOfEndpoint, nameOfListener, useEndpoints } from "../api/endpoints.ts";
import { go, hrefOf, Link, route } from "../router.tsx";
import { DeliveryTable } from "./deliveries.tsx";
import { titleOf } from "./objects/item.tsx";
import { ListenerResults } from "./listeners.tsx";
import { RunningOperations } from "./operations.tsx";
import { originOf } from "./origin.tsx";
import { Remedy } from "./remedy.tsx";

/** Returns the name of the explained object. */
function nameIn(chain: Chain | undefined): string | undefined {
  const delivery = chain?.deliveries.find(({ id }) => id === chain.id);
  if (chain !== undefined && delivery !== undefined) {
    const to = chain.endpoints.get(delivery.endpoint ?? "");
    return `${delivery.event_type} to ${to === undefined ? nameOfListener(delivery, chain.statistics) : nameOfEndpoint(to)}`;
  }
  const endpoint = chain?.endpoints.get(chain.id);
  if (endpoint !== undefined) return nameOfEndpoint(endpoint);
  if (chain?.kind === "request") return chain.request && `${chain.request.method} ${chain.request.path}`;
  return chain?.kind === "event" ? chain.event?.type : undefined;
}

/** The picture of an endpoint: its attempts. */
function LastHour({ of }: { of: string }) {
  const { data } = useQuery<Statistics>(withQuery("/v1/statistics", { endpoint: of }));
  return data?.totals.attempts === 0 ? null : <AttemptsChart minutes={data?.minutes} />;
}

/** Explains an ID as `service why` does: what happened, why, what to do, and everything that led to it. */
export function Why() {
  const { id } = route.value;
  const kind = explainedKind(id);
  const known = useEndpoints().items?.find((endpoint) => endpoint.id === id);
  const isEvent = kind === "event";
  const object = OBJECT_KINDS.find((one) => one === kind);
  const { data: item } = useQuery<Item>(object && `${pathOf(object)}/${id}`);
  const { explanation, error, again } = useExplanation(isEvent ? undefined : kind && id);
  // The page of an event is its explanation.
  useEffect(() => {
    if (isEvent) go(hrefOf("events", id), { replace: true });
  }, [isEvent]);
  const [isFound, setFound] = useState(false);
  // Without an ID, the newest failure is explained.
  useEffect(() => {
    setFound(false);
    if (id !== "") return;
    findNewestFailure()
      .then((newest) => newest !== undefined && go(hrefOf("why", newest), { replace: true }))
      .catch(() => {})
      .finally(() => setFound(true));
  }, [id]);
  if (isEvent || (id === "" && !isFound)) return null;
  if (kind === undefined) {
    return (
      <Page title="Explanation">
        <Empty icon="search" title={id === "" ? "No failed deliveries" : `“${id}” is no ID that can be explained`}>
          <p>
            {id === ""
              ? "Open a delivery, request or endpoint and choose Explain."
              : "That can be the ID of an event (evt_), a delivery (dlv_), a request (req_), an endpoint (we_) or an object."}
          </p>
        </Empty>
      </Page>
    );
  }
  const chain = explanation?.chain;
  return (
    <Page
      title="Explanation"
      back={{
        href: hrefOfId(id) ?? hrefOf(""),
        label:
          nameIn(chain) ?? (known !== undefined ? nameOfEndpoint(known) : object && item ? titleOf(object, item) : id),
      }}
    >
      <RunningOperations {...(kind === "webhook_endpoint" ? { endpoint: id } : {})} />
      {error !== undefined && <ErrorBox error={error} onRetry={again} />}
      {(chain !== undefined || error === undefined) && (
        <Answer
          explanation={explanation}
          remedy={explanation && <Remedy chain={explanation.chain} finding={explanation.findings[0]} onDone={again} />}
        />
      )}
      {chain !== undefined && (
        <>
          {kind === "webhook_endpoint" ? <LastHour of={id} /> : <Trail chain={chain} />}
          <ListenerResults chain={chain} />
          <Also
            explanation={explanation}
            remedyOf={(finding) => <Remedy chain={chain} finding={finding} onDone={again} isOneOfSeveral />}
          />
          {chain.missing === undefined && kind !== "webhook_endpoint" && (
            <Card title="What led to it">
              <Facts
                rows={[
                  ...originOf(chain),
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
              title={
                chain.listed.length > chain.deliveries.length
                  ? "Newest deliveries"
                  : kind === "delivery"
                    ? "All deliveries of the event"
                    : "Deliveries"
              }
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
              <DeliveryTable
                label="Deliveries"
                pages={wholeList(chain.deliveries)}
                {...(kind === "webhook_endpoint" ? { of: "endpoint" } : kind === "request" ? {} : { of: "event" })}
              />
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
