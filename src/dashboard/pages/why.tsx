import { useEffect, useState } from "preact/hooks";
import { OBJECT_KINDS, pathOf } from "../../contract/resources.ts";
import { type Chain, explainedKind } from "../../explain/chain.ts";
import type { Item } from "../api/objects.ts";
import { findNewestFailure, useExplanation } from "../api/explanation.ts";
import { wholeList } from "../api/pages.ts";
import { useQuery } from "../api/store.ts";
import { Also, Answer } from "../components/answer.tsx";
import { Field, Form } from "../components/form.tsx";
import { Card, Empty, ErrorBox, Facts, Page } from "../components/page.tsx";
import { Trail } from "../components/trail.tsx";
import { hrefOfId } from "../components/values.tsx";
import { nameOfEndpoint, nameOfListener } from "../api/endpoints.ts";
import { go, hrefOf, Link, route } from "../router.tsx";
import { DeliveryTable } from "./delivery-table.tsx";
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
  return chain?.request && `${chain.request.method} ${chain.request.path}`;
}

/** Asks for the ID to explain. */
function AskForId() {
  const [id, setId] = useState("");
  return (
    <Form submit="Explain" isMinor fields={["id"]} run={async () => go(hrefOf("why", id.trim()))}>
      {(error) => (
        <Field
          label="ID"
          name="id"
          value={id}
          onInput={setId}
          error={error}
          placeholder="evt_…, dlv_…, req_…, we_… or an object"
          required
        />
      )}
    </Form>
  );
}

/** Explains an ID as `service why` does: what happened, why, what to do, and everything that led to it. */
export function Why() {
  const { id, query } = route.value;
  const kind = explainedKind(id);
  // These pages have all of their explanation.
  const isOnPage = kind === "event" || kind === "webhook_endpoint";
  const object = OBJECT_KINDS.find((one) => one === kind);
  const { data: item } = useQuery<Item>(object && `${pathOf(object)}/${id}`);
  const { explanation, error, again } = useExplanation(isOnPage ? undefined : kind && id);
  useEffect(() => {
    if (isOnPage) go(hrefOfId(id)!, { replace: true });
  }, [id]);
  const [isFound, setFound] = useState(false);
  // Without an ID, the newest failure is explained.
  useEffect(() => {
    setFound(false);
    if (id !== "") return;
    findNewestFailure()
      .then((found) => found !== undefined && go(hrefOf("why", found, { newest: "1" }), { replace: true }))
      .catch(() => {})
      .finally(() => setFound(true));
  }, [id]);
  if (isOnPage || (id === "" && !isFound)) return null;
  if (kind === undefined) {
    return (
      <Page title="Explanation">
        <Empty icon="search" title={id === "" ? "No failed deliveries" : `“${id}” is not an ID`}>
          <p>
            {id === ""
              ? "Open a delivery, request or endpoint and choose Explain."
              : "Enter the ID of an event (evt_), a delivery (dlv_), a request (req_), an endpoint (we_) or an object."}
          </p>
        </Empty>
        <AskForId />
      </Page>
    );
  }
  const chain = explanation?.chain;
  return (
    <Page
      title={query.has("newest") ? "Explanation of the newest failure" : "Explanation"}
      back={{
        href: hrefOfId(id) ?? hrefOf(""),
        label: nameIn(chain) ?? (object && item ? titleOf(object, item) : id),
      }}
    >
      <RunningOperations />
      {error !== undefined && <ErrorBox error={error} onRetry={again} />}
      {(chain !== undefined || error === undefined) && (
        <Answer
          explanation={explanation}
          remedy={explanation && <Remedy chain={explanation.chain} finding={explanation.findings[0]} onDone={again} />}
        />
      )}
      {chain !== undefined && (
        <>
          <Trail chain={chain} />
          <ListenerResults chain={chain} />
          <Also
            explanation={explanation}
            remedyOf={(finding) => <Remedy chain={chain} finding={finding} onDone={again} isOneOfSeveral />}
          />
          {chain.missing === undefined && (
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
                chain.event !== undefined && (
                  <Link href={hrefOf("deliveries", "", { query: chain.event.id })}>Open in the list</Link>
                )
              }
            >
              <DeliveryTable
                label="Deliveries"
                pages={wholeList(chain.deliveries)}
                {...(kind !== "request" && { of: "event" })}
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
      {query.has("newest") && (
        <Card title="Explain something else">
          <AskForId />
        </Card>
      )}
    </Page>
  );
}
