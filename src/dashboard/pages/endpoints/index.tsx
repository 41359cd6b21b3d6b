import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { useState } from "preact/hooks";
import { usePages } from "../../api/use-query.ts";
import { Badge } from "../../components/badge.tsx";
import { CreateButton } from "../../components/create-button.tsx";
import { Page } from "../../components/page.tsx";
import { SecretOnce } from "../../components/secret-once.tsx";
import { Empty } from "../../components/states.tsx";
import { PagedTable } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { go, hrefOf, Link, place } from "../../router.tsx";
import { EndpointDetail } from "./detail.tsx";
import { EndpointForm } from "./endpoint-form.tsx";
import { isOldSecret } from "./secret-age.ts";

export function Endpoints() {
  const { id } = place.value;
  return id === "" ? <EndpointList /> : <EndpointDetail id={id} />;
}

function EndpointList() {
  const pages = usePages<WebhookEndpoint>("/v1/webhook_endpoints", {}, { limit: 100, every: 5000 });
  const [created, setCreated] = useState<WebhookEndpoint>();
  const old = pages.items?.filter(isOldSecret).length ?? 0;
  return (
    <Page
      title="Endpoints"
      subtitle="Where events are sent to, signed."
      actions={
        <CreateButton
          label="Create endpoint"
          dialog={(close) => (
            <EndpointForm
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
          <strong>{old === 1 ? "A signing secret is" : `${old} signing secrets are`} older than 90 days.</strong> Rotate
          secrets quarterly: open the endpoint and choose Rotate secret.
        </p>
      )}
      <PagedTable
        label="Endpoints, newest first"
        pages={pages}
        empty={
          <Empty title="No endpoints yet.">
            <p>Create one, and every event that it subscribes to is sent there.</p>
          </Empty>
        }
        columns={[
          {
            label: "URL",
            cell: ({ id, url }) => (
              <Link class="long" href={hrefOf("endpoints", id)}>
                {url}
              </Link>
            ),
          },
          { label: "Status", cell: ({ status }) => <Badge status={status} /> },
          { label: "Events", from: "tablet", cell: ({ events }) => events.join(", ") },
          {
            label: "Secret from",
            from: "tablet",
            cell: (endpoint) => (
              <>
                <Time at={endpoint.secret_created} /> {isOldSecret(endpoint) && <span class="badge wait">old</span>}
              </>
            ),
          },
        ]}
      />
      {created?.secret !== undefined && (
        <SecretOnce
          title="The endpoint's signing secret"
          secret={created.secret}
          what="the signing secret"
          onClose={() => {
            setCreated(undefined);
            go(hrefOf("endpoints", created.id));
          }}
        >
          <p>Verify every delivery with it; the header is Service-Signature.</p>
        </SecretOnce>
      )}
    </Page>
  );
}
