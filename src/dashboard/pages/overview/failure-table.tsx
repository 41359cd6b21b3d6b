import type { StatisticsFailure } from "../../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { StatusCode } from "../../components/badge.tsx";
import { Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { count } from "../../format.ts";
import { hrefOf, Link } from "../../router.tsx";

export function FailureTable(props: { failures: readonly StatisticsFailure[]; endpoints: readonly WebhookEndpoint[] }) {
  const nameOf = (id: string | null) => props.endpoints.find((endpoint) => endpoint.id === id)?.url ?? id;
  return (
    <Table
      label="Failed attempts by receiver and reason"
      items={props.failures}
      keyOf={({ endpoint, status_code, error }) => JSON.stringify([endpoint, status_code, error])}
      columns={[
        {
          label: "Receiver",
          cell: ({ endpoint }) =>
            endpoint === null ? (
              "A listener"
            ) : (
              <Link class="long" href={hrefOf("endpoints", endpoint)}>
                {nameOf(endpoint)}
              </Link>
            ),
        },
        {
          label: "Why",
          cell: ({ status_code: code, error }) => (
            <>
              <StatusCode code={code} /> {error !== null && <span class="long">{error}</span>}
            </>
          ),
        },
        { label: "Times", isNumber: true, cell: (failure) => count(failure.count) },
        { label: "Last", from: "tablet", cell: ({ last_at: at }) => <Time at={at} /> },
      ]}
    />
  );
}
