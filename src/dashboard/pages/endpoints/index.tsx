import { useState } from "preact/hooks";
import { LIMITS } from "../../../contract/limits.ts";
import type { Statistics } from "../../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { capitalized } from "../../../contract/words.ts";
import { useCall, withQuery } from "../../api/call.ts";
import { subscriptionsOf, useEndpoints } from "../../api/endpoints.ts";
import { useQuery } from "../../api/store.ts";
import { Strip } from "../../components/chart.tsx";
import { Action } from "../../components/action.tsx";
import { ShownOnce } from "../../components/dialog.tsx";
import { Empty, Page } from "../../components/page.tsx";
import { Split } from "../../components/split.tsx";
import { PagedTable } from "../../components/table.tsx";
import { Unknown, Url } from "../../components/values.tsx";
import { counted, searchable } from "../../format.ts";
import { outcomeInWords } from "../../responses.ts";
import { go, hrefOf, Link } from "../../router.tsx";
import { useMissed } from "../enable.tsx";
import { filterOf, rangeOf, rangeSince } from "../choice.tsx";
import { Search } from "../filters.tsx";
import { Listeners } from "../listeners.tsx";
import { NotDelivered, type Standing, useStandings, StandingStatus, TROUBLE } from "../overview/failures.tsx";
import { CreateResource } from "../resource-form.tsx";
import { EndpointDetail, isOldSecret } from "./detail.tsx";
import { listAndPage } from "../list-page.tsx";

export const Endpoints = listAndPage(EndpointList, EndpointDetail);

function EndpointList() {
  const call = useCall();
  const pages = useEndpoints();
  const statistics = useQuery<Statistics>("/v1/statistics");
  const { found: missed } = useMissed(pages.items);
  const { standings: all } = useStandings(statistics.data, pages.items, missed);
  const standings = new Map(all.map((one) => [one.endpoint?.id, one]));
  const countsOf = (id: string) => standings.get(id)?.counts;
  // Attempts to an endpoint that fails for long are hours apart; before the first was created, there are none.
  const first = Math.min(...(pages.items ?? []).map(({ created }) => Date.parse(created)));
  const { minutes, period } = rangeOf(rangeSince(first));
  const { data: shown } = useQuery<Statistics>(pages.items && withQuery("/v1/statistics", { minutes }));
  /** The state of an endpoint, and why one that needs attention fails. */
  const stateOf = (standing: Standing) => {
    const earlier = shown?.failures.filter(({ endpoint }) => endpoint === standing.endpoint?.id) ?? [];
    const failures = [...standing.failures, ...earlier];
    const [last] = failures.toSorted((a, b) => b.last_at.localeCompare(a.last_at));
    return (
      <>
        <StandingStatus standing={standing} />
        {standing.rank >= TROUBLE && last !== undefined && (
          <span class="under">
            {standing.state === "recovered" && "before: "}
            {outcomeInWords(last.status_code, last.error)}
          </span>
        )}
      </>
    );
  };
  const query = searchable(filterOf("query").trim());
  const order = [...standings.keys()];
  // In the order in which they stay, once their states are known.
  const isKnown = statistics.data !== undefined || statistics.error !== undefined;
  const items = isKnown
    ? pages.items
        ?.filter(({ url, events, description }) => searchable([url, description, ...events].join("\n")).includes(query))
        .toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id))
    : undefined;
  const [created, setCreated] = useState<WebhookEndpoint>();
  const old = pages.items?.filter(isOldSecret).length ?? 0;
  return (
    <Split detail={EndpointDetail}>
      <Page
        title="Endpoints"
        actions={
          <CreateResource<WebhookEndpoint>
            kind="webhook_endpoint"
            label="Create endpoint"
            title="Create an endpoint"
            onSaved={setCreated}
          />
        }
      >
        {old > 0 && (
          <p class="notice wait">
            <strong>
              {counted(old, "signing secret")} {old === 1 ? "is" : "are"} older than {LIMITS.secretAgeDays} days.
            </strong>{" "}
            Open the endpoint and choose Rotate secret.
          </p>
        )}
        {(pages.items?.length !== 0 || (statistics.data?.listeners ?? 0) > 0) && (
          <div class="filters" role="search">
            <Search hint="Search a name, URL or event type" />
            {statistics.data && <Listeners statistics={statistics.data} />}
          </div>
        )}
        <PagedTable
          label="Endpoints, worst first"
          pages={{ ...pages, items }}
          isRanked
          empty={
            query !== "" ? (
              <Empty icon="endpoints" title="No matching endpoints" />
            ) : (
              <Empty
                icon="endpoints"
                title="No endpoints yet"
                command="service endpoints create --url https://example.com/webhooks --events '*'"
              >
                <p>Create an endpoint, and the events that it subscribes to are sent to it.</p>
              </Empty>
            )
          }
          columns={[
            {
              label: "Endpoint",
              isLong: true,
              cell: (endpoint) => {
                const standing = standings.get(endpoint.id);
                const isNamed = Boolean(endpoint.description?.trim());
                return (
                  <>
                    <Link class="main-link" href={hrefOf("endpoints", endpoint.id)} row={endpoint.id}>
                      {isNamed ? (
                        <span title={endpoint.description ?? ""}>{endpoint.description}</span>
                      ) : (
                        <Url text={endpoint.url} />
                      )}
                    </Link>
                    {isNamed && (
                      <span class="under">
                        <Url text={endpoint.url} />
                      </span>
                    )}
                    <span class="narrow-only">{standing && stateOf(standing)}</span>
                  </>
                );
              },
            },
            {
              label: "State",
              from: "tablet",
              cell: ({ id }) => {
                const standing = standings.get(id);
                return standing === undefined ? <Unknown /> : stateOf(standing);
              },
            },
            {
              label: capitalized(period),
              from: "tablet",
              cell: ({ id }) => {
                const own = shown?.endpoints.find(({ endpoint }) => endpoint === id);
                return own === undefined ? <Unknown /> : <Strip counts={own} />;
              },
            },
            {
              label: "Not delivered",
              isNumber: true,
              cell: (endpoint) => {
                const counts = countsOf(endpoint.id);
                return counts === undefined ? (
                  <Unknown />
                ) : (
                  <NotDelivered endpoint={endpoint} counts={counts} missed={missed?.get(endpoint.id)} />
                );
              },
            },
            {
              label: "Events",
              from: "desktop",
              isLong: true,
              cell: ({ events }) => <span title={events.join("\n")}>{subscriptionsOf(events)}</span>,
            },
            {
              label: "Secret",
              from: "desktop",
              isFor: isOldSecret,
              cell: () => <span class="tag">rotate it</span>,
            },
          ]}
        />
        {created?.secret !== undefined && (
          <ShownOnce
            title="The endpoint's signing secret"
            secret={created.secret}
            what="the signing secret"
            line={`SERVICE_WEBHOOK_SECRET=${created.secret}`}
            onClose={() => {
              setCreated(undefined);
              go(hrefOf("endpoints", created.id));
            }}
          >
            <p>
              Your application verifies every delivery with it. Add the line to its <code>.env</code>, then follow{" "}
              <a href="/docs/guides/receiving-webhooks.html" target="_blank" rel="noreferrer">
                Receiving webhooks
              </a>
              .
            </p>
            <p>
              <Action
                run={async () => {
                  const event = await call<{ id: string }>("POST", `/v1/webhook_endpoints/${created.id}/ping`);
                  return `Sent ${event.id}`;
                }}
              >
                Send test event
              </Action>
            </p>
          </ShownOnce>
        )}
      </Page>
    </Split>
  );
}
