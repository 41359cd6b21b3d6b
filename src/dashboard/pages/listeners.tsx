import type { ListenerResult, Statistics } from "../../contract/schemas/statistics.ts";
import type { Chain } from "../../explain/chain.ts";
import { openConnections } from "../../explain/listeners.ts";
import { nameOfListener } from "../api/endpoints.ts";
import { Card } from "../components/page.tsx";
import { Table } from "../components/table.tsx";
import { Status, Time } from "../components/values.tsx";
import { counted } from "../format.ts";
import { hrefOf, Link } from "../router.tsx";

/** Says how many listeners are connected, and where they forward. */
export function Listeners({ statistics }: { statistics: Statistics }) {
  const { listeners, failures, failed_listener_deliveries: lost, listener_results: results } = statistics;
  if (listeners === 0) return null;
  const targets = new Set(openConnections({ statistics }).flatMap((one) => one.targets.map(({ url }) => url)));
  const failed = failures.reduce((sum, failure) => sum + (failure.endpoint === null ? failure.count : 0), 0);
  return (
    <p class="soft" role="status">
      <Link href={hrefOf("deliveries", "", { endpoint: "listeners" })}>{counted(listeners, "listener")} connected</Link>
      {targets.size > 0 && `, forwarding to ${[...targets].join(", ")}`}
      {failed > 0 && lost + results.length === 0 && `; ${counted(failed, "attempt")} failed, then all arrived`}
    </p>
  );
}

const STATES: Readonly<Record<ListenerResult["result"], readonly [status: string, text: string]>> = {
  forwarding: ["queued", "Forwarding, no result yet"],
  filtered: ["canceled", "Excluded by its filter"],
  not_forwarded: ["canceled", "Printed, not forwarded"],
  disconnected: ["failed", "Disconnected before it reported a result"],
};

/** The listeners that an event was sent to and that have no delivery of it. */
export function ListenerResults({ chain }: { chain: Chain }) {
  const { listener_results: results = [], listener_connections: connections = [] } = chain.statistics ?? {};
  if (chain.event === undefined || results.length === 0) return null;
  return (
    <Card title="Listeners">
      <Table
        label="Listeners that the event was sent to"
        items={results}
        keyOf={({ listener, result }) => `${listener} ${result}`}
        columns={[
          {
            label: "Listener",
            isLong: true,
            cell: (result) => nameOfListener(result, chain.statistics),
          },
          {
            label: "State",
            isLong: true,
            cell: ({ result, attempts }) => {
              const [status, text] = STATES[result];
              return result === "forwarding" && attempts.length > 0 ? (
                <Status status="retrying" text={`Retrying, ${attempts.length} failed`} />
              ) : (
                <Status status={status} text={text} />
              );
            },
          },
          {
            label: "Disconnected",
            from: "tablet",
            isFor: ({ result }) => result === "disconnected",
            cell: ({ listener }) => (
              <Time at={connections.find((one) => one.listener === listener)?.disconnected_at ?? null} isReal />
            ),
          },
        ]}
      />
    </Card>
  );
}
