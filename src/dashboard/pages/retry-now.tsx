import { isSuccess } from "../../contract/is-success.ts";
import type { Delivery } from "../../contract/schemas/delivery.ts";
import type { Event } from "../../contract/schemas/event.ts";
import { useCall, withQuery } from "../api/call.ts";
import { environmentNow } from "../clock.ts";
import { Action } from "../components/action.tsx";
import { showToast } from "../components/toasts.tsx";
import { retryWait } from "../components/values.tsx";
import { dueTime, duration } from "../format.ts";
import { outcomeInWords } from "../responses.ts";

/** How long the outcome of a retry is waited for: most receivers respond within a second. */
const OUTCOME_MILLISECONDS = 3000;
const READ_MILLISECONDS = 250;

/** A button that makes an attempt now, and says how it went. */
export function RetryNow(props: { id: string; class?: string; shortcut?: string; onDone: () => void }) {
  const call = useCall();
  const { id, onDone, ...button } = props;
  const path = `/v1/deliveries/${encodeURIComponent(id)}`;
  const read = () => call<Delivery>("GET", path);
  return (
    <Action
      {...button}
      run={async () => {
        const { status, attempt_count: made } = await read();
        await call("POST", `${path}/retry`);
        onDone();
        const delivery = await attemptAfter(made, read, OUTCOME_MILLISECONDS);
        // The page may have been read before the attempt began or ended.
        onDone();
        if (delivery === undefined) {
          return status === "pending"
            ? `Retrying now. If attempt ${made + 1} fails, the next one is due about ${duration(retryWait(made + 1))} later.`
            : "Retrying now; if it fails, retries continue for 3 days";
        }
        const { attempt_count: attempt, last_status_code: code, last_error: error, next_attempt: next } = delivery;
        const due = next === null ? "" : ` Next attempt ${dueTime(Date.parse(next), environmentNow())}.`;
        showToast(`Attempt ${attempt}: ${outcomeInWords(code, error)}.${due}`, isSuccess(code));
        return undefined;
      }}
    >
      Retry now
    </Action>
  );
}

export const PING = "webhook_endpoint.ping";

/** An attempt ends within 10 s. */
const ANSWER_MILLISECONDS = 15_000;

/** Sends a test event to an endpoint, and returns how it responded. */
export async function testEndpoint(call: ReturnType<typeof useCall>, id: string, type: string = PING) {
  const event = await call<Event>("POST", `/v1/webhook_endpoints/${id}/ping`, type === PING ? undefined : { type });
  const list = withQuery("/v1/deliveries", { event: event.id, endpoint: id });
  const read = async () => (await call<{ data: Delivery[] }>("GET", list)).data[0];
  const delivery = await attemptAfter(0, read, ANSWER_MILLISECONDS);
  const { last_status_code: code = null, last_error: error = null } = delivery ?? {};
  const text = code === null && error === null ? "no response yet" : outcomeInWords(code, error);
  return { text, isGood: isSuccess(code) };
}

/** Returns a delivery once more attempts than these have been made of it; undefined if none is in this time. */
async function attemptAfter(
  made: number,
  read: () => Promise<Delivery | undefined>,
  milliseconds: number,
): Promise<Delivery | undefined> {
  for (const end = Date.now() + milliseconds; Date.now() < end;) {
    const delivery = await read();
    if (delivery !== undefined && delivery.attempt_count > made) return delivery;
    await new Promise((resolve) => {
      setTimeout(resolve, READ_MILLISECONDS);
    });
  }
  return undefined;
}
