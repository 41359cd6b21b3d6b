import { useState } from "preact/hooks";
import { LIMITS } from "../../../contract/limits.ts";
import type { Statistics, StatisticsEndpoint } from "../../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { useQuery } from "../../api/store.ts";
import { CreateButton } from "../../components/action.tsx";
import { Sparkline } from "../../components/chart.tsx";
import { ShownOnce } from "../../components/dialog.tsx";
import { Empty, Page } from "../../components/page.tsx";
import { PagedTable } from "../../components/table.tsx";
import { None, Time } from "../../components/values.tsx";
import { counted, percent } from "../../format.ts";
import { go, hrefOf, Link, route } from "../../router.tsx";
import { useEndpoints } from "../deliveries.tsx";
import { undelivered } from "../overview/failures.tsx";
import { ResourceForm } from "../resource-form.tsx";
import { EndpointDetail, isOldSecret } from "./detail.tsx";
import { EndpointStatus } from "./status.tsx";

export function Endpoints() {
  const { id } = route.value;
  return id === "" ? <EndpointList /> : <EndpointDetail id={id} />;
}

function EndpointList() {
  const pages = useEndpoints();
  const statistics = useQuery<Statistics>("/v1/statistics");
  const countsOf = (id: string) => statistics.data?.endpoints.find(({ endpoint }) => endpoint === id);
  const [created, setCreated] = useState<WebhookEndpoint>();
  const old = pages.items?.filter(isOldSecret).length ?? 0;
  return (
    <Page
      title="Endpoints"
      subtitle="URLs that receive signed events."
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
            cell: ({ id, url, description }) => (
              <>
                <Link href={hrefOf("endpoints", id)}>{description ?? url}</Link>
                {description !== null && (
                  <>
                    <br />
                    <span class="soft">{url}</span>
                  </>
                )}
              </>
            ),
          },
          { label: "Status", cell: (endpoint) => <EndpointStatus endpoint={endpoint} /> },
          {
            label: "Last hour",
            from: "tablet",
            cell: ({ id }) => <Attempts counts={countsOf(id)} endpoint={id} />,
          },
          {
            label: "Last delivery",
            from: "tablet",
            cell: ({ id }) => <Time at={countsOf(id)?.last_delivery_at} />,
          },
          {
            label: "Events",
            from: "desktop",
            isLong: true,
            cell: ({ events }) => <span title={events.join("\n")}>{events.join(", ")}</span>,
          },
          {
            label: "Secret rotated",
            from: "desktop",
            cell: (endpoint) => (
              <>
                <Time at={endpoint.secret_created} /> {isOldSecret(endpoint) && <span class="tag wait">old</span>}
              </>
            ),
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
  );
}

function Attempts({ counts, endpoint }: { counts: StatisticsEndpoint | undefined; endpoint: string }) {
  if (counts === undefined || counts.attempts === 0) return <None />;
  const rate = `${percent(counts.failed, counts.attempts)} failed`;
  return (
    <span class="attempts">
      <Sparkline counts={counts} />
      {counts.failed === 0 ? (
        <span class="soft">{counted(counts.attempts, "attempt")}</span>
      ) : (
        <Link href={undelivered(endpoint, counts)}>{rate}</Link>
      )}
    </span>
  );
}
