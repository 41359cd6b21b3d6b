import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Environment } from "../../contract/environments.ts";
import type { BulkOperation, DeliveryBulkRetry } from "../../contract/schemas/bulk-operation.ts";
import { useCall } from "../api/call.ts";
import { explainAgain } from "../api/explanation.ts";
import { useQuery } from "../api/store.ts";
import { Action } from "../components/action.tsx";
import { count, counted } from "../format.ts";
import { environment, hrefOf, Link } from "../router.tsx";

const RUNNING = "/v1/bulk_operations?limit=10";
const READ_MILLISECONDS = 1000;
/** How often the outcome of a retry is counted while it is shown. */
const OUTCOME_MILLISECONDS = 3000;

/** An operation that was started here, whose outcome is shown until it is closed. */
interface Started {
  environment: Environment;
  operation: BulkOperation;
  /** Counts the deliveries that have still not arrived. */
  left?: DeliveryBulkRetry;
}

const started = signal<readonly Started[]>([]);

/** Shows the outcome of an operation that was started here. */
export function noteStarted(one: Started): void {
  started.value = [...started.value, one];
}

/** Shows the running bulk operations, and those that were started here; of one endpoint, or all. */
export function RunningOperations({ endpoint }: { endpoint?: string }) {
  const { data, reload } = useQuery<{ data: BulkOperation[] }>(RUNNING);
  const here = started.value.filter((one) => one.environment === environment.value);
  const own = new Map(here.map((one) => [one.operation.id, one]));
  const known = new Map((data?.data ?? []).map((operation) => [operation.id, operation]));
  const shown = [
    ...[...known.values()].filter(({ id, status }) => status === "running" && !own.has(id)),
    ...here.map(({ operation }) => known.get(operation.id) ?? operation),
  ].filter(({ filters }) => endpoint === undefined || filters.endpoint === endpoint);
  const isRunning = shown.some(({ status }) => status === "running");
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(reload, READ_MILLISECONDS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return (
    <>
      {shown.map((operation) => (
        <Operation key={operation.id} operation={operation} left={own.get(operation.id)?.left} reload={reload} />
      ))}
    </>
  );
}

function Operation(props: { operation: BulkOperation; left: DeliveryBulkRetry | undefined; reload: () => void }) {
  const call = useCall();
  const { operation, left, reload } = props;
  const { id, type, status, total, done, failed, last_error: reason, filters } = operation;
  const isRunning = status === "running";
  const words = type === "events.replay" ? counted(total, "event") : counted(total, "delivery", "deliveries");
  const verb = type === "events.replay" ? "Replay" : "Retry";
  const of = filters.endpoint == null ? {} : { endpoint: filters.endpoint };
  const ended = status === "canceled" ? "Stopped" : done === 0 && failed > 0 ? "Not sent" : "Sent again";
  return (
    <section class="notice" role="status" aria-label={verb}>
      <p>
        <strong>{isRunning ? `${verb}ing ${words}` : ended}</strong>:{" "}
        {isRunning
          ? `${count(done + failed)} done`
          : status === "canceled"
            ? `${count(done + failed)} of ${count(total)}`
            : words}
        {failed > 0 && done > 0 && <>, of which {count(failed)} could not be retried</>}
        {failed > 0 && !isRunning && reason && <>. {reason}</>}
        {!isRunning && done > 0 && left !== undefined && <Outcome done={done} failed={failed} left={left} />}
      </p>
      {isRunning && <progress value={done + failed} max={Math.max(1, total)} aria-label="Progress of the operation" />}
      <span class="row-actions">
        {isRunning ? (
          <Action
            class="small"
            run={async () => {
              await call("POST", `/v1/bulk_operations/${id}/cancel`);
              reload();
              return "Canceled. Completed retries are not undone.";
            }}
          >
            Stop
          </Action>
        ) : (
          <button
            type="button"
            class="small"
            onClick={() => (started.value = started.value.filter((one) => one.operation.id !== id))}
          >
            Close
          </button>
        )}
        <Link class="button small" href={hrefOf("deliveries", "", of)}>
          Show deliveries
        </Link>
        <Link class="button small" href={hrefOf("why", id ?? "")}>
          Explain
        </Link>
      </span>
    </section>
  );
}

/** How many of the deliveries that were sent again have arrived. Those that could not be are left as well. */
function Outcome({ done, failed, left }: { done: number; failed: number; left: DeliveryBulkRetry }) {
  const call = useCall();
  const [rest, setRest] = useState<number>();
  useEffect(() => {
    let isCurrent = true;
    const read = async () => {
      const counts = await Promise.all(
        (["pending", "failed"] as const).map((status) =>
          call<BulkOperation>("POST", "/v1/deliveries/retry", { ...left, status, dry_run: true }),
        ),
      );
      // The page must not contradict the outcome.
      await explainAgain();
      if (isCurrent) setRest(counts.reduce((sum, one) => sum + one.total, 0));
    };
    const readNow = () => void read().catch(() => {});
    readNow();
    const timer = setInterval(readNow, OUTCOME_MILLISECONDS);
    return () => {
      isCurrent = false;
      clearInterval(timer);
    };
  }, []);
  if (rest === undefined) return null;
  const missing = Math.min(done, Math.max(0, rest - failed));
  const all = failed === 0 ? "All" : "The others";
  return (
    <>. {missing === 0 ? `${all} were delivered` : `${count(done - missing)} delivered, ${count(missing)} not yet`}.</>
  );
}
