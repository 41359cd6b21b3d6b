import { useEffect, useState } from "preact/hooks";
import { formatTimestamp } from "../../contract/timestamps.ts";
import type { BulkOperation, DeliveryBulkRetry, EventBulkReplay } from "../../contract/schemas/bulk-operation.ts";
import type { Delivery } from "../../contract/schemas/delivery.ts";
import type { Statistics } from "../../contract/schemas/statistics.ts";
import type { WebhookEndpoint } from "../../contract/schemas/webhook-endpoint.ts";
import { asCallError, type CallError, useCall, withQuery } from "../api/call.ts";
import { nameOfEndpoint } from "../api/endpoints.ts";
import { useQuery } from "../api/store.ts";
import { Confirmation } from "../components/action.tsx";
import { isUnreachable } from "../components/outage.tsx";
import { count, counted } from "../format.ts";
import { outcomeInWords } from "../responses.ts";
import { environment } from "../router.tsx";
import { noteStarted } from "./operations.tsx";

/** Selects the events that an endpoint missed since it was disabled. */
export function missedBy({ id, disabled_at: at }: WebhookEndpoint): EventBulkReplay {
  // The filter excludes the second that it names.
  return { endpoint: id, missed: true, ...(at && { created_after: formatTimestamp(Date.parse(at) - 1000) }) };
}

/** Counts the events that each of some disabled endpoints missed, by its ID. */
export function useMissed(endpoints: readonly WebhookEndpoint[] = []) {
  const call = useCall();
  const disabled = endpoints.filter(({ status }) => status === "disabled");
  return useFound(disabled.map(({ id }) => id).join(" "), async () => {
    const count = async (endpoint: WebhookEndpoint) => {
      const body = { ...missedBy(endpoint), dry_run: true };
      return [endpoint.id, (await call<BulkOperation>("POST", "/v1/events/replay", body)).total] as const;
    };
    return new Map(await Promise.all(disabled.map(count)));
  });
}

type Call = ReturnType<typeof useCall>;

function failedOf(endpoint: string): DeliveryBulkRetry {
  return { status: "failed", endpoint };
}

async function enable(call: Call, id: string): Promise<void> {
  await call("PATCH", `/v1/webhook_endpoints/${encodeURIComponent(id)}`, { status: "enabled" });
}

/** Retries deliveries, and shows the outcome. */
export async function retryAll(call: Call, retried: readonly DeliveryBulkRetry[]): Promise<void> {
  const operations = [];
  for (const body of retried) operations.push(await call<BulkOperation>("POST", "/v1/deliveries/retry", body));
  if (operations.length > 0) noteStarted({ environment: environment.value, operations, left: retried });
}

/** Replays the events that an endpoint missed while it was disabled, shows the outcome, and returns how many there are. */
async function replayMissed(call: Call, endpoint: WebhookEndpoint): Promise<number> {
  const operation = await call<BulkOperation>("POST", "/v1/events/replay", missedBy(endpoint));
  if (operation.total > 0) {
    // This browser's time is not exactly that of the platform.
    const from = formatTimestamp(Date.parse(operation.created) - 1000);
    const left = [{ endpoint: endpoint.id, created_after: from }];
    noteStarted({ environment: environment.value, operations: [operation], left });
  }
  return operation.total;
}

/** Enables an endpoint, retries deliveries to it, and replays what it missed. */
export async function enableAndReplay(call: Call, endpoint: WebhookEndpoint, retried: readonly DeliveryBulkRetry[]) {
  await enable(call, endpoint.id);
  await retryAll(call, retried);
  await replayMissed(call, endpoint);
}

/**
 * Asks before an endpoint is enabled and gets the events that it subscribes to and missed while it was disabled: they
 * have no delivery that could be retried.
 */
