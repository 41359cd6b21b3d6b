import { useEffect, useState } from "preact/hooks";
import { LIMITS } from "../../contract/limits.ts";
import type { Delivery } from "../../contract/schemas/delivery.ts";
import type { TestClock } from "../../contract/schemas/sandbox.ts";
import { useCall } from "../api/call.ts";
import { eachPage } from "../api/pages.ts";
import { useQuery } from "../api/store.ts";
import { environmentNow } from "../clock.ts";
import { Confirmation, perform } from "../components/action.tsx";
import { likelyAttempts } from "../components/trail.tsx";
import { count, counted, duration, shortTime } from "../format.ts";

const UNITS = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;
/** Pages of waiting deliveries that are counted. */
const MAX_PAGES = 10;

/** Asks before the clock is advanced, with what will be sent until then: time cannot go back. */
export function AdvanceDialog({ seconds, onClose }: { seconds: number; onClose: () => void }) {
  const call = useCall();
  const clock = useQuery<TestClock>("/v1/test_clock");
  const [target] = useState(() => environmentNow() + seconds * 1000);
  const [due, setDue] = useState<string>();
  useEffect(() => {
    let isCurrent = true;
    const countDue = async () => {
      let [total, attempts] = [0, 0];
      let areAll = false;
      const query = { status: "pending", limit: LIMITS.maxPageSize };
      for await (const page of eachPage<Delivery>(call, "/v1/deliveries", query, MAX_PAGES)) {
        for (const delivery of page.data) {
          if (delivery.next_attempt === null || Date.parse(delivery.next_attempt) > target) continue;
          total += 1;
          attempts += 1 + likelyAttempts(delivery).filter((at) => at <= target).length;
        }
        areAll = page.next_cursor === null;
      }
      if (isCurrent) setDue(wordsOf(total, attempts, areAll));
    };
    countDue().catch(() => isCurrent && setDue("Deliveries that become due are attempted."));
    return () => {
      isCurrent = false;
    };
  }, []);
  const advance = async () => {
    const advanced = call<TestClock>("POST", "/v1/test_clock/advance", { seconds });
    clock.reload();
    await advanced;
    clock.reload();
    return undefined;
  };
  return (
    <Confirmation
      title={`Advance the clock by ${inWords(seconds)}?`}
      verb={`Advance ${inWords(seconds)}`}
      isHarmless
      run={async () => {
        // The bar shows the progress while the platform works: the response arrives at the end.
        void perform(advance);
        return undefined;
      }}
      onClose={onClose}
      explanation={
        <>
          <p>
            The sandbox’s time becomes <strong>{shortTime(environmentNow() + seconds * 1000, 0)}</strong>. It goes back
            only when the sandbox is reset.
          </p>
          <p role="status">{due ?? "Counting the deliveries that come due by then…"}</p>
        </>
      }
    />
  );
}

/** Returns a duration as the buttons name it: `1 day`, `3 hours`. */
function inWords(seconds: number): string {
  const [unit, size] = UNITS.find(([, one]) => seconds % one === 0) ?? [];
  return unit === undefined ? duration(seconds) : counted(seconds / size, unit);
}

function wordsOf(total: number, attempts: number, areAll: boolean): string {
  if (total === 0) return "No delivery comes due by then.";
  const words = `${count(total)}${areAll ? "" : " or more"} ${total === 1 && areAll ? "delivery comes due" : "deliveries come due"}`;
  const most = attempts > total ? `: up to about ${count(attempts)} attempts, if all fail` : "";
  return `${words} by then${areAll ? most : ""}. Each is attempted when it is due; an attempt without a response takes ${LIMITS.deliverySeconds} s of real time.`;
}
