import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import type { Environment } from "../../contract/environments.ts";
import type { BulkOperation, DeliveryBulkRetry } from "../../contract/schemas/bulk-operation.ts";
import type { Statistics } from "../../contract/schemas/statistics.ts";
import { useCall } from "../api/call.ts";
import { nameOfEndpoint, useEndpoints } from "../api/endpoints.ts";
import { explainAgain } from "../api/explanation.ts";
import { useQuery } from "../api/store.ts";
import { Action } from "../components/action.tsx";
import { count, counted } from "../format.ts";
import { outcomeInWords } from "../responses.ts";
import { environment, hrefOf, Link } from "../router.tsx";

const RUNNING = "/v1/bulk_operations?limit=50";
const READ_MILLISECONDS = 1000;
/** How often the outcome of a retry is counted while it is shown. */
const OUTCOME_MILLISECONDS = 3000;
/** Attempts that were due have ended by then, unless more are due. */
const ATTEMPTS_MILLISECONDS = 15_000;

/** Operations of one action that were started here, whose outcome is shown until it is closed. */
interface Started {
  environment: Environment;
  operations: readonly BulkOperation[];
  /** Counts the deliveries that have still not arrived. */
  left: readonly DeliveryBulkRetry[];
}

const started = signal<readonly Started[]>([]);

/** Shows the outcome of operations that were started here. */
export function noteStarted(one: Started): void {
  started.value = [...started.value, one];
}

/** Shows the running bulk operations, and those that were started here; of one endpoint, or all. */
export function RunningOperations({ endpoint }: { endpoint?: string }) {
  const { data, reload } = useQuery<{ data: BulkOperation[] }>(RUNNING);
  const here = started.value.filter((one) => one.environment === environment.value);
  const own = new Set(here.flatMap(({ operations }) => operations.map(({ id }) => id)));
  const known = new Map((data?.data ?? []).map((operation) => [operation.id, operation]));
  const current = here.map((one) => ({
    ...one,
    operations: one.operations.map((operation) => known.get(operation.id) ?? operation),
    close: () => (started.value = started.value.filter((other) => other !== one)),
  }));
  const others = [...known.values()]
    .filter(({ id, status }) => status === "running" && !own.has(id))
    .map((operation) => ({ operations: [operation], left: [], close: () => {} }));
  const shown = [...others, ...current].filter(
    ({ operations }) => endpoint === undefined || operations.some(({ filters }) => filters.endpoint === endpoint),
  );
  const isRunning = shown.some(({ operations }) => operations.some(({ status }) => status === "running"));
  useEffect(() => {
    if (!isRunning) return undefined;
    const timer = setInterval(reload, READ_MILLISECONDS);
    return () => clearInterval(timer);
  }, [isRunning]);
  return (
    <>
      {shown.map((one) => (
        <Operations key={one.operations[0]!.id} {...one} reload={reload} />
      ))}
    </>
  );
}

/** What one action retries or replays, together. */
function Operations(props: {
  operations: readonly BulkOperation[];
  left: readonly DeliveryBulkRetry[];
  close: () => void;
  reload: () => void;
}) {
  const call = useCall();
  const { operations, left, close, reload } = props;
  const [{ id, type, filters }] = operations as [BulkOperation];
  const [total, done, failed] = (["total", "done", "failed"] as const).map((name) =>
    operations.reduce((sum, one) => sum + one[name], 0),
  ) as [number, number, number];
  const running = operations.filter(({ status }) => status === "running");
  const isRunning = running.length > 0;
  const isStopped = operations.some(({ status }) => status === "canceled");
  const reason = operations.find((one) => one.last_error !== null)?.last_error;
  const isReplay = type === "events.replay";
  const event = filters.missed ? "missed event" : "event";
  const words = isReplay ? counted(total, event) : counted(total, "delivery", "deliveries");
  const verb = isReplay ? "Replay" : "Retry";
  const isOfOne = operations.every((one) => one.filters.endpoint === filters.endpoint);
  const of = isOfOne && filters.endpoint != null ? { endpoint: filters.endpoint } : {};
  const ended = isStopped ? "Stopped" : done === 0 && failed > 0 ? "Not sent" : isReplay ? "Replayed" : "Sent again";
  return (
    <section class="notice" role="status" aria-label={verb}>
      <p>
        <strong>{isRunning ? `${verb}ing ${words}` : ended}</strong>:{" "}
        {isRunning
          ? `${count(done + failed)} done`
          : isStopped
            ? `${count(done + failed)} of ${count(total)}`
            : failed > 0 && done > 0
              ? `${count(done)} of ${words}`
              : words}
        .
        {!isRunning && done > 0 && left.length > 0 && (
          <Outcome done={done} failed={failed} left={left} since={operations[0]!.created} />
        )}
        {failed > 0 && done > 0 && ` ${counted(failed, "was", "were")} not sent.`}
        {failed > 0 && !isRunning && reason && ` ${reason}`}
      </p>
      {isRunning && <progress value={done + failed} max={Math.max(1, total)} aria-label="Progress of the operation" />}
      <span class="row-actions">
        {isRunning ? (
          <Action
            class="small"
            run={async () => {
              await Promise.all(running.map((one) => call("POST", `/v1/bulk_operations/${one.id}/cancel`)));
              reload();
              return "Canceled. Completed retries are not undone.";
            }}
          >
            Stop
          </Action>
        ) : (
          <button type="button" class="small" onClick={close}>
            Close
          </button>
        )}
        <Link class="button small" href={hrefOf("deliveries", "", of)}>
          Show deliveries
        </Link>
        {operations.length === 1 && (
          <Link class="button small" href={hrefOf("why", id ?? "")}>
            Explain
          </Link>
        )}
      </span>
    </section>
  );
}

