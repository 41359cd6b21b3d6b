import { useEffect, useState } from "preact/hooks";
import { matchesSubscriptions } from "../../contract/event-types.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { BulkOperation, DeliveryBulkRetry } from "../../contract/schemas/bulk-operation.ts";
import type { WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import { asCallError, type CallError, useCall } from "../api/call.ts";
import { nameOfEndpoint } from "../api/endpoints.ts";
import { environmentNow } from "../clock.ts";
import { useOnce } from "../components/action.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Field } from "../components/form.tsx";
import { ErrorBox } from "../components/page.tsx";
import { showToast } from "../components/toasts.tsx";
import { count, counted, dateAndTime } from "../format.ts";
import { environment } from "../router.tsx";
import { noteStarted } from "./operations.tsx";

/** Choices of "Created", in seconds; 0 is all that can be retried. */
const RANGES = [
  ["3600", "In the last hour"],
  ["21600", "In the last 6 hours"],
  ["86400", "In the last 24 hours"],
  ["259200", "In the last 3 days"],
  ["0", "Any time"],
] as const;
const SINCE_FAILING = ["failing", "Since the endpoint began to fail"] as const;
/** The first failed attempt may be of a delivery created before it. */
const BEFORE_FAILING_MILLISECONDS = 60_000;

/** Statuses of deliveries that can be retried, as the dialog counts them. */
const RETRIED = { failed: "failed", pending: "waiting for a retry", canceled: "canceled" } as const;
type Retried = keyof typeof RETRIED;

/** Returns the statuses to retry of a list with a filter: of all, those that have failed or wait for their next attempt. */
function retriedOf(status: string): Retried[] {
  if (status === "") return ["failed", "pending"];
  if (status === "retrying") return ["pending"];
  return status in RETRIED ? [status as Retried] : [];
}

interface RetryProps {
  /** Only deliveries to this endpoint. */
  endpoint?: { id: string; name: string } | undefined;
  /** The filters of the list below the button. */
  filters?: { status: string; query: string; created_after: string; created_before: string } | undefined;
  /** When the endpoint began to fail. */
  failingSince?: string | null | undefined;
}

/** A button that retries failed and waiting deliveries, of one endpoint or all, after showing how many there are. */
export function RetryFailed({
  class: name,
  label = "Retry failed",
  ...of
}: RetryProps & { class?: string; label?: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" class={name} onClick={() => setOpen(true)}>
        {label}
      </button>
      {isOpen && <RetryDialog {...of} onClose={() => setOpen(false)} />}
    </>
  );
}

export function RetryDialog({ endpoint, filters, failingSince: since, onClose }: RetryProps & { onClose: () => void }) {
  const call = useCall();
  const { value: of } = environment;
  const isFailing = typeof since === "string";
  const [range, setRange] = useState<string>(isFailing ? SINCE_FAILING[0] : "86400");
  const { status: shown = "", query = "", created_after: after = "", created_before: before = "" } = filters ?? {};
  const statuses = retriedOf(shown);
  const isRangeSet = after !== "" || before !== "";
  const [found, setFound] = useState<{ range: string; counts: number[] }>();
  const [error, setError] = useState<CallError>();
  const request = (status: Retried): DeliveryBulkRetry => {
    const own = { status, ...(endpoint === undefined ? {} : { endpoint: endpoint.id }) };
    if (isRangeSet) {
      return {
        ...own,
        ...(after === "" ? {} : { created_after: after }),
        ...(before === "" ? {} : { created_before: before }),
      };
    }
    const from =
      range === SINCE_FAILING[0] && isFailing
        ? Date.parse(since) - BEFORE_FAILING_MILLISECONDS
        : environmentNow() - Number(range) * 1000;
    return { ...own, ...(range === "0" ? {} : { created_after: formatTimestamp(from) }) };
  };
  const retry = (body: DeliveryBulkRetry) => call<BulkOperation>("POST", "/v1/deliveries/retry", body);
  useEffect(() => {
    let isCurrent = true;
    setError(undefined);
    const countMatches = async () => {
      try {
        const found = await Promise.all(statuses.map((status) => retry({ ...request(status), dry_run: true })));
        if (isCurrent) setFound({ range, counts: found.map(({ total }) => total) });
      } catch (problem) {
        if (isCurrent) setError(asCallError(problem));
      }
    };
    if (query === "") void countMatches();
    return () => {
      isCurrent = false;
    };
  }, [range]);
  const counts = found?.range === range ? found.counts : undefined;
  const total = counts?.reduce((sum, one) => sum + one, 0);
  const { isBusy, act } = useOnce(async () => {
    try {
      for (const [index, status] of statuses.entries()) {
        if ((counts?.[index] ?? 0) === 0) continue;
        const body = request(status);
        noteStarted({ environment: of, operation: await retry(body), left: body });
      }
      onClose();
    } catch (problem) {
      setError(asCallError(problem));
    }
  });
  return (
    <Dialog
      title={`Retry ${shown === "canceled" ? "canceled" : "failed"} deliveries${endpoint === undefined ? "" : ` to ${endpoint.name}`}`}
      onClose={onClose}
      isForm={false}
    >
      {isRangeSet ? (
        <p>
          Created{after !== "" && <> after {dateAndTime(Date.parse(after))}</>}
          {before !== "" && <> before {dateAndTime(Date.parse(before))}</>}.
        </p>
      ) : (
        <Field
          label="Created"
          name="range"
          value={range}
          onInput={setRange}
          options={isFailing ? [SINCE_FAILING, ...RANGES] : RANGES}
        />
      )}
      <p role="status">
        {query !== ""
          ? "Deliveries that a search finds can only be retried one by one. Clear the search to retry many."
          : counts === undefined || total === undefined
            ? "Counting…"
            : total === 0
              ? "No failed deliveries match."
              : `${counted(total, "delivery", "deliveries")} found: ${statuses.map((status, index) => `${count(counts[index] ?? 0)} ${RETRIED[status]}`).join(", ")}. The retries run in the background.`}
      </p>
      {total !== undefined && (counts?.[statuses.indexOf("pending")] ?? 0) > 0 && (
        <p class="soft">
          A retry counts as an attempt. If it fails, the delivery waits twice as long for the next one as it would have.
        </p>
      )}
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

/**
 * Asks before an endpoint is enabled and gets the events that it subscribes to and missed while it was disabled: they
 * have no delivery that could be retried.
 */
export function EnableDialog(props: {
  endpoint: WebhookEndpoint;
  waiting: number;
  onChange: () => void;
  onClose: () => void;
}) {
  const call = useCall();
  const { value: of } = environment;
  const { endpoint, waiting, onChange, onClose } = props;
  const { id, events, disabled_at: disabledAt } = endpoint;
  const [missed, setMissed] = useState<number>();
  const [error, setError] = useState<CallError>();
  // The second in which it was disabled is included, and all that happens until the replay: an event is sent twice
  // rather than never.
  const since = disabledAt && { endpoint: id, created_after: formatTimestamp(Date.parse(disabledAt) - 1000) };
  const replay = (options: { dry_run?: true }) =>
    Promise.all(
      (since ? withoutCovered(events) : []).map((type) =>
        call<BulkOperation>("POST", "/v1/events/replay", { ...since, type, ...options }),
      ),
    );
  const totalOf = (operations: readonly BulkOperation[]) => operations.reduce((sum, { total }) => sum + total, 0);
  useEffect(() => {
    let isCurrent = true;
    replay({ dry_run: true }).then(
      (operations) => isCurrent && setMissed(totalOf(operations)),
      (problem: unknown) => isCurrent && setError(asCallError(problem)),
    );
    return () => {
      isCurrent = false;
    };
  }, []);
  const { isBusy, act } = useOnce(async () => {
    try {
      await call("PATCH", `/v1/webhook_endpoints/${encodeURIComponent(id)}`, { status: "enabled" });
      onChange();
      const operations = await replay({});
      for (const operation of operations) if (operation.total > 0) noteStarted({ environment: of, operation });
      showToast(`Enabled. Replaying ${counted(totalOf(operations), "missed event")}; waiting deliveries are sent now.`);
      onClose();
    } catch (problem) {
      setError(asCallError(problem));
    }
  });
  return (
    <Dialog title={`Enable ${nameOfEndpoint(endpoint)}?`} onClose={onClose} isForm={false}>
      <p role="status">
        {missed === undefined
          ? "Counting the events that it missed…"
          : `It gets ${counted(missed, "event")} that it missed while it was disabled${waiting === 0 ? "" : `, and ${counted(waiting, "waiting delivery", "waiting deliveries")}`}.`}
      </p>
      <p class="soft">To start with new events only, choose “Enable without replay” in the menu of the endpoint.</p>
      {error !== undefined && <ErrorBox error={error} />}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="primary"
          disabled={missed === undefined && error === undefined}
          aria-disabled={isBusy}
          onClick={act}
        >
          {missed === undefined ? "Enable" : missed === 0 ? "Enable" : `Enable and replay ${count(missed)}`}
        </button>
      </div>
    </Dialog>
  );
}

/** Returns the subscriptions that no other one covers, so that no event is replayed twice. */
function withoutCovered(subscriptions: readonly string[]): readonly string[] {
  return subscriptions.filter(
    (one) => !subscriptions.some((other) => other !== one && matchesSubscriptions([other], one)),
  );
}
