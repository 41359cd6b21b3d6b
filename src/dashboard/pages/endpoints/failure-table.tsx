import type { StatisticsFailure } from "../../../contract/schemas/statistics.ts";
import { Table } from "../../components/table.tsx";
import { RowTime } from "../../components/values.tsx";
import { count } from "../../format.ts";
import { outcomeInWords } from "../../responses.ts";

/** Failed attempts by their outcome. */
export function FailureTable({ failures }: { failures: readonly StatisticsFailure[] }) {
  return (
    <Table
      label="Failed attempts by outcome"
      items={failures}
      keyOf={({ endpoint, status_code, error }) => JSON.stringify([endpoint, status_code, error])}
      columns={[
        {
          label: "Response",
          isLong: true,
          cell: ({ status_code: code, error }) => (
            <span class="bad-text" title={error ?? ""}>
              {outcomeInWords(code, error)}
            </span>
          ),
        },
        { label: "Attempts", isNumber: true, cell: (failure) => count(failure.count) },
        { label: "Last", from: "tablet", cell: ({ last_at: at }) => <RowTime at={at} /> },
      ]}
    />
  );
}