export function EnableDialog(props: {
  endpoint: WebhookEndpoint;
  /** The ID of a delivery that failed for good, which is then retried. */
  failed?: string;
  /** Of what it missed, only these events are sent unless the user wants all. */
  only?: { events: readonly string[]; about: string } | undefined;
  onChange: () => void;
  onClose: () => void;
}) {
  const call = useCall();
  const { failed, only, onChange, onClose } = props;
  // Once it is enabled, it no longer shows since when it was not.
  const [endpoint] = useState(props.endpoint);
  const { id } = endpoint;
  const ofMissed = useMissed([endpoint]);
  const ofLost = useFound(id, async () => {
    return (await call<BulkOperation>("POST", "/v1/deliveries/retry", { ...failedOf(id), dry_run: true })).total;
  });
  const { data: statistics } = useQuery<Statistics>("/v1/statistics");
  const listeners = statistics?.listeners ?? 0;
  const broken = useQuery<{ data: Delivery[] }>(
    withQuery("/v1/deliveries", { endpoint: id, status: "retrying", limit: 1 }),
  ).data?.data[0];
  const { pending: held = 0, last_success_at: success } =
    statistics?.endpoints.find((one) => one.endpoint === id) ?? {};
  const missed = ofMissed.found?.get(id);
  const { found: lost = 0 } = ofLost;
  const error = ofMissed.error ?? ofLost.error;
  const [isOnly, setOnly] = useState(only !== undefined);
  const replayed = only !== undefined && isOnly ? only.events.length : missed;
  const others = missed === undefined || only === undefined ? 0 : missed - only.events.length;
  const [isRetrying, setRetrying] = useState(only === undefined);
  const again = isRetrying ? lost : 0;
  return (
    <Confirmation
      title={`Enable ${nameOfEndpoint(endpoint)}?`}
      verb={replayed === undefined || replayed === 0 ? "Enable" : `Enable and replay ${count(replayed)}`}
      isReady={(missed !== undefined && ofLost.found !== undefined) || (error !== undefined && error.status !== 0)}
      problem={error}
      isHarmless
      run={async () => {
        await enable(call, id);
        onChange();
        if (again > 0) await retryAll(call, [failedOf(id)]);
        else if (failed !== undefined) await call("POST", `/v1/deliveries/${failed}/retry`);
        const retried = again > 0 ? ` and retrying ${counted(again, "failed delivery", "failed deliveries")}` : "";
        if (only !== undefined && isOnly) {
          await Promise.all(only.events.map((event) => call("POST", `/v1/events/${event}/replay`, { endpoint: id })));
          return `Enabled. Replaying ${counted(only.events.length, "event")} about this ${only.about}${retried}; held deliveries are sent now.`;
        }
        const total = await replayMissed(call, endpoint);
        return `Enabled. Replaying ${counted(total, "missed event")}${retried}; held deliveries are sent now.`;
      }}
      onClose={onClose}
      explanation={
        <>
          <p role="status">
            {replayed === undefined
              ? error === undefined && "Counting the events that it missed…"
              : `It will receive the ${counted(replayed, "event")}${only && isOnly ? ` about this ${only.about}` : ""} that it missed while disabled${held === 0 ? "" : `, and ${counted(held, "held delivery", "held deliveries")}`}.`}
          </p>
          {broken !== undefined && statistics !== undefined && (broken.last_attempt_at ?? "") > (success ?? "") && (
            <p class="notice wait">
              Its last attempt failed: {outcomeInWords(broken.last_status_code, broken.last_error)}. Repair the receiver
              first, or everything that is sent fails again.
            </p>
          )}
          {listeners > 0 && missed !== undefined && missed > 0 && (
            <p>
              {listeners === 1
                ? "The connected listener receives"
                : `The ${count(listeners)} connected listeners receive`}{" "}
              the replayed events too, even those that {listeners === 1 ? "it has" : "they have"} received before.
            </p>
          )}
          {others > 0 && (
            <label class="check">
              <input type="checkbox" checked={!isOnly} onChange={() => setOnly(!isOnly)} />
              <span>Also replay the {counted(others, "other event")} that it missed</span>
            </label>
          )}
          {lost > 0 && (
            <label class="check">
              <input type="checkbox" checked={isRetrying} onChange={() => setRetrying(!isRetrying)} />
              <span>
                Also retry the {lost === 1 ? "delivery" : counted(lost, "delivery", "deliveries")} that failed before
              </span>
            </label>
          )}
          <p class="soft">To start with new events only, choose “Enable without replay” in the menu of the endpoint.</p>
        </>
      }
    />
  );
}

/** How often it is counted while a dialog is open. */
const COUNT_MILLISECONDS = 5000;

/** Reads what a bulk operation would change, again whenever the key differs. */
export function useFound<Found>(key: string, read: () => Promise<Found>) {
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
    // While the platform cannot be reached, the dialog says so.
  }, [key, round, isUnreachable.value]);
  return state.key === key ? state : { found: undefined, error: undefined };
}
