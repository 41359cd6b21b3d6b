import type { StatisticsFailure } from "../../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { StatusCode } from "../../components/badge.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { count } from "../../format.ts";
import { hrefOf, Link } from "../../router.tsx";

/** Failures by receiver and reason; by reason alone where no endpoints are given. */
export function FailureTable(props: {
  failures: readonly StatisticsFailure[];
  endpoints?: readonly WebhookEndpoint[];
}) {
  const receiver: Column<StatisticsFailure> = {
    label: "Receiver",
    cell: ({ endpoint: id }) =>
      id === null ? (
        "A listener"
      ) : (
        <Link class="long" href={hrefOf("endpoints", id)}>
          {props.endpoints?.find((endpoint) => endpoint.id === id)?.url ?? id}
        </Link>
      ),
  };
  return (
    <Table
      label={props.endpoints === undefined ? "Failed attempts by reason" : "Failed attempts by receiver and reason"}
      items={props.failures}
      keyOf={({ endpoint, status_code, error }) => JSON.stringify([endpoint, status_code, error])}
      columns={[
        ...(props.endpoints === undefined ? [] : [receiver]),
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