/** The last failure of each endpoint, by its ID. */
type Causes = ReadonlyMap<string, string>;

/** How many of the deliveries that were sent again have arrived. Those that could not be are left as well. */
function Outcome(props: { done: number; failed: number; left: readonly DeliveryBulkRetry[]; since: string }) {
  const { done, failed, left, since } = props;
  const call = useCall();
  const { items: endpoints = [] } = useEndpoints();
  const [rest, setRest] = useState<{ total: number; isOver: boolean; isShared: boolean; causes: Causes }>();
  const [begun] = useState(Date.now);
  const { data: statistics, reload } = useQuery<Statistics>("/v1/statistics");
  useEffect(() => {
    const timer = setInterval(reload, OUTCOME_MILLISECONDS);
    return () => clearInterval(timer);
  }, []);
  // It is counted when the figures of the page change, so that these do not contradict it.
  useEffect(() => {
    let isCurrent = true;
    const read = async ({ queue, failures }: Statistics) => {
      const bodies = left.flatMap((one) => (["pending", "failed"] as const).map((status) => ({ ...one, status })));
      const [counts] = await Promise.all([
        Promise.all(
          bodies.map((body) => call<BulkOperation>("POST", "/v1/deliveries/retry", { ...body, dry_run: true })),
        ),
        explainAgain(),
      ]);
      const isOver = queue.oldest_due_seconds === 0 && Date.now() - begun > ATTEMPTS_MILLISECONDS;
      const receivers = new Set(bodies.flatMap(({ endpoint }, index) => (counts[index]!.total > 0 ? [endpoint!] : [])));
      const causes = new Map(
        failures
          .filter(({ endpoint, last_at: at }) => at >= since && receivers.has(endpoint!))
          .toSorted((a, b) => a.last_at.localeCompare(b.last_at))
          .map(({ endpoint, status_code: code, error }) => [endpoint!, outcomeInWords(code, error)]),
      );
      const isShared = causes.size === receivers.size && new Set(causes.values()).size === 1;
      // Those without a failure since then have not responded yet.
      if (causes.size > 0 && !isOver) {
        for (const id of receivers) if (!causes.has(id)) causes.set(id, "in progress");
      }
      if (isCurrent) setRest({ total: counts.reduce((sum, one) => sum + one.total, 0), isOver, isShared, causes });
    };
    if (statistics !== undefined) read(statistics).catch(() => {});
    return () => {
      isCurrent = false;
    };
  }, [statistics]);
  if (rest === undefined) return null;
  const missing = Math.min(done, Math.max(0, rest.total - failed));
  if (missing === 0) return <> {done === 1 ? "It was" : "All were"} delivered.</>;
  const causes = [...rest.causes].map(([id, cause]) => {
    const endpoint = endpoints.find((one) => one.id === id);
    return rest.isShared ? cause : `${endpoint === undefined ? id : nameOfEndpoint(endpoint)}: ${cause}`;
  });
  return (
    <span class={rest.isOver || causes.length > 0 ? "bad-text" : undefined}>
      {` ${count(done - missing)} delivered, ${count(missing)} ${rest.isOver ? "failed again" : "not yet"}`}
      {causes.length > 0 && `: ${[...new Set(causes)].join("; ")}`}.
    </span>
  );
}
