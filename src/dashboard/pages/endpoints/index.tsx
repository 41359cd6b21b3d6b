import { useState } from "preact/hooks";
import { LIMITS } from "../../../contract/limits.ts";
import type { Statistics } from "../../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { subscriptionsOf, useEndpoints } from "../../api/endpoints.ts";
import { useQuery } from "../../api/store.ts";
import { CreateButton } from "../../components/action.tsx";
import { Strip } from "../../components/chart.tsx";
import { ShownOnce } from "../../components/dialog.tsx";
import { Empty, Page } from "../../components/page.tsx";
import { Split } from "../../components/split.tsx";
import { PagedTable } from "../../components/table.tsx";
import { Url } from "../../components/values.tsx";
import { count, counted } from "../../format.ts";
import { go, hrefOf, Link, route } from "../../router.tsx";
import { standingOf, StandingStatus } from "../overview/failures.tsx";
import { ResourceForm } from "../resource-form.tsx";
import { EndpointDetail, isOldSecret } from "./detail.tsx";

export function Endpoints() {
  const { id } = route.value;
  return id === "" ? <EndpointList /> : <EndpointDetail id={id} />;
}

function EndpointList() {
  const pages = useEndpoints();
  const statistics = useQuery<Statistics>("/v1/statistics");
  const countsOf = (id: string) => statistics.data?.endpoints.find(({ endpoint }) => endpoint === id);
  const standing = (endpoint: WebhookEndpoint) =>
    standingOf(
      endpoint,
      countsOf(endpoint.id),
      statistics.data?.failures.filter(({ endpoint: id }) => id === endpoint.id) ?? [],
    );
  const [created, setCreated] = useState<WebhookEndpoint>();
  const old = pages.items?.filter(isOldSecret).length ?? 0;
  return (
    <Split detail={EndpointDetail}>
      <Page
        title="Endpoints"
        actions={
          <CreateButton
            label="Create endpoint"
            dialog={(close) => (
              <ResourceForm<WebhookEndpoint>
                kind="webhook_endpoint"
                title="Create an endpoint"
                submit="Create endpoint"
                onClose={close}
                onSaved={(endpoint) => {
                  close();
                  setCreated(endpoint);
                }}
              />
            )}
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
        <PagedTable
          label="Endpoints, newest first"
          pages={pages}
          empty={
            <Empty
              icon="endpoints"
              title="No endpoints yet"
              command="service endpoints create --url https://example.com/webhooks --events '*'"
            >
              <p>Create an endpoint, and the events that it subscribes to are sent to it.</p>
            </Empty>
          }
          columns={[
            {
              label: "Endpoint",
              isLong: true,
              cell: (endpoint) => (
                <Link class="main-link" href={hrefOf("endpoints", endpoint.id)} row={endpoint.id}>
                  {endpoint.description?.trim() || <Url text={endpoint.url} />}
                </Link>
              ),
            },
            {
              label: "URL",
              isLong: true,
              from: "desktop",
              isFor: ({ description }) => Boolean(description?.trim()),
              cell: ({ url }) => (
                <span class="soft">
                  <Url text={url} />
                </span>
              ),
            },
            {
              label: "State",
              cell: (endpoint) =>
                statistics.data === undefined ? "…" : <StandingStatus standing={standing(endpoint)} />,
            },
            {
              label: "Last hour",
              from: "tablet",
              cell: ({ id }) => {
                const counts = countsOf(id);
                return counts === undefined ? "…" : <Strip counts={counts} />;
              },
            },
            {
              label: "Waiting",
              isNumber: true,
              from: "tablet",
              cell: ({ id }) => {
                const pending = countsOf(id)?.pending ?? 0;
                if (pending === 0) return <span class="soft">{statistics.data === undefined ? "…" : 0}</span>;
                return (
                  <Link href={hrefOf("deliveries", "", { endpoint: id, status: "pending" })}>{count(pending)}</Link>
                );
              },
            },
            {
              label: "Events",
              from: "desktop",
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
            onClose={() => {
              setCreated(undefined);
              go(hrefOf("endpoints", created.id));
            }}
          >
            <p>Verify every delivery with it; the signature is in the header Service-Signature.</p>
          </ShownOnce>
        )}
      </Page>
    </Split>
  );
}
