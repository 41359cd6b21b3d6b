import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { BulkOperation, DeliveryBulkRetry, EventBulkReplay } from "../../contract/schemas/bulk-operation.ts";
import type { WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import { asCallError, type CallError, useCall } from "../api/call.ts";
import { nameOfEndpoint } from "../api/endpoints.ts";
import { clockOffset, environmentNow } from "../clock.ts";
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
  ["604800", "In the last 7 days"],
  ["0", "Any time"],
] as const;
const SINCE_FAILING = ["failing", "Since the endpoint began to fail"] as const;
/** How often it is counted while a dialog is open. */
const COUNT_MILLISECONDS = 5000;
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
export function RetryDeliveries({
  class: name,
  label = "Retry deliveries",
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

export function RetryDialog({ endpoint, filters, failingSince, onClose }: RetryProps & { onClose: () => void }) {
  const call = useCall();
  const { value: of } = environment;
  // Kept while the dialog is open: the endpoint may recover meanwhile.
  const [since] = useState(failingSince);
  const isFailing = typeof since === "string";
  const [range, setRange] = useState<string>(isFailing ? SINCE_FAILING[0] : filters === undefined ? "0" : "86400");
  const { status: shown = "", query = "", created_after: after = "", created_before: before = "" } = filters ?? {};
  const statuses = retriedOf(shown);
  const isRangeSet = after !== "" || before !== "";
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
  // Someone may advance the clock while the dialog is open: what is retried is what was counted last.
  const { found, error } = useFound(`${range} ${clockOffset.value}`, async () => {
    if (query !== "") return undefined;
    const bodies = statuses.map(request);
    const operations = await Promise.all(bodies.map((body) => retry({ ...body, dry_run: true })));
    return bodies.map((body, index) => ({ body, total: operations[index]!.total }));
  });
  const total = found?.reduce((sum, one) => sum + one.total, 0);
  return (
    <BulkDialog
      title={`Retry ${shown === "canceled" || shown === "failed" ? `${shown} ` : ""}deliveries${endpoint === undefined ? "" : ` to ${endpoint.name}`}`}
      verb={total === undefined || total === 0 ? "Retry" : `Retry ${count(total)}`}
      isReady={total !== undefined && total > 0}
      error={error}
      run={async () => {
        for (const { body, total: number } of found ?? []) {
          if (number > 0) noteStarted({ environment: of, operation: await retry(body), left: body });
        }
      }}
      onClose={onClose}
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
          : found === undefined || total === undefined
            ? error === undefined && "Counting…"
            : total === 0
              ? `No ${shown === "failed" || shown === "canceled" ? `${shown} ` : ""}deliveries to retry.`
              : `${counted(total, "delivery", "deliveries")} found: ${found.map((one) => `${count(one.total)} ${RETRIED[one.body.status as Retried]}`).join(", ")}. The retries run in the background.`}
      </p>
      {found?.some((one) => one.body.status === "pending" && one.total > 0) === true && (
        <p class="soft">Retrying now uses up one attempt. If it fails, the wait until the next attempt doubles.</p>
      )}
    </BulkDialog>
  );
}

/** Reads what a bulk operation would change, again whenever the key differs. */
function useFound<Found>(key: string, read: () => Promise<Found>) {
  const [round, setRound] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setRound((before) => before + 1), COUNT_MILLISECONDS);
    return () => clearInterval(timer);
  }, []);
  const [state, setState] = useState<{ key: string; found?: Found; error?: CallError }>({ key });
  useEffect(() => {
    let isCurrent = true;
    read().then(
      (found) => isCurrent && setState({ key, found }),
      (problem: unknown) => isCurrent && setState({ key, error: asCallError(problem) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key, round]);
  return state.key === key ? state : { found: undefined, error: undefined };
}

/** Asks before a bulk operation, which it says in its children. */
function BulkDialog(props: {
  title: string;
  verb: string;
  isReady: boolean;
  /** Why it cannot be counted. */
  error: CallError | undefined;
  run: () => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const { title, verb, isReady, run, onClose, children } = props;
  const [error, setError] = useState<CallError>();
  const { isBusy, act } = useOnce(async () => {
    try {
      await run();
      onClose();
    } catch (problem) {
      setError(asCallError(problem));
    }
  });
  const shown = error ?? props.error;
  return (
    <Dialog title={title} onClose={onClose} isForm={false}>
      {children}
      {shown !== undefined && <ErrorBox error={shown} />}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={!isReady} aria-disabled={isBusy} onClick={act}>
          {verb}
        </button>
      </div>
    </Dialog>
  );
}

/** Selects the events that an endpoint missed since it was disabled. */
function missedBy({ id, disabled_at: at }: WebhookEndpoint): EventBulkReplay {
  // The filter excludes the second that it names.
  return { endpoint: id, missed: true, ...(at && { created_after: formatTimestamp(Date.parse(at) - 1000) }) };
}

/** Counts the events that a disabled endpoint missed. */
export function useMissed(endpoint: WebhookEndpoint) {
  const call = useCall();
  return useFound(endpoint.id, async () => {
    const body = { ...missedBy(endpoint), dry_run: true };
    return (await call<BulkOperation>("POST", "/v1/events/replay", body)).total;
  });
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
  const { waiting, onChange, onClose } = props;
  // Once it is enabled, it no longer shows since when it was not.
  const [endpoint] = useState(props.endpoint);
  const { id } = endpoint;
  const { found: missed, error } = useMissed(endpoint);
  return (
    <BulkDialog
      title={`Enable ${nameOfEndpoint(endpoint)}?`}
      verb={missed === undefined || missed === 0 ? "Enable" : `Enable and replay ${count(missed)}`}
      isReady={missed !== undefined || error !== undefined}
      error={error}
      run={async () => {
        await call("PATCH", `/v1/webhook_endpoints/${encodeURIComponent(id)}`, { status: "enabled" });
        onChange();
        const operation = await call<BulkOperation>("POST", "/v1/events/replay", missedBy(endpoint));
        if (operation.total > 0) noteStarted({ environment: of, operation });
        showToast(`Enabled. Replaying ${counted(operation.total, "missed event")}; waiting deliveries are sent now.`);
      }}
      onClose={onClose}
    >
      <p role="status">
        {missed === undefined
          ? "Counting the events that it missed…"
          : `It will receive the ${counted(missed, "event")} that it missed while disabled${waiting === 0 ? "" : `, and ${counted(waiting, "waiting delivery", "waiting deliveries")}`}.`}
      </p>
      <p class="soft">To start with new events only, choose “Enable without replay” in the menu of the endpoint.</p>
    </BulkDialog>
  );
}
