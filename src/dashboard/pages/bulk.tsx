import { useEffect, useState } from "preact/hooks";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { BulkOperation, DeliveryBulkRetry } from "../../contract/schemas/bulk-operation.ts";
import { call, type CallError, asCallError } from "../api/call.ts";
import { useQuery } from "../api/store.ts";
import { environmentNow } from "../clock.ts";
import { Action, useOnce } from "../components/action.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Field } from "../components/form.tsx";
import { ErrorBox } from "../components/page.tsx";
import { showToast } from "../components/toasts.tsx";
import { count, counted } from "../format.ts";

const RUNNING = "/v1/bulk_operations?limit=10";
const READ_MILLISECONDS = 1000;

/** Choices of "Created in the last …", in seconds; 0 is all that can be retried. */
const RANGES = [
  ["3600", "1 hour"],
  ["21600", "6 hours"],
  ["86400", "24 hours"],
  ["259200", "3 days"],
  ["0", "Any time"],
] as const;

/** A button that retries failed deliveries, of one endpoint or all, after showing how many there are. */
export function RetryFailed({ endpoint, class: name }: { endpoint?: string; class?: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class={name} onClick={() => setOpen(true)}>
        Retry failed
      </button>
      {isOpen && <RetryDialog endpoint={endpoint} onClose={() => setOpen(false)} />}
    </>
  );
}

function RetryDialog({ endpoint, onClose }: { endpoint: string | undefined; onClose: () => void }) {
  const [range, setRange] = useState<string>("86400");
  const [found, setFound] = useState<{ range: string; total: number }>();
  const [error, setError] = useState<CallError>();
  const request = (): DeliveryBulkRetry => ({
    status: "failed",
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(range === "0" ? {} : { created_after: formatTimestamp(environmentNow() - Number(range) * 1000) }),
  });
  useEffect(() => {
    let isCurrent = true;
    const countMatches = async () => {
      try {
        const { total } = await call<BulkOperation>("POST", "/v1/deliveries/retry", { ...request(), dry_run: true });
        if (isCurrent) setFound({ range, total });
      } catch (problem) {
        if (isCurrent) setError(asCallError(problem));
      }
    };
    void countMatches();
    return () => {
      isCurrent = false;
    };
  }, [range]);
  const total = found?.range === range ? found.total : undefined;
  const { isBusy, act } = useOnce(async () => {
    try {
      await call<BulkOperation>("POST", "/v1/deliveries/retry", request());
      showToast(`Retrying ${counted(total ?? 0, "delivery", "deliveries")}`);
      onClose();
    } catch (problem) {
      setError(asCallError(problem));
    }
  });
  return (
    <Dialog title="Retry failed deliveries" onClose={onClose} isForm={false}>
      <Field label="Created in the last" name="range" value={range} onInput={setRange} options={RANGES} />
      <p role="status">
        {total === undefined
          ? "Counting…"
          : total === 0
            ? "No failed deliveries match."
            : `${counted(total, "delivery", "deliveries")} found. The retries run in the background.`}
      </p>
      {error !== undefined && <ErrorBox error={error} />}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="primary"
          disabled={total === undefined || total === 0}
          aria-disabled={isBusy}
          onClick={act}
        >
          Retry {total === undefined || total === 0 ? "" : count(total)}
        </button>
      </div>
    </Dialog>
  );
}

const VERBS: Record<BulkOperation["type"], string> = {
  "deliveries.retry": "Retrying failed deliveries",
  "events.replay": "Replaying events",
};

/** Shows the bulk operations that run now, with their progress; those of one endpoint, or all. */
export function RunningOperations({ endpoint }: { endpoint?: string }) {
  const { data, reload } = useQuery<{ data: BulkOperation[] }>(RUNNING);
  const running = (data?.data ?? []).filter(
    ({ status, filters }) => status === "running" && (endpoint === undefined || filters.endpoint === endpoint),
  );
  useEffect(() => {
    if (running.length === 0) return undefined;
    const timer = setInterval(reload, READ_MILLISECONDS);
    return () => clearInterval(timer);
  }, [running.length === 0]);
  return (
    <>
      {running.map((operation) => (
        <section key={operation.id} class="notice" role="status" aria-label={VERBS[operation.type]}>
          <p>
            <strong>{VERBS[operation.type]}</strong>: {count(operation.done + operation.failed)} of{" "}
            {count(operation.total)}
            {operation.failed > 0 && <>, of which {count(operation.failed)} could not be retried</>}
          </p>
          <progress
            value={operation.done + operation.failed}
            max={Math.max(1, operation.total)}
            aria-label="Progress of the operation"
          />
          <Action
            class="small"
            run={async () => {
              await call("POST", `/v1/bulk_operations/${operation.id}/cancel`);
              reload();
              return "Canceled. Completed retries are not undone.";
            }}
          >
            Stop
          </Action>
        </section>
      ))}
    </>
  );
}
